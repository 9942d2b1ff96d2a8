"""Settings: kept whole, checked, and a broken file is told of and never lost."""

import errno
import json
import math
import os
import stat
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields

import pytest

from desktop.cli import main
from desktop.errors import GramError
from desktop.rules.carbon import GRIDS, US_STATES, read_tables
from desktop.settings import KEYS, BuildPreferences, Settings, change_setting, read_settings


@pytest.fixture
def file(tmp_path):
    return tmp_path / "settings.toml"


def test_without_a_file_all_are_defaults_and_none_is_made(file):
    assert read_settings(file) == (Settings(), ())
    assert not file.exists()


def test_what_is_set_is_read_back(file):
    for name, value in (
        ("place", "us-ca"),
        ("rented", "Yes"),
        ("hourly_rate_usd", "0.50"),
        ("tariff_usd_kwh", "0"),
        ("hardware_price_usd", "1600"),
    ):
        change_setting(file, name, value)
    assert read_settings(file).settings == Settings("US-CA", True, 0.5, 0.0, 1600.0)
    assert 'place = "US-CA"' in file.read_text()


def test_unset(file):
    change_setting(file, "place", "NL")
    assert change_setting(file, "place", None).settings == Settings()
    assert change_setting(file, "place", None).settings == Settings()


def test_only_the_owner_can_read_it(file):
    change_setting(file, "place", "NL")
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("place", "Netherlands"),
        ("place", "ZZ"),
        ("place", "EU"),
        ("place", "US-ZZ"),
        ("place", "NL-NH"),
        ("place", "US-"),
        ("place", "-"),
        ("place", "ß"),
        ("place", ""),
        ("rented", "maybe"),
        ("rented", "1"),
        ("hourly_rate_usd", "-5"),
        ("hourly_rate_usd", "0,50"),
        ("hourly_rate_usd", "nan"),
        ("hourly_rate_usd", "inf"),
        ("hourly_rate_usd", "10001"),
        ("tariff_usd_kwh", "30"),
        ("hardware_price_usd", "$1600"),
        ("hardware_price_usd", "1e400"),
        ("tariff_usd_kwh", "1e-320"),
        ("hourly_rate_usd", "0.00009"),
        # figures and signs of other scripts, powers of ten, signs between figures
        ("tariff_usd_kwh", "\N{FULLWIDTH DIGIT ONE}"),
        ("tariff_usd_kwh", "\N{ARABIC-INDIC DIGIT ONE}"),
        ("tariff_usd_kwh", "\N{MINUS SIGN}0"),
        ("hardware_price_usd", "1_600"),
        ("tariff_usd_kwh", "1e-1"),
        ("hourly_rate_usd", "."),
        ("hourly_rate_usd", ""),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_allowed(file, name, value):
    change_setting(file, "place", "NL")
    before = file.read_bytes()
    with pytest.raises(GramError) as caught:
        change_setting(file, name, value)
    assert caught.value.code == "setting_bad"
    assert KEYS[name].allowed in caught.value.reason.advice()
    assert file.read_bytes() == before


def test_an_unknown_setting_is_refused_with_those_there_are(file):
    with pytest.raises(GramError) as caught:
        change_setting(file, "colour", "red")
    assert caught.value.code == "setting_unknown"
    assert "place, rented, hourly_rate_usd" in caught.value.reason.advice()


BROKEN = [
    b"place = NL",
    b"\xff\xfe",
    b"[" * 60_000,
    b"a = 1\na = 2",
    b"tariff_usd_kwh = " + b"9" * 5000,
    b"tariff_usd_kwh = 0x" + b"f" * 4000,
    b"later = 0x" + b"f" * 4000,
    b"later = " + b"[" * 400 + b"]" * 400,
]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_file_is_set_aside_and_told_of(file, broken):
    file.write_bytes(broken)
    loaded = read_settings(file)
    assert loaded.settings == Settings()
    (told,) = loaded.told
    assert told.code == "settings_broken"
    assert "settings.broken-1.toml" in told.text()
    assert not file.exists()
    assert (file.parent / "settings.broken-1.toml").read_bytes() == broken


def test_a_second_broken_file_does_not_replace_the_first(file):
    file.write_text("one")
    read_settings(file)
    file.write_text("two")
    change = change_setting(file, "place", "NL")
    assert change.settings.place == "NL"
    assert change.told[0].code == "settings_broken"
    assert (file.parent / "settings.broken-1.toml").read_text() == "one"
    assert (file.parent / "settings.broken-2.toml").read_text() == "two"


