"""Settings of builds: the table `[builds]`, by the same door and with the same care."""

import json
import threading
import tomllib
from pathlib import Path

import pytest

from desktop.builds.preferences import add_folder, read_preferences, remove_folder
from desktop.cli import main
from desktop.errors import GramError
from desktop.settings import KEYS, BuildPreferences, Settings, change_setting, read_settings


@pytest.fixture
def file(tmp_path):
    return tmp_path / "settings.toml"


@pytest.fixture
def folders(tmp_path):
    """Two folders and a GGUF file that are there."""
    made = [tmp_path / "a", tmp_path / "b b"]
    for folder in made:
        folder.mkdir()
    build = tmp_path / "c.GGUF"
    build.write_bytes(b"GGUF")
    return [str(path) for path in (*made, build)]


def test_what_is_set_is_read_back_and_stands_below_its_table(file, folders):
    change_setting(file, "place", "NL")
    for name, value in (
        ("builds.budget_gb", "200"),
        ("builds.limit_mb_s", "2.5"),
        ("builds.metered", "Allow"),
        ("builds.folders", folders),
        ("rented", "yes"),
    ):
        change_setting(file, name, value)
    builds = BuildPreferences(tuple(folders), 200.0, 2.5, "allow")
    assert read_settings(file) == (Settings("NL", True, builds=builds), ())
    assert read_preferences(file) == (builds, ())
    assert tomllib.loads(file.read_text())["builds"]["budget_gb"] == 200
    for name in [name for name in KEYS if name.startswith("builds.")]:
        change_setting(file, name, None)
    assert read_settings(file) == (Settings("NL", True), ())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("builds.budget_gb", "-1"),
        ("builds.budget_gb", "0"),
        ("builds.budget_gb", "1000001"),
        ("builds.budget_gb", "200 GB"),
        ("builds.budget_gb", "nan"),
        ("builds.limit_mb_s", "0"),
        ("builds.limit_mb_s", "0.009"),
        ("builds.limit_mb_s", "2,5"),
        ("builds.metered", "yes"),
        ("builds.metered", ""),
        ("builds.folders", ""),
        ("builds.folders", " "),
        ("builds.folders", "a\0b"),
        ("builds.folders", "\udcff"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_allowed(file, name, value):
    file.write_text("[builds]\nbudget_gb = 5 # mine\n")
    with pytest.raises(GramError) as caught:
        change_setting(file, name, value)
    assert caught.value.code == "setting_bad"
    assert KEYS[name].allowed in caught.value.reason.advice()
    assert file.read_text() == "[builds]\nbudget_gb = 5 # mine\n"


@pytest.mark.parametrize(
    ("written", "near"),
    [
        ("builds.budget", "builds.budget_gb"),
        ("builds.budgt_gb", "builds.budget_gb"),
        ("budget_gb", "builds.budget_gb"),
        ("Builds.Folder", "builds.folders"),
        ("folder", "builds.folders"),
        ("builds.limit-mb-s", "builds.limit_mb_s"),
        ("limit", "builds.limit_mb_s"),
        ("metred", "builds.metered"),
    ],
)
def test_a_misspelt_name_is_told_with_the_nearest_right_one(file, written, near):
    with pytest.raises(GramError) as caught:
        change_setting(file, written, "1")
    assert caught.value.code == "setting_near"
    assert f"Did you mean {near}?" in caught.value.reason.advice()


def test_slips_in_the_file_are_told_with_their_table(file):
    file.write_text(
        "budget_gb = 5\n[builds]\nfolder = ['/a']\nplace = 'NL'\ncolour = 2\n"
        "[bulids]\nlimit_mb_s = 2\n"
    )
    told = {reason.code: reason for reason in read_settings(file).told}
    assert read_settings(file).settings == Settings()
    slips = [r for r in read_settings(file).told if r.code == "setting_near_in_file"]
    assert [(r.params["name"], r.params["near"]) for r in slips] == [
        ("budget_gb", "builds.budget_gb"),
        ("builds.folder", "builds.folders"),
    ]
    assert "limit_mb_s stands below [bulids]" in told["setting_in_other_section"].text()
    assert "Write it as limit_mb_s below [builds]" in told["setting_in_other_section"].advice()
    assert "place stands below [builds]" in told["setting_in_section"].text()
    assert told["settings_not_read"].params["names"] == "builds.colour"
    assert "builds.budget_gb, builds.limit_mb_s" in told["settings_not_read"].advice()


def test_a_dot_within_quotes_is_another_name(file):
    file.write_text('"builds.budget_gb" = 5\n')
    loaded = read_settings(file)
    assert loaded.settings == Settings()
    assert '"builds.budget_gb" is no setting' in loaded.told[0].text()


def test_many_unknown_names_are_one_sentence(file):
    file.write_text("[builds]\n" + "".join(f"x{n} = 1\n" for n in range(3000)))
    (told,) = read_settings(file).told
    assert told.text().endswith(
        "not used: builds.x0, builds.x1, builds.x2, builds.x3, builds.x4, …."
    )


def test_wrong_values_in_the_file_cost_only_themselves(file):
    file.write_text(
        "[builds]\nbudget_gb = -1\nmetered = true\nlimit_mb_s = 2\nfolders = [5, '/a']\n"
    )
    loaded = read_settings(file)
    assert loaded.settings.builds == BuildPreferences(("/a",), limit_mb_s=2.0)
    texts = [r.text() for r in loaded.told]
    assert "builds.budget_gb cannot be -1, so the default is used (not set)" in texts[0]
    assert "builds.metered cannot be true, so the default is used (ask)" in texts[1]
    assert "builds.folders cannot hold 5, so that is left out" in texts[2]
    assert "`gram settings builds.metered VALUE`" in loaded.told[1].advice()


def test_settings_of_other_things_are_not_told_with_builds(file):
    file.write_text("plaec = 'NL'\n[builds]\nbudget = 5\n")
    assert [r.params["near"] for r in read_preferences(file)[1]] == ["builds.budget_gb"]
    assert [r.params["near"] for r in read_settings(file).told] == ["place", "builds.budget_gb"]


WRITTEN = """\
# Anna's machine
tariff_usd_kwh = 0.3

[builds]
# the large drive
budget_gb = 5  # mine
folders = [
    "/one",  # the first
    # not this: "/other"
    "/two",
]

# about the window
[window]
width = 900
"""


def test_comments_and_order_survive_to_the_byte(file):
    file.write_bytes(WRITTEN.encode())
    change_setting(file, "builds.budget_gb", "6")
    assert file.read_text() == WRITTEN.replace("budget_gb = 5", "budget_gb = 6.0")
    file.write_bytes(WRITTEN.encode())
    change_setting(file, "builds.metered", "allow")
    assert file.read_text() == WRITTEN.replace("]\n\n# about", ']\nmetered = "allow"\n\n# about')
    change_setting(file, "builds.metered", None)
    assert file.read_text() == WRITTEN


@pytest.mark.parametrize(
    "above", ["", "list = [\n  [1],\n[2],\n]\n", 'text = """\n[no table]\n"""\n']
)
def test_a_new_key_above_the_tables_stands_before_what_is_said_of_them(file, above):
    file.write_text(above + WRITTEN)
    change_setting(file, "place", "NL")
    assert file.read_text() == above + WRITTEN.replace("0.3\n", '0.3\nplace = "NL"\n')
    change_setting(file, "place", None)
    assert file.read_text() == above + WRITTEN


def test_a_folder_comes_and_goes_and_the_comments_beside_it_stay(home, folders):
    home.settings.write_bytes(WRITTEN.encode())
    assert add_folder(home, folders[0]) == folders[0]
    text = home.settings.read_text()
    assert text == WRITTEN.replace('"/two",\n', f'"/two",\n    "{folders[0]}",\n')
    assert add_folder(home, folders[0]) == folders[0]
    assert home.settings.read_text() == text
    assert remove_folder(home, folders[0]) is True
    assert home.settings.read_text() == WRITTEN
    assert remove_folder(home, folders[0]) is False
    # what is not there any more can go as well
    assert remove_folder(home, "/one") is True
    assert read_preferences(home.settings)[0].folders == ("/two",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a = 1",
        "builds.budget_gb = 5\nb = 2\n[w]\nx = 1\n",
        "builds = {budget_gb = 5} # c\n",
        "[w]\nx = 1\n[builds]\n",
        "[builds.later]\nx = 1\n",
        "[builds]\n# nothing yet\n",
        "[w]\nx = 1\r\n",
        "[builds]\r\nbudget_gb = 5\r\n\r\n[w]\r\nx = 1\r\n",
    ],
)
def test_whatever_the_file_looks_like_one_key_changes(file, text):
    file.write_bytes(text.encode())
    before = tomllib.loads(text)
    change_setting(file, "builds.limit_mb_s", "3")
    wanted = before | {"builds": before.get("builds", {}) | {"limit_mb_s": 3.0}}
    assert tomllib.loads(file.read_text()) == wanted
    change_setting(file, "builds.limit_mb_s", None)
    assert tomllib.loads(file.read_text()) in ({"builds": {}} | before, before)


