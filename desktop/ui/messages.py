"""Turns codes (reasons, notes, phases) into the window's words, in the window's language."""

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QCoreApplication

from desktop.errors import CATALOGUE, Param, Reason, in_sentence, is_size
from desktop.records.energy import MeterFacts, Scope, Source
from desktop.records.events import Phase, Progress
from desktop.records.run import Note, Run
from desktop.rules.notes import RUN_WORDS, WORDS, other_percent
from desktop.ui import format as fmt


def QT_TRANSLATE_NOOP(context: str, text: str) -> str:  # noqa: ARG001, N802 - lupdate looks for it
    """Mark `text` for translation where it is only stored; Qt's own is not typed as text."""
    return text


REASONS: Final = "Reasons"
"""The translation context of the catalogue's sentences."""
NOTES: Final = "Notes"
"""The translation context of what runs say of themselves."""
_WORDS: Final = "Words"

KEY_CODES: Final = frozenset({"no_keychain", "keychain_locked", "keychain_refused"})
"""Errors after which the person may measure without the keychain."""

_MEASURE_AGAIN: Final = QT_TRANSLATE_NOOP(
    "Reasons", "Measure them again on the page Machine, while the machine is quiet."
)
_MEASURE_THERE: Final = QT_TRANSLATE_NOOP(
    "Reasons", "On such a machine, measure its parts on the page Machine."
)
# the catalogue's advice names terminal options; the window has buttons for the same
_ADVICE: Final[Mapping[str, str]] = {
    "no_keychain": QT_TRANSLATE_NOOP(
        "Reasons",
        "Install and unlock a keychain (GNOME Keyring, KWallet), keep the key in a file that only "
        "you can read, or measure without signing.",
    ),
    "keychain_locked": QT_TRANSLATE_NOOP(
        "Reasons", "Unlock it and measure again, or go on in one of these ways."
    ),
    "keychain_refused": QT_TRANSLATE_NOOP(
        "Reasons", "Allow Gram to use it and measure again, or go on in one of these ways."
    ),
    "build_not_found": QT_TRANSLATE_NOOP(
        "Reasons", "Choose the file again: it may have been moved, or its drive disconnected."
    ),
    "build_damaged": QT_TRANSLATE_NOOP("Reasons", "Download it again."),
    "build_unfinished": QT_TRANSLATE_NOOP("Reasons", "Download it again: it goes on where it was."),
    "build_no_name": QT_TRANSLATE_NOOP(
        "Reasons",
        "Names are written owner/repo, hf.co/owner/repo:Q4_K_M or owner/repo/file.gguf, or as an "
        "address of Hugging Face or of the mirror in HF_ENDPOINT.",
    ),
    "download_gated": QT_TRANSLATE_NOOP(
        "Reasons",
        "Open {page}, agree to them, and make a token for reading; then try again with it.",
    ),
    "download_metered": QT_TRANSLATE_NOOP(
        "Reasons", "Wait for another connection, or download it all the same."
    ),
    "download_not_run": QT_TRANSLATE_NOOP(
        "Reasons", "Choose a smaller build, or download it all the same."
    ),
    "library_needs_room": QT_TRANSLATE_NOOP(
        "Reasons", "Allow that, pin what is to stay, or raise the disk budget in the settings."
    ),
    "library_short": QT_TRANSLATE_NOOP(
        "Reasons",
        "Raise the disk budget in the settings, unpin or remove builds, or free some disk space.",
    ),
    "hub_token": QT_TRANSLATE_NOOP(
        "Reasons",
        "Make a new one for reading in its settings (Access Tokens), and check that all of it "
        "was copied.",
    ),
    "hub_unknown": QT_TRANSLATE_NOOP(
        "Reasons",
        "Check the spelling (owner/repository), or search for a part of the name. A private "
        "one needs a token.",
    ),
    "key_file_write": QT_TRANSLATE_NOOP(
        "Reasons", "Check that you may write to the data folder and that its disk is not full."
    ),
    "estimate_assumed": _MEASURE_THERE,
    "estimate_no_bandwidth": _MEASURE_THERE,
    "estimate_runs": QT_TRANSLATE_NOOP("Reasons", "More runs narrow it further."),
    "estimate_parts": QT_TRANSLATE_NOOP("Reasons", "Signed runs narrow it."),
    "estimate_parts_old": QT_TRANSLATE_NOOP("Reasons", "Measure them again on the page Machine."),
    "estimate_parts_lacking": _MEASURE_AGAIN,
    "estimate_parts_no_rate": _MEASURE_AGAIN,
    "estimate_parts_busy": _MEASURE_AGAIN,
    "estimate_parts_quieter": _MEASURE_AGAIN,
    "estimate_parts_disturbed": _MEASURE_AGAIN,
    "estimate_parts_unsure": _MEASURE_AGAIN,
    "estimate_parts_doubtful": _MEASURE_AGAIN,
    "estimate_parts_slow": _MEASURE_AGAIN,
    "estimate_parts_supply": QT_TRANSLATE_NOOP(
        "Reasons", "Measure them again on the page Machine."
    ),
    "estimate_ceiling_doubtful": QT_TRANSLATE_NOOP(
        "Reasons", "Measure the parts again on the page Machine, while the machine is quiet."
    ),
    "estimate_host_memory_unknown": QT_TRANSLATE_NOOP(
        "Reasons", "The page Machine lists what the system told."
    ),
    "estimate_card_memory_unknown": QT_TRANSLATE_NOOP(
        "Reasons", "Check the card's driver; the page Machine lists what it tells."
    ),
    "estimate_no_parts": QT_TRANSLATE_NOOP(
        "Reasons", "Measure the parts, which takes under a minute."
    ),
    "rehearsal_unknown": QT_TRANSLATE_NOOP(
        "Reasons", "Choose another quantization, or measure the build itself."
    ),
    "rehearsal_no_result": QT_TRANSLATE_NOOP("Reasons", "Measure the build itself."),
    "model_unknown": QT_TRANSLATE_NOOP("Reasons", "Look for it on the page What fits."),
    "device_unknown": QT_TRANSLATE_NOOP("Reasons", "The model's page lists all devices."),
}

