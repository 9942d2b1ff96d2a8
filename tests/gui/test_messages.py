"""Every code has words, and all words of the window can be translated."""

import ast
from pathlib import Path

import pytest
from PySide6.QtCore import QTranslator

from desktop.errors import CATALOGUE, Reason
from desktop.machine import nvidia_list
from desktop.machine.conditions import Readers, survey_conditions
from desktop.machine.detect import Probes, survey
from desktop.machine.state import StateSource
from desktop.power import power_model
from desktop.power.power_model import CardModel
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source
from desktop.records.events import Phase
from desktop.records.offers import FetchState
from desktop.records.run import Note
from desktop.ui import fetch_strip, messages, power_words

UI = Path(messages.__file__).parent
SHOWING = {
    "setText",
    "setToolTip",
    "setWindowTitle",
    "setAccessibleName",
    "setAccessibleDescription",
    "setPlaceholderText",
    "setStatusTip",
    "addAction",
    "show_text",
    "say",
    "Action",
    "Heading",
    "Subheading",
    "Body",
    "Muted",
    "Badge",
    "Card",
    "Column",
    "Facts",
    "PrimaryButton",
    "QuietButton",
    "Progress",
    "QPushButton",
    "QLabel",
    "QAction",
    "scrolled",
}


GERMAN = {
    "The keychain is locked.": "Der Schlüsselbund ist gesperrt.",
    "{name} did not answer in time and was given up on.": "{name} gab keine Antwort.",
    "The list of memory modules": "Die Liste der Speicherriegel",
    "{name}: {idle_w} W + its load × ({limit_w} W - {idle_w} W), the limit by the "  # noqa: RUF001
    "catalogue, idle {idle_share} of it. Row '{row}': {source}.": "Zeile „{row}“: {source}.",
    "card": "Karte",
    "Cloud Carbon Footprint, methodology, appendix III: T4, 8 W idle, 71 W at full load": "Anhang",
}


class German(QTranslator):
    def translate(self, context, text, disambiguation=None, n=-1):
        return GERMAN.get(text, "")

    def isEmpty(self):  # noqa: N802 - Qt's name
        return False


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_reason_has_words_even_without_its_parameters(qapp, code):
    assert messages.sentence(Reason(code, {}))
    assert "{" not in messages.advice(Reason(code, {}))


def test_parameters_are_filled(qapp):
    reason = Reason("worker_hung", {"seconds": 30})
    assert "for 30 s" in messages.sentence(reason)


def test_braces_in_a_parameter_are_harmless(qapp):
    reason = Reason("load_failed", {"name": "{0}.gguf", "detail": "{x}"})
    assert messages.sentence(reason) == "The engine refused {0}.gguf: {x}."


def test_the_windows_advice_names_no_terminal_option(qapp):
    for code in messages.KEY_CODES:
        assert "--" not in messages.advice(Reason(code, {"detail": "x"}))


@pytest.mark.parametrize("code", ["build_damaged", "build_unfinished", "build_no_name"])
def test_the_windows_advice_about_builds_here_names_no_command(qapp, code):
    reason = Reason(code, {"name": "x", "words": "x", "command": "gram builds get x"})
    assert "`gram builds" in reason.advice()
    assert "`" not in messages.advice(reason)


@pytest.mark.parametrize("code", ["download_gated", "hub_token", "hub_unknown"])
def test_the_windows_advice_about_tokens_names_no_command(qapp, code):
    reason = Reason(code, {"page": "https://huggingface.co/o/r"})
    assert "gram builds token" in reason.advice()
    assert "`" not in messages.advice(reason)


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("download_metered", "--metered"),
        ("download_not_run", "--anyway"),
        ("library_needs_room", "--make-room"),
        ("library_short", "gram settings builds.budget_gb"),
    ],
)
def test_what_a_download_asks_is_answered_by_options_there_and_buttons_here(qapp, code, named):
    assert named in Reason(code, {}).advice()
    assert "`" not in messages.advice(Reason(code, {}))
    assert named not in messages.advice(Reason(code, {}))


