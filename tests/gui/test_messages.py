"""Every code has words, and all words of the window can be translated."""

import ast
from pathlib import Path

import pytest
from PySide6.QtCore import QTranslator

from desktop.errors import CATALOGUE, Reason
from desktop.records.energy import MeterFacts, MeterKind, Scope, Source
from desktop.records.events import Phase
from desktop.records.run import Note
from desktop.ui import messages

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


class German(QTranslator):
    def translate(self, context, text, disambiguation=None, n=-1):
        return "Der Schlüsselbund ist gesperrt." if text == "The keychain is locked." else ""

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


def test_reasons_are_translated(qapp):
    translator = German()
    qapp.installTranslator(translator)
    try:
        assert messages.sentence(Reason("keychain_locked")) == "Der Schlüsselbund ist gesperrt."
    finally:
        qapp.removeTranslator(translator)


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
