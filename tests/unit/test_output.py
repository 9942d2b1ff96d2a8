"""What the terminal writes where letters, styles or room are missing."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from desktop.cli import main, output, show, tables
from desktop.cli.tables import print_facts
from desktop.services.doctor import Finding

ROOT = Path(__file__).parents[2]
FULL = Path("/dev/full")
ASCII = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture
def gram(home):
    """Run `gram ARGS` with its streams as Python opens them; returns bytes."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}

    def run(*arguments, env=None, **options):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        return subprocess.run(
            [sys.executable, "-m", "desktop", *arguments],
            env=kept | {"PYTHONPATH": str(ROOT)} | (env or {}),
            cwd=home.data, timeout=60, check=False, **streams,
        )  # fmt: skip

    return run


@pytest.mark.parametrize(
    ("text", "ascii_text"),
    [
        ("4096 × 512", "4096 x 512"),  # noqa: RUF001 - the sign that is meant
        ("— – −", "- - -"),  # noqa: RUF001
        ("Linux, CPU only · 4 CPUs", "Linux, CPU only . 4 CPUs"),
        ("± 2 %", "+- 2 %"),
        ("4.2 µs at 54 °C", "4.2 us at 54 C"),
        ("Preparing …", "Preparing ..."),
        ("≤ 3 → ≥ 2 ≈ 2½", "<= 3 -> >= 2 ~ 21/2"),
        ("Türkiye, Łódź, Ørsted, Straße", "Turkiye, Lodz, Orsted, Strasse"),
        ("a\N{COMBINING ACUTE ACCENT}", "a"),
        ("AMD Radeon™ (R)", "AMD RadeonTM (R)"),
        ("“q” ‘q’ 1\N{NARROW NO-BREAK SPACE}%", "\"q\" 'q' 1 %"),  # noqa: RUF001
        ("⠋ ━━╸ │ ┌ █", "* --- | + #"),
        ("模型 \ud800 \N{REPLACEMENT CHARACTER}", "?? ? ?"),
    ],
)
def test_each_letter_has_a_nearest_one(text, ascii_text):
    assert output.nearest(text) == ascii_text


def test_every_character_has_an_answer_of_ascii():
    everything = map(chr, range(sys.maxunicode + 1))
    assert all(output.nearest(letter).isascii() for letter in everything)


def test_only_what_a_stream_lacks_is_replaced(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="cp1252"))
    output.tolerate_poor_output()
    output.say("3 × ± — μ → 模")  # noqa: RUF001
    assert written.getvalue().decode("cp1252") == "3 × ± — u -> ?\n"  # noqa: RUF001


def test_without_any_stream_nothing_fails(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    output.tolerate_poor_output()
    output.say("x")
    output.say("x", err=True)
    sys.stdout.close()
    sys.stderr.close()


@pytest.mark.parametrize("arguments", [("settings",), ("machine",), ("--help",), ("benhc",)])
def test_a_terminal_of_ascii_gets_ascii_and_no_question_marks(gram, arguments):
    done = gram(*arguments, env=ASCII)
    assert done.returncode in {0, 2}
    assert done.stdout.isascii()
    assert done.stderr.isascii()
    # the only one is that of click's own sentence
    assert b"?" not in (done.stdout + done.stderr).replace(b"Did you mean 'bench'?", b"")


def test_programs_get_every_letter_whatever_the_stream_has(gram):
    done = gram("machine", "--json", env=ASCII)
    assert done.stdout.isascii()
    assert "·" in json.loads(done.stdout)["kind"]
    assert "·".encode() in gram("machine", "--json", env={"PYTHONIOENCODING": "utf-8"}).stdout


class TestNoColor:
    @pytest.fixture(autouse=True)
    def terminal(self, monkeypatch):
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.delenv("NO_COLOR", raising=False)

    @staticmethod
    def shown(capsys):
        show.findings([Finding("Log", "missing", "none", "make one")])
        print_facts(("Label", "value"))
        return capsys.readouterr().out

    def test_styles_are_there_without_it(self, capsys):
        assert "\x1b[1m" in self.shown(capsys)

    def test_with_it_no_escape_sequence_is_left(self, capsys, monkeypatch):
        monkeypatch.setenv("NO_COLOR", "1")
        said = self.shown(capsys)
        assert "\x1b" not in said
        assert "make one" in said

    def test_empty_it_asks_for_nothing(self, capsys, monkeypatch):
        monkeypatch.setenv("NO_COLOR", "")
        assert "\x1b[1m" in self.shown(capsys)


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
@pytest.mark.parametrize(
    "arguments",
    [
        ("machine",),
        ("doctor",),
        ("settings",),
        ("results", "--json"),
        ("power", "--seconds", "0.2"),
        ("power", "--watch", "--json", "--seconds", "0.2"),
        ("--help",),
        ("--version",),
    ],
)
def test_on_a_full_disk_every_command_says_so_and_nothing_else(gram, arguments):
    # Python tells of streams that cannot be emptied at its end in this mode
    strict = {"PYTHONDEVMODE": "1"}
    with FULL.open("wb") as full:
        done = gram(*arguments, env=strict, stdout=full)
    said = done.stderr.decode().splitlines()
    assert done.returncode == 1
    assert said[0] == "gram: The output could not be written: its disk is full."
    assert len(said) == 2


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
def test_where_nothing_can_be_said_the_status_says_it(gram):
    with FULL.open("wb") as full:
        assert gram("settings", stdout=full, stderr=full).returncode == 1


@pytest.mark.skipif(os.name == "nt", reason="pipes as on POSIX")
def test_a_reader_that_has_enough_is_no_error(gram):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = gram("settings", stdout=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_folder_is_no_statement(home, capsys):
    assert main(["verify", str(home.data)]) == 1
    said = capsys.readouterr().err
    assert f"{home.data.name} is a folder, not a signed statement." in said
    assert "`gram results`" in said


def test_the_windows_help_is_the_terminals_and_loads_no_qt():
    code = (
        "import sys; from desktop.__main__ import main; sys.argv = ['gram', 'window', '--help']; "
        "status = main(); print(status, 'PySide6' in sys.modules)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    ).stdout
    assert told.startswith("Usage: gram window [OPTIONS]\n")
    assert "--allow-key-file" in told
    assert told.splitlines()[-1] == "0 False"


@pytest.mark.parametrize(
    ("told", "width"),
    [
        ("60", 60),
        ("20", 20),
        ("", 140),
        ("19", 140),
        ("0", 140),
        ("-5", 140),
        ("wide", 140),
        ("٦٠", 140),
    ],
)
def test_columns_set_the_width_of_a_pipe_where_they_are_a_sensible_number(
    told, width, monkeypatch, capsys
):
    monkeypatch.setenv("COLUMNS", told)
    assert tables.room() == width
    print_facts(("Label", "word " * 60))
    assert max(map(len, capsys.readouterr().out.splitlines())) <= width
