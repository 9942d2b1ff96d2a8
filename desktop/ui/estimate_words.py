"""The sentences and reasons of estimates in the window's language."""

from collections.abc import Iterable, Iterator
from typing import Final

from PySide6.QtCore import QCoreApplication, QLocale

from desktop.errors import Reason
from desktop.estimate import printed
from desktop.estimate.page_words import WORDS, Said
from desktop.estimate.profile import Profile, ProfileId
from desktop.estimate.reasons import LABELS, SHORT
from desktop.records.estimate import Estimate, Tier
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


def estimate_at(tokens: int) -> str:
    """What a range is, and for how many tokens: `estimate at 4,096`."""
    words = QCoreApplication.translate(CONTEXT, "estimate at {tokens}")
    return words.format(tokens=QLocale().toString(tokens))


def quality(word: str) -> str:
    """`good`: the table's word for a quantization's quality."""
    return _translated(word)


def tier(profile: Profile) -> str:
    """What the tier of a profile's estimates stands for."""
    return tier_words(profile.tier, profile.id)


def tier_words(found: Tier, profile: ProfileId = ProfileId.GRAM) -> str:
    """What a tier stands for; `page` has its own word for B."""
    own = found is not Tier.B or profile is ProfileId.GRAM
    return words(f"tier.{found.lower()}" if own else f"tier.b.{profile}")


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


def prompt_words(span: str) -> str:
    """How fast a prompt is read."""
    words = _translated("Prompt: {span} tok/s, over 512 tokens from an empty cache (pp512).")
    return words.format(span=span)


def prompt_lines(estimate: Estimate) -> Iterator[str]:
    """How fast a prompt is read, and when the first token comes; nothing where it is not known."""
    if estimate.prompt is not None:
        yield prompt_words(printed.span(estimate.prompt))
    first = estimate.first_token_s
    if first is not None:
        tokens = estimate.use.prompt_tokens
        words = _translated("First token after {span} s, of a prompt of {tokens} tokens.")
        if tokens == 1:
            words = _translated("First token after {span} s, of a prompt of one token.")
        yield words.format(span=printed.seconds(first), tokens=f"{tokens:,}")


def _translated(english: str) -> str:
    return QCoreApplication.translate(CONTEXT, english)
