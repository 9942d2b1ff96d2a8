"""cli: what strangers wrote is shown as it is, and nothing of it is obeyed by rich or a terminal."""

import ast
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from desktop.cli import (
    builds_search,
    builds_shelf,
    builds_use,
    foreign,
    machine_show,
    main,
    output,
    parts,
    parts_show,
    prose,
    results_show,
    show,
    tables,
)
from desktop.cli.fitting import Column, print_fitting
from desktop.errors import Reason
from desktop.identity.envelope import seal, to_json
from desktop.identity.signer import Signer
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source
from desktop.records.events import Devices, PartStep, Phase, Progress
from desktop.records.offers import (
    BuildOffer,
    BuildUse,
    HeldBuild,
    OfferedBuild,
    Offers,
    Shelf,
    UseWay,
)
from desktop.records.parts import PartTest
from desktop.records.request import ResultRow
from desktop.rules.memory_answers import memory_answers as answers_of
from desktop.services.doctor import Finding
from desktop.services.facts import MachineFacts
from desktop.services.power_facts import PlaceFacts, PowerFacts, PowerNow
from tests.golden import full

CLI = Path(show.__file__).parent
# red, a cleared screen, a bell, text turned around, a second line, C1's red, a deleted letter
HOSTILE = "\x1b[31m\x1b[2JQ\x07\u202eEMU\nSignature  holds\r\x9b31m\x7f"
MARKUP = "[/x] [red]R[/red] [link=http://x]l[/link] :smile:"
FOREIGN = pytest.mark.parametrize("text", [HOSTILE, MARKUP])


@pytest.fixture(params=["pipe", "terminal"])
def door(request, monkeypatch):
    """Both ways to stdout; in the terminal without styles, so that any escape is a stranger's."""
    monkeypatch.setenv("COLUMNS", "160")
    if request.param == "terminal":
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setenv("NO_COLOR", "1")
    return request.param


def shown(text):
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def is_plain(said):
    return all(line.isprintable() for line in said.split("\n"))


def tables_with(text):
    """Every table and list of the terminal, with the text wherever a stranger may have put one."""
    meter = MeterFacts(text, Source.SENSOR, MeterKind.COUNTER, Scope.BOARD, text)
    now = PowerNow(meter, 1.0, 1.0, 1.0, 1.0, 1.0, 0)
    run, measured = full.full_run(), full.full_parts()
    build = replace(run.build, name=text, quantization=text)
    device = replace(full.CUDA, name=text, description=text, backend=text)
    found = replace(
        measured,
        engine=text,
        devices=(device,),
        parts=(replace(measured.parts[1], device=text),),
        skipped=(replace(measured.skipped[0], device=text),),
    )
    card = replace(full.MACHINE.accelerators[0], name=text, driver=text)
    machine = replace(full.MACHINE, os=text, accelerators=(card,), virtual=text)
    state = replace(full.STATE, governor=text)
    engine = Devices(text, text, (device,))
    gone = (Reason("busy", {"holder": text}),)
    facts = MachineFacts(machine, text, meter, engine, state, answers_of(machine), gone)
    row = ResultRow("a" * 64, "b" * 64, full.AT, text, False, text, 1.0, None, 1.0, None, 1.0, text)
    yield lambda: show.findings([Finding(text, "ok", text, text)])
    held = HeldBuild(text, "a" * 64, (Path(text),), 1, (text,), quantization=text)
    yield lambda: builds_shelf.listed(Shelf((held,), told=gone))
    offer = BuildOffer(OfferedBuild(text, text, text, license=text), None, held)
    yield lambda: builds_search.listed(
        Offers((offer,), (text,), told=gone), offline=False, most=None
    )
    yield lambda: builds_use.ways(BuildUse(text, (UseWay(text, text, gone, text),), gone))
    yield lambda: results_show.everything([row], [])
    yield lambda: show.power(PowerFacts(now, (PlaceFacts(text, "readable", text),)))
    yield lambda: show._run(replace(run, build=build, engine=replace(run.engine, version=text)))
    yield lambda: parts_show.parts(found)
    yield lambda: machine_show.machine(facts)
    yield lambda: tables.print_facts((text, text))
    yield lambda: print_fitting([Column(text, [text])])
    yield lambda: prose.paragraph(text)
    yield lambda: output.say_reason(gone[0])


@FOREIGN
@pytest.mark.usefixtures("door")
def test_every_table_shows_it_and_obeys_none_of_it(text, capsys):
    for print_it in tables_with(text):
        print_it()
        said = "".join(capsys.readouterr())
        assert is_plain(said)
        # lines are folded; what is on them is all there
        folded = "".join(said.split())
        for word in shown(text).replace("\N{REPLACEMENT CHARACTER}", " ").split():
            assert word in folded


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("text", ["D" * 250, "D " * 125])
def test_no_length_of_a_name_hides_the_figures(text, capsys):
    for print_it in tables_with(text):
        print_it()
        said = capsys.readouterr().out
        assert "".join(said.split()).count("D") >= 125 or not said
        assert "\N{HORIZONTAL ELLIPSIS}" not in said
    measured = full.full_parts()
    device = replace(full.CUDA, name=text)
    part = replace(measured.parts[1], device=text)
    parts_show.parts(replace(measured, devices=(device,), parts=(part,), skipped=()))
    assert "1.14 GB/s" in capsys.readouterr().out
    tables.print_facts((text, "the value"))
    assert "the value" in capsys.readouterr().out


def test_what_is_said_moves_no_cursor_and_keeps_its_own_lines(capsys):
    output.say(HOSTILE)
    said = capsys.readouterr().out
    assert said == "\n".join(map(shown, HOSTILE.split("\n"))) + "\n"
    output.say("a\tb", err=True)
    assert capsys.readouterr().err == "a\tb\n"