def test_one_wrong_value_in_the_file_costs_only_itself(file):
    file.write_text('place = "Atlantis"\nrented = 1\ntariff_usd_kwh = true\nhourly_rate_usd = 2\n')
    loaded = read_settings(file)
    assert loaded.settings == Settings(hourly_rate_usd=2.0)
    assert [r.params["name"] for r in loaded.told] == ["place", "rented", "tariff_usd_kwh"]
    assert loaded.told[2].text() == (
        "In settings.toml, tariff_usd_kwh cannot be true, so the default is used (not set)."
    )
    assert "cannot be 1, so the default is used (no)" in loaded.told[1].text()
    assert all(KEYS[r.params["name"]].allowed in r.advice() for r in loaded.told)
    assert not [r for r in loaded.told if str(file.parent) in str(r)]
    assert file.exists()


@pytest.mark.parametrize(
    ("written", "near"),
    [
        ("plaec", "place"),
        ("Place", "place"),
        ("tarif", "tariff_usd_kwh"),
        ("tariff", "tariff_usd_kwh"),
        ("price", "hardware_price_usd"),
        ("hourly-rate-usd", "hourly_rate_usd"),
        ("rentd", "rented"),
    ],
)
def test_a_misspelt_name_in_the_file_is_told_with_the_nearest_right_one(file, written, near):
    file.write_text(f"{written} = 1\n")
    (told,) = read_settings(file).told
    assert told.code == "setting_near_in_file"
    assert told.text() == f"In settings.toml, {written} is no setting, so it is not used."
    assert f"Did you mean {near}?" in told.advice()
    assert file.read_text() == f"{written} = 1\n"
    with pytest.raises(GramError) as caught:
        change_setting(file, written, "1")
    assert caught.value.code == "setting_near"
    assert f"Did you mean {near}?" in caught.value.reason.advice()


def test_a_setting_below_a_section_is_told_with_its_place(file):
    file.write_text('[costs]\ntariff_usd_kwh = 0.3\nplce = "NL"\n[window]\nwidth = 9\n')
    loaded = read_settings(file)
    assert loaded.settings == Settings()
    first, second, rest = loaded.told
    assert first.text().startswith("In settings.toml, tariff_usd_kwh stands below [costs], where")
    assert (second.params["name"], second.params["near"]) == ("plce", "place")
    assert "above the first line in square brackets" in first.advice()
    assert rest.text().endswith("so they are not used: [window].")


def test_a_misspelt_section_is_told(file):
    file.write_text("[tariff_usd]\nx = 1\n")
    (told,) = read_settings(file).told
    assert (told.code, told.params["near"]) == ("setting_near_in_file", "tariff_usd_kwh")


def test_names_like_none_are_told_in_one_sentence_however_many_they_are(file):
    file.write_text("".join(f"x{n} = 1\n" for n in range(3000)) + "colour = 2\n")
    (told,) = read_settings(file).told
    assert told.code == "settings_not_read"
    assert told.text().endswith("so they are not used: x0, x1, x2, x3, x4, ….")
    assert "There are: place, rented," in told.advice()
    file.write_text("".join(f"place{n} = 1\n" for n in range(3000)))
    assert len(read_settings(file).told) == 1


def test_a_change_tells_of_what_stays_unread(file):
    file.write_text('plaec = "NL"\n')
    change = change_setting(file, "tariff_usd_kwh", "0.3")
    assert [r.code for r in change.told] == ["setting_near_in_file"]
    assert 'plaec = "NL"' in file.read_text()