def test_unsetting_what_is_not_set_makes_no_table(file):
    change_setting(file, "builds.budget_gb", None)
    assert file.read_text() == ""


def test_what_is_no_table_is_not_overwritten(file):
    file.write_text("builds = 5\n")
    assert read_settings(file).told[0].code == "setting_no_table"
    with pytest.raises(GramError) as caught:
        change_setting(file, "builds.budget_gb", "5")
    assert caught.value.code == "settings_write"
    assert file.read_text() == "builds = 5\n"


# folders


def test_what_is_not_there_is_an_error(home, folders, tmp_path):
    for text in ("/no/such/place", "gone.gguf", "~nobody-of-this-name/x", "x" * 5000):
        with pytest.raises(GramError) as caught:
            add_folder(home, text)
        assert caught.value.code == "folder_missing"
        with pytest.raises(GramError) as caught:
            change_setting(home.settings, "builds.folders", [folders[0], text])
        assert caught.value.code == "folder_missing"
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(GramError) as caught:
        add_folder(home, str(tmp_path / "notes.txt"))
    assert caught.value.code == "setting_bad"
    assert not home.settings.exists()


def test_a_relative_path_is_made_absolute(home, folders, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path / "a")
    assert add_folder(home, ".") == folders[0]
    assert add_folder(home, str(Path("..", "b b"))) == folders[1]
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert add_folder(home, "~/c.GGUF") == folders[2]
    assert read_preferences(home.settings)[0].folders == tuple(folders)
    assert remove_folder(home, ".") is True
    assert read_preferences(home.settings)[0].folders == tuple(folders[1:])