_PHASES: Final[Mapping[Phase, str]] = {
    Phase.PREPARING: QT_TRANSLATE_NOOP("Words", "Preparing the build"),
    Phase.LOADING: QT_TRANSLATE_NOOP("Words", "Loading the build"),
    Phase.WARMUP: QT_TRANSLATE_NOOP("Words", "Warming up"),
    Phase.MEASURING: QT_TRANSLATE_NOOP("Words", "Measuring"),
    Phase.SIGNING: QT_TRANSLATE_NOOP("Words", "Signing and keeping the result"),
}
_PROMPT: Final = QT_TRANSLATE_NOOP("Words", "Measuring prompt speed")
_MAKING: Final = QT_TRANSLATE_NOOP("Words", "Making files of the build's shapes")
_REHEARSING: Final = QT_TRANSLATE_NOOP("Words", "Rehearsing: measuring generation speed")
_GENERATION: Final = QT_TRANSLATE_NOOP("Words", "Measuring generation speed")

_SOURCES: Final[Mapping[Source, str]] = {
    Source.SENSOR: QT_TRANSLATE_NOOP("Words", "sensor ({name})"),
    Source.MODELLED: QT_TRANSLATE_NOOP("Words", "modelled ({name})"),
}
_SCOPES: Final[Mapping[Scope, str]] = {
    Scope.BOARD: QT_TRANSLATE_NOOP("Words", "the card only"),
    Scope.PACKAGE: QT_TRANSLATE_NOOP("Words", "the processor only"),
    Scope.SYSTEM: QT_TRANSLATE_NOOP("Words", "the whole machine"),
}

_READ: Final = frozenset(
    {
        QT_TRANSLATE_NOOP("Words", "The system's version"),
        QT_TRANSLATE_NOOP("Words", "The processor"),
        QT_TRANSLATE_NOOP("Words", "The list of cards"),
        QT_TRANSLATE_NOOP("Words", "The search for a virtual machine"),
        QT_TRANSLATE_NOOP("Words", "The memory"),
        QT_TRANSLATE_NOOP("Words", "The list of memory modules"),
        QT_TRANSLATE_NOOP("Words", "The architecture"),
        QT_TRANSLATE_NOOP("Words", "The power state"),
        QT_TRANSLATE_NOOP("Words", "The temperature"),
    }
)
"""What detection's sources read, as they call it; all other names are those of programs."""


def sentence(reason: Reason) -> str:
    """What happened."""
    return _fill(_translated(REASONS, CATALOGUE[reason.code].text), reason.params)


def given_up(reason: Reason) -> str:
    """Why a source of detection gave nothing; what it reads is named in the window's language."""
    name = reason.params.get("name")
    if name not in _READ:
        return sentence(reason)
    named = {**reason.params, "name": _translated(_WORDS, str(name))}
    return sentence(Reason(reason.code, named))


def advice(reason: Reason) -> str:
    """What to do next; may be empty."""
    english = _ADVICE.get(reason.code, CATALOGUE[reason.code].advice)
    return _fill(_translated(REASONS, english), reason.params) if english else ""


def note(code: Note) -> str:
    """What a measurement says of itself."""
    return _translated(NOTES, WORDS[code])


def run_note(code: Note, run: Run) -> str:
    """What a run says of itself, with how busy other programs were."""
    return _translated(NOTES, RUN_WORDS[code]).format(percent=other_percent(run))


def phase(now: Phase, test: str | None) -> str:
    """What a run is doing; `test` is llama-bench's name, `pp512`."""
    if now is Phase.MEASURING and test:
        return _translated(_WORDS, _PROMPT if test.startswith("pp") else _GENERATION)
    return _translated(_WORDS, _PHASES[now])


def rehearsal_step(event: Progress) -> str:
    """What a rehearsal is doing."""
    making = event.phase is Phase.PREPARING
    return _translated(_WORDS, _MAKING if making else _REHEARSING)


def meter(facts: MeterFacts) -> str:
    """Whether a meter is a sensor or a model, its name, and what it covers."""
    source = _translated(_WORDS, _SOURCES[facts.source]).format(name=facts.name)
    return f"{source}, {_translated(_WORDS, _SCOPES[facts.scope])}"


class _Shown(dict[str, Param]):
    """A parameter that a reason lacks is shown as a gap: an error must never hide behind one."""

    def __missing__(self, key: str) -> str:
        return "…"


def _fill(template: str, params: Mapping[str, Param]) -> str:
    return template.format_map(_Shown({name: _as_said(name, v) for name, v in params.items()}))


def _as_said(name: str, value: Param) -> str:
    return fmt.size(int(value)) if is_size(name, value) else in_sentence(value)


def _translated(context: str, english: str) -> str:
    return QCoreApplication.translate(context, english)