def test_the_door_tells_of_a_misspelt_name_once_and_on_stderr(home, capsys):
    home.settings.write_text("tarif_usd_kwh = 0.3\n")
    assert main(["settings", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["tariff_usd_kwh"] is None
    assert told.err.count("tarif_usd_kwh is no setting") == 1
    assert "Did you mean tariff_usd_kwh?" in told.err


def test_keys_of_a_newer_gram_survive(file):
    file.write_text('language = "nl"\n[window]\nwidth = 900\n')
    change_setting(file, "place", "NL")
    change_setting(file, "place", None)
    assert 'language = "nl"' in file.read_text()
    assert "width = 900" in file.read_text()


WRITTEN = """\
# Anna's machine
language = "nl"   # a newer Gram's

tariff_usd_kwh = 0.3  # bill of March

nothing = nan

[window]
width = 900 # px
[[shown]]
name = 'prompt'
"""


def test_comments_order_and_unknown_keys_survive_to_the_byte(file):
    file.write_bytes(WRITTEN.encode())
    change_setting(file, "tariff_usd_kwh", "0.25")
    assert file.read_bytes() == WRITTEN.replace("0.3 ", "0.25 ").encode()
    change_setting(file, "place", "NL")
    change_setting(file, "place", None)
    assert file.read_bytes() == WRITTEN.replace("0.3 ", "0.25 ").encode()
    change_setting(file, "tariff_usd_kwh", None)
    left = [line for line in WRITTEN.splitlines() if "tariff" not in line]
    assert [line for line in file.read_text().splitlines() if line] == list(filter(None, left))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing but words",
        "a = 1\r\nb = 2\r\n",
        "a = 1",
        "place.x = 1\nb = 2\n",
        "[place]\nx = 1\n[b]\n[place.y]\nz = 1\n",
        "[b]\n",
    ],
)
def test_whatever_the_file_looks_like_one_key_changes(file, text):
    file.write_bytes(text.encode())
    others = {k: v for k, v in tomllib.loads(text).items() if k != "place"}
    assert change_setting(file, "place", "NL").settings.place == "NL"
    assert tomllib.loads(file.read_text()) == others | {"place": "NL"}
    loaded = read_settings(file)
    assert loaded.settings == Settings(place="NL")
    assert {r.code for r in loaded.told} <= {"settings_not_read"}
    assert all(words in file.read_text() for words in text.splitlines() if words.startswith("#"))


def test_a_file_that_cannot_be_read_is_told_of_and_never_overwritten(file):
    file.mkdir()
    (told,) = read_settings(file).told
    assert told.code == "settings_unreadable"
    with pytest.raises(GramError) as caught:
        change_setting(file, "place", "NL")
    assert caught.value.code == "settings_write"
    assert file.is_dir()


def test_a_full_disk_leaves_the_old_file_and_nothing_beside_it(file, monkeypatch):
    change_setting(file, "place", "NL")

    def full(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(GramError, match="No space left"):
        change_setting(file, "place", "DE")
    assert {f.name for f in file.parent.iterdir()} - {"settings.lock"} == {"settings.toml"}
    assert read_settings(file).settings.place == "NL"


@pytest.mark.parametrize("error", [ValueError("x"), RecursionError("x"), TypeError("x")])
def test_what_cannot_be_written_is_an_error_and_leaves_nothing_beside(file, monkeypatch, error):
    change_setting(file, "place", "NL")

    def fail(_descriptor):
        raise error

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(GramError) as caught:
        change_setting(file, "place", "DE")
    assert caught.value.code == "settings_write"
    assert {f.name for f in file.parent.iterdir()} - {"settings.lock"} == {"settings.toml"}


def test_only_a_regular_file_of_64_kib_is_read(file):
    file.write_bytes(b'place = "NL"\n#' + b"x" * (64 * 1024))
    (told,) = read_settings(file).told
    assert told.code == "settings_unreadable"
    assert "64 KiB" in told.text()
    with pytest.raises(GramError):
        change_setting(file, "place", "DE")
    assert file.stat().st_size > 64 * 1024


@pytest.mark.skipif(os.name != "posix", reason="named pipes and devices of POSIX")
def test_a_pipe_and_a_device_without_end_are_not_read(file):
    os.mkfifo(file)
    assert read_settings(file).told[0].code == "settings_unreadable"
    file.unlink()
    file.symlink_to("/dev/zero")
    assert read_settings(file).told[0].code == "settings_unreadable"
    with pytest.raises(GramError):
        change_setting(file, "place", "NL")


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_a_link_stays_one_and_its_target_is_written(file, tmp_path):
    target = tmp_path / "dotfiles" / "gram.toml"
    target.parent.mkdir()
    file.symlink_to(target)
    for place in ("NL", "DE"):
        assert change_setting(file, "place", place).settings.place == place
    assert file.is_symlink()
    assert target.read_text() == 'place = "DE"\n'


def test_two_who_change_settings_at_once_lose_nothing(file):
    names = ("hourly_rate_usd", "tariff_usd_kwh", "hardware_price_usd")

    def change(name):
        for i in range(20):
            change_setting(file, name, str(i % 5 + 1))
            assert getattr(read_settings(file).settings, name) == i % 5 + 1

    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(change, names))
    assert read_settings(file).settings == Settings(None, False, 5.0, 5.0, 5.0)


def test_a_lock_that_cannot_be_made_is_an_error(file):
    (file.parent / "settings.lock").mkdir()
    with pytest.raises(GramError) as caught:
        change_setting(file, "place", "NL")
    assert caught.value.code == "settings_write"