def test_every_state_of_a_download_has_words(qapp):
    assert set(fetch_strip._STATES) == set(FetchState)


def test_sizes_have_a_unit_that_suits_them(qapp):
    params = {"name": "x", "need_bytes": 98_400_000, "short_bytes": 64_000}
    said = messages.sentence(Reason("library_short", params)).replace("\N{NO-BREAK SPACE}", " ")
    assert said == "x needs 98.4 MB: 64.0 kB more than can be freed."


@pytest.fixture
def german(qapp):
    translator = German()
    qapp.installTranslator(translator)
    yield
    qapp.removeTranslator(translator)


def test_reasons_are_translated(german):
    assert messages.sentence(Reason("keychain_locked")) == "Der Schlüsselbund ist gesperrt."


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("The list of memory modules", "Die Liste der Speicherriegel gab keine Antwort."),
        ("PowerShell", "PowerShell gab keine Antwort."),
    ],
)
def test_what_was_given_up_on_is_translated_and_programs_keep_their_names(german, name, said):
    assert messages.given_up(Reason("source_stuck", {"name": name})) == said


def test_all_that_detection_reads_can_be_named_in_every_language(qapp):
    def broken(*_):
        raise OSError

    probes = Probes("Linux", *[broken] * 5, (), broken, broken, broken)
    readers = Readers(StateSource(broken), broken, broken)
    failures = survey(30, probes).failures + survey_conditions(limit_s=30, readers=readers).failures
    names = {str(reason.params["name"]) for reason in failures}
    assert names == messages._READ | {nvidia_list.NAME}


def test_every_note_phase_and_meter_has_words(qapp):
    assert all(messages.note(note) for note in Note)
    assert all(messages.phase(phase, None) for phase in Phase)
    assert messages.phase(Phase.MEASURING, "pp512") != messages.phase(Phase.MEASURING, "tg128")
    for source in Source:
        for scope in Scope:
            words = messages.meter(MeterFacts("m", source, MeterKind.COUNTER, scope))
            assert words.startswith(f"{source} (m)")


def _is_words(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and any(c.isalpha() for c in node.value)
    if isinstance(node, ast.JoinedStr):
        return any(_is_words(part) for part in node.values)
    return False


def _called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


@pytest.mark.parametrize("path", sorted(UI.rglob("*.py")), ids=lambda p: p.name)
def test_no_words_without_translation(path):
    found = [
        f"{path.name}:{call.lineno}"
        for call in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(call, ast.Call) and _called(call) in SHOWING
        for argument in call.args
        if _is_words(argument)
    ]
    assert not found


# the window names builds by a click, never by a word: `rehearsal_name` cannot come up
OF_ESTIMATES = [c for c in CATALOGUE if c.startswith(("estimate_", "rehearsal_"))]
OF_ESTIMATES.remove("rehearsal_name")


@pytest.mark.parametrize("code", [*OF_ESTIMATES, "model_unknown", "device_unknown"])
def test_what_is_said_of_estimates_names_no_command_of_the_terminal(qapp, code):
    reason = Reason(code)
    assert "`" not in messages.sentence(reason)
    assert "`" not in messages.advice(reason)
    assert "--" not in messages.advice(reason)


def test_the_row_and_the_source_of_modelled_watts_are_translated(german):
    model = CardModel("A card", 8.0, 71.0, power_model._table()["card"]["source"])
    facts = MeterFacts(
        "CPU load", Source.MODELLED, MeterKind.COUNTER, Scope.BOARD, "", (model.formula(),)
    )
    assert power_words.formulas(facts) == ("Zeile „Karte“: Anhang.",)


def test_every_row_and_source_of_the_table_can_be_translated():
    table = power_model._table()
    assert {*table, *(str(row["source"]) for row in table.values())} == power_words.WORDS
