"""The sentences and reasons of estimates in the window's language."""

from collections.abc import Iterable
from typing import Final

from PySide6.QtCore import QCoreApplication

from desktop.errors import Reason
from desktop.estimate.page_words import WORDS, Said
from desktop.estimate.reasons import LABELS, SHORT
from desktop.ui import messages

CONTEXT: Final = "Estimates"
"""The translation context of the pages' sentences."""


def words(*codes: str) -> str:
    """Sentences without parameters, one after the other."""
    return " ".join(_translated(WORDS[code]) for code in codes)


def said(item: Said | str) -> str:
    """A sentence with its parameters; published names and figures are as they are."""
    if isinstance(item, str):
        return item
    return _translated(WORDS[item.code]).format_map(dict(item.params))


def joined(items: Iterable[Said | str]) -> str:
    """Several, with commas between."""
    return ", ".join(said(item) for item in items)


def label(reason: Reason) -> str:
    """A reason in a few words, as a row names it; its sentence where it has no such words."""
    return _translated(LABELS[reason.code]) if reason.code in LABELS else short(reason)


def labels(reasons: Iterable[Reason]) -> str:
    """Several reasons, with commas between."""
    return ", ".join(label(reason) for reason in reasons)


def short(reason: Reason) -> str:
    """Why there is no range, in a few words; the whole sentence where there are none."""
    template = SHORT.get(reason.code)
    if template is None:
        return messages.sentence(reason)
    return _translated(template).format_map(dict(reason.params))


def explained(reason: Reason) -> str:
    """The whole of it: what it is, what it means, what to do."""
    parts = (messages.sentence(reason), messages.advice(reason))
    return " ".join(part for part in parts if part)


def _translated(english: str) -> str:
    return QCoreApplication.translate(CONTEXT, english)