def test_when_no_name_is_free_the_broken_file_stays_and_nothing_is_overwritten(file):
    for n in range(1, 1000):
        (file.parent / f"settings.broken-{n}.toml").touch()
    file.write_text("place = NL")
    assert read_settings(file).told[0].code == "settings_unreadable"
    with pytest.raises(GramError) as caught:
        change_setting(file, "place", "NL")
    assert caught.value.code == "settings_write"
    assert file.read_text() == "place = NL"


def test_minus_zero_is_zero(file):
    found = change_setting(file, "tariff_usd_kwh", "-0.0").settings.tariff_usd_kwh
    assert math.copysign(1, found) == 1


@pytest.mark.parametrize(
    ("value", "number"), [("0.50", 0.5), (" 1600 ", 1600.0), (".5", 0.5), ("5.", 5.0), ("+2", 2.0)]
)
def test_a_number_is_figures_with_a_point(file, value, number):
    assert change_setting(file, "hourly_rate_usd", value).settings.hourly_rate_usd == number


def test_a_number_in_the_file_may_be_written_as_toml_allows(file):
    file.write_text("hardware_price_usd = 1_600\nhourly_rate_usd = 5e-1\n")
    assert read_settings(file).settings == Settings(hardware_price_usd=1600.0, hourly_rate_usd=0.5)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("9999999", "9999999"),
        ("9999999.5", "9999999.5"),
        ("1234567.89", "1234567.89"),
        ("0.0001", "0.0001"),
        ("0", "0"),
        ("1600.0", "1600"),
    ],
)
def test_the_door_shows_a_number_as_it_would_be_typed(home, capsys, value, shown):
    assert main(["settings", "hardware_price_usd", value]) == 0
    assert capsys.readouterr().out.split()[1] == shown
    change_setting(home.settings, "hardware_price_usd", shown)


def test_a_long_wrong_value_is_told_in_short(file):
    file.write_text(f'place = "{"x" * 5000}"')
    (told,) = read_settings(file).told
    assert len(told.params["found"]) < 100


def test_every_field_has_a_key():
    builds = [f"builds.{f.name}" for f in fields(BuildPreferences)]
    assert {f.name for f in fields(Settings)} - {"builds"} | set(builds) == set(KEYS)


def test_every_place_of_the_carbon_tables_can_be_set():
    from desktop import resources

    tables = read_tables(resources.text(GRIDS), resources.text(US_STATES))
    for code in tables.grids.keys() - {"WORLD", "EU"}:
        assert KEYS["place"].checked(code.lower()) == code
    for code in tables.us_states:
        assert KEYS["place"].checked(f"US-{code}") == f"US-{code}"