def test_a_folder_that_stands_there_otherwise_written_is_the_same(home, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "models").mkdir()
    home.settings.write_text('[builds]\nfolders = ["~/models", 5]\n')
    add_folder(home, str(tmp_path / "models"))
    assert home.settings.read_text() == '[builds]\nfolders = ["~/models", 5]\n'
    assert remove_folder(home, str(tmp_path / "models")) is True
    # what is not allowed is the person's, and stays
    assert home.settings.read_text() == "[builds]\nfolders = [5]\n"


def test_no_more_folders_than_are_read(home, folders):
    many = [f"/{n}" for n in range(100)]
    home.settings.write_text(f"[builds]\nfolders = {json.dumps(many)}\n")
    with pytest.raises(GramError) as caught:
        add_folder(home, folders[0])
    assert caught.value.code == "setting_bad"
    assert len(read_preferences(home.settings)[0].folders) == 100


def test_two_who_add_at_once_lose_nothing(home, tmp_path):
    made = [tmp_path / f"folder{n}" for n in range(6)]
    for folder in made:
        folder.mkdir()
    threads = [threading.Thread(target=add_folder, args=(home, str(f))) for f in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(read_preferences(home.settings)[0].folders) == set(map(str, made))


# the terminal


def test_the_door_sets_a_list_and_shows_it(home, folders, capsys):
    assert main(["settings", "builds.folders", *folders]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.split()[:2] == ["builds.folders", "3"]
    assert "".join(line.strip() for line in rest) == "".join(folders)
    assert main(["settings", "builds.folders", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"builds.folders": folders}
    assert main(["settings", "builds.folders", folders[1]]) == 0
    capsys.readouterr()
    assert main(["settings", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["builds.folders"] == [folders[1]]
    assert main(["settings", "builds.folders", "--unset"]) == 0
    assert read_preferences(home.settings)[0] == BuildPreferences()


def test_the_door_takes_one_value_for_what_is_no_list(home, capsys):
    assert main(["settings", "builds.budget_gb", "5", "6"]) == 2
    assert "takes one value" in capsys.readouterr().err
    assert main(["settings", "builds.budget_gb", "5", "--unset"]) == 2
    assert main(["settings", "builds.budget_gb", "5"]) == 0
    assert capsys.readouterr().out.split()[:2] == ["builds.budget_gb", "5"]


def test_the_door_tells_of_a_slip(home, capsys):
    assert main(["settings", "builds.budget", "5"]) == 1
    assert "Did you mean builds.budget_gb?" in capsys.readouterr().err