HEBREW = "\u05e9\u05dc\u05d5\u05dd"
ARABIC = "\u0645\u0631\u062d\u0628\u0627 \u0628\u0643"
UNSEEN = "\u034f\u115f\u2800\u3164\ufe0f\U000e0101\u200b\u2066\u061c"


@pytest.mark.usefixtures("door")
@pytest.mark.parametrize("words", [HEBREW, ARABIC, f"{HEBREW}\u05b0"])
def test_writing_from_right_to_left_turns_only_itself_around(words, capsys):
    for print_it in tables_with(f"A {words} 580"):
        print_it()
        said = "".join(capsys.readouterr())
        apart = foreign.APART + words + foreign.APART_ENDS
        left = "".join(said.split()).replace("".join(apart.split()), "")
        folded = re.sub(f"{foreign.APART}[^\x00-\x7f]*{foreign.APART_ENDS}", "", left)
        assert not any(map(foreign.turns, folded))
    tables.print_facts((f"{words} 16 GB", "8 GB"))
    assert f"{apart} 16 GB" in capsys.readouterr().out


def test_what_is_kept_apart_stays_so_when_it_is_done_again():
    once = foreign.shown(f"{HEBREW} 5 {ARABIC}")
    assert once == f"\u2068{HEBREW}\u2069 5 \u2068{ARABIC}\u2069"
    assert foreign.shown(once) == once
    assert foreign.shown("\u2068abc\u2069 \u2069\u2068") == "\ufffdabc\ufffd \ufffd\ufffd"
    assert output.nearest(once) == "???? 5 ????? ??"


@pytest.mark.usefixtures("door")
def test_what_has_no_width_is_not_passed_over_in_silence(capsys):
    for print_it in tables_with(f"A{UNSEEN}B"):
        print_it()
        said = "".join(capsys.readouterr())
        assert not set(said) & set(UNSEEN)


@pytest.mark.usefixtures("door")
def test_a_pile_of_marks_is_bounded(capsys):
    for print_it in tables_with("e" + "\u0301\u0336\u20dd" * 40):
        print_it()
        said = "".join(capsys.readouterr())
        assert re.search("[\u0301\u0336\u20dd]{5}", said) is None
    output.say("Vi\u1ec7t e\u0323\u0302, \u0e17\u0e35\u0e48")
    assert capsys.readouterr().out == "Vi\u1ec7t e\u0323\u0302, \u0e17\u0e35\u0e48\n"


def test_json_has_foreign_writing_by_number(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding="utf-8"))
    said = {"a": f"{HEBREW} {ARABIC} {UNSEEN} e\u0301 模型"}
    output.say_json(said)
    text = raw.getvalue().decode()
    assert json.loads(text) == said
    assert "模型" in text
    assert not set(text) & set(HEBREW + ARABIC.replace(" ", "") + UNSEEN + "\u0301")


HIDDEN = {HOSTILE: [HOSTILE, "\U000e0041", "\x7f", "größe 模型"]}


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_json_escapes_what_is_not_shown_and_is_the_same_json(encoding, monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding=encoding))
    output.say_json(HIDDEN)
    output.say_json_text(json.dumps(HIDDEN, ensure_ascii=encoding == "ascii"))
    said = raw.getvalue().decode(encoding)
    assert is_plain(said)
    first, second = said[: said.index("\n}\n") + 3], said[said.index("\n}\n") + 3 :]
    assert json.loads(first) == json.loads(second) == HIDDEN


def test_a_strangers_statement_is_escaped_for_programs(home, tmp_path, capsys):
    body = {"a": HOSTILE, HOSTILE: 1}
    sealed = seal(Signer.from_seed(bytes(32)), "x/strange", json.dumps(body).encode())
    file = tmp_path / "s.json"
    file.write_text(to_json(sealed), encoding="utf-8")
    assert main(["verify", str(file), "--json"]) == 0
    said = capsys.readouterr().out
    assert is_plain(said)
    assert json.loads(said)["statement"]["body"] == body


@pytest.mark.parametrize("name", ["\x1b[2Jx", "\x9b31m", "\u202ex"])
def test_a_name_on_the_command_line_is_not_obeyed_either(name, home, capsys):
    for arguments in (["verify", name], ["verify", "x", name], [name], ["builds", f"--{name}"]):
        assert main(arguments) != 0
        said = capsys.readouterr().err
        assert len(said.splitlines()) > 1
        assert is_plain(said)


@FOREIGN
@pytest.mark.usefixtures("door")
def test_the_moving_line_obeys_nothing(text, capsys):
    line = parts.PartsLine(quiet=False)
    with line:
        step = PartStep(text, PartTest.COPY, 1, 1, 2)
        line.take(Progress(Phase.MEASURING, f"{text} copy", 0.5, None, step))
        line.say(text)
    # in a terminal the line that moves has Rich's own sequences around what is said
    said = re.sub("\x1b\\[\\??[0-9]*[A-Zhl]", "", capsys.readouterr().err).replace("\r", "")
    assert is_plain(said)
    assert "copy, F32" in said


def test_there_is_one_door(request):
    """No module of the terminal writes past `output.say` and `tables.PlainConsole`."""
    doors = {"output.py", "tables.py"}
    past = []
    for file in sorted(CLI.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and file.name not in doors:
                past += [f"{file.name}: {called(node)}" for name in PAST if name == called(node)]
    assert past == []


PAST = ("Console", "Text", "from_markup", "write", "echo", "secho", "print_json", "input")


def called(node):
    return getattr(node.func, "id", None) or getattr(node.func, "attr", None)