def test_the_door_lists_sets_shows_and_unsets(home, capsys):
    assert main(["settings"]) == 0
    assert "place               —           where the machine stands" in capsys.readouterr().out
    assert main(["settings", "place", "nl"]) == 0
    assert main(["settings", "tariff_usd_kwh", "0.3"]) == 0
    capsys.readouterr()
    assert main(["settings", "place"]) == 0
    assert capsys.readouterr().out.split()[:2] == ["place", "NL"]
    assert main(["settings", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "place": "NL",
        "rented": False,
        "hourly_rate_usd": None,
        "tariff_usd_kwh": 0.3,
        "hardware_price_usd": None,
        "builds.budget_gb": None,
        "builds.limit_mb_s": None,
        "builds.metered": "ask",
        "builds.folders": [],
    }
    assert main(["settings", "place", "--unset", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"place": None}


def test_the_door_says_what_is_allowed(home, capsys):
    assert main(["settings", "hourly_rate_usd", "-5"]) == 1
    said = capsys.readouterr().err
    assert "hourly_rate_usd cannot be -5." in said
    assert "from 0 to 10000" in said
    assert main(["settings", "colour"]) == 1
    assert "The settings are: place," in capsys.readouterr().err
    assert main(["settings", "--unset"]) == 2
    assert main(["settings", "place", "NL", "--unset"]) == 2


def test_the_door_tells_of_a_broken_file_and_goes_on(home, capsys):
    home.settings.write_text("place = NL")
    assert main(["settings", "place", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out) == {"place": None}
    assert "set aside as settings.broken-1.toml" in told.err


def test_a_good_file_that_another_gram_wrote_meanwhile_is_not_set_aside(file, monkeypatch):
    file.write_text("place = NL")
    parse, others = tomllib.loads, iter(["0.30"])

    def slow(text):
        try:
            return parse(text)
        finally:
            # once, between the look at the broken file and what follows from it
            for tariff in others:
                change_setting(file, "tariff_usd_kwh", tariff)

    monkeypatch.setattr(tomllib, "loads", slow)
    assert read_settings(file) == (Settings(tariff_usd_kwh=0.3), ())
    assert [f.read_text() for f in file.parent.glob("settings.broken*")] == ["place = NL"]
    assert read_settings(file).settings == Settings(tariff_usd_kwh=0.3)


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_profiles_that_link_to_one_file_lose_nothing(tmp_path):
    shared = tmp_path / "shared.toml"

    def change(name):
        link = tmp_path / name / "settings.toml"
        link.parent.mkdir()
        link.symlink_to(shared)
        for i in range(20):
            change_setting(link, name, str(i % 5 + 1))
            assert getattr(read_settings(link).settings, name) == i % 5 + 1

    names = ("hourly_rate_usd", "tariff_usd_kwh", "hardware_price_usd")
    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(change, names))
    assert read_settings(shared).settings == Settings(None, False, 5.0, 5.0, 5.0)


def names_beside(file):
    return {f.name for f in file.parent.iterdir()} - {"settings.lock"}


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_broken_file_stays_where_it_is_when_nothing_can_be_written(file, monkeypatch, call):
    file.write_text("place = NL")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        with pytest.raises(GramError, match="No space left"):
            change_setting(file, "place", "DE")
    assert names_beside(file) == {"settings.toml"}
    assert file.read_text() == "place = NL"
    assert read_settings(file).told[0].code == "settings_broken"


def test_who_waits_too_long_for_another_gram_is_told_so(file, monkeypatch):
    from filelock import FileLock

    from desktop import toml_file

    monkeypatch.setattr(toml_file, "_LOCK_S", 0.01)
    with FileLock(file.with_suffix(".lock")), pytest.raises(GramError) as caught:
        change_setting(file, "place", "NL")
    assert caught.value.code == "settings_busy"
    assert caught.value.reason.advice() == "Try again."


@pytest.mark.skipif(os.name != "posix", reason="Windows has lists of access instead")
def test_a_change_keeps_the_files_mode(file):
    change_setting(file, "place", "NL")
    file.chmod(0o640)
    change_setting(file, "place", "DE")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)
def test_a_change_by_root_leaves_all_to_the_owner(file):
    change_setting(file, "place", "NL")
    os.chown(file, 1234, 4321)
    change_setting(file, "place", "DE")
    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 4321)
    # and what root makes in the folder of another is that one's
    home = file.parent / "home"
    home.mkdir()
    os.chown(home, 1234, 4321)
    change_setting(home / "settings.toml", "place", "NL")
    made = sorted(home.iterdir())
    assert [f.name for f in made] == ["settings.lock", "settings.toml"]
    assert {(f.stat().st_uid, f.stat().st_gid) for f in made} == {(1234, 4321)}
    assert stat.S_IMODE(made[1].stat().st_mode) == 0o600


KILLED = """
import os, signal, sys
from pathlib import Path
from desktop.settings import change_setting
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
change_setting(Path(sys.argv[1]), "place", "DE")
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_what_a_killed_change_left_is_cleaned_by_the_next(file):
    change_setting(file, "place", "NL")
    for _ in range(2):
        subprocess.run([sys.executable, "-c", KILLED, str(file)], check=False)
    assert len(names_beside(file)) == 2  # the second has cleaned after the first
    assert read_settings(file).settings.place == "NL"
    change_setting(file, "place", "SE")
    assert names_beside(file) == {"settings.toml"}


def test_a_byte_order_mark_is_no_fault_and_stays(file):
    file.write_bytes(b"\xef\xbb\xbf# Anna's\nplace = 'NL'\n")
    assert read_settings(file) == (Settings(place="NL"), ())
    change_setting(file, "tariff_usd_kwh", "0.3")
    assert file.read_bytes() == b"\xef\xbb\xbf# Anna's\nplace = 'NL'\ntariff_usd_kwh = 0.3\n"


def test_a_change_that_could_not_be_read_again_is_refused(file):
    text = b"#" + b"x" * (64 * 1024 - 12) + b"\n"
    file.write_bytes(text)
    with pytest.raises(GramError, match="would be larger than 64 KiB"):
        change_setting(file, "place", "NL")
    assert file.read_bytes() == text
    assert read_settings(file) == (Settings(), ())
