"""The words of a question about what fits: names of models, and labels of quantizations."""

import difflib
import re
from collections.abc import Iterable
from typing import Final

from desktop.errors import GramError
from desktop.estimate.catalogue import suggestions
from desktop.records.model import Model, Quant
from desktop.services import estimate_tables
from desktop.services.profiles import models

_LIKE_A_LABEL: Final = re.compile(
    r"(i?q|tq)\d|(b?f|fp|int)\d|(mx|nv)fp|awq|gptq|\d+[-_]?bits?$", re.IGNORECASE
)
_WORD: Final = re.compile(r"[\w.]+")
_MOST: Final = 5
_NEAR: Final = 0.7
"""How much alike two words are that one is taken for a slip of the other; 1: equal."""


def labels_and_names(words: Iterable[str]) -> tuple[frozenset[str], tuple[str, ...]]:
    """The ids of quantizations that are named, and the other words, in small letters.

    A build may be named whole, `llama-3.2-1b-instruct:Q4_K_M`.
    """
    by_name = {
        name.casefold(): quant.id for quant in estimate_tables.quants() for name in _labels(quant)
    }
    folded = [part for word in words for part in word.casefold().split(":") if part.strip()]
    return (
        frozenset(by_name[word] for word in folded if word in by_name),
        tuple(word for word in folded if word not in by_name),
    )


def names_of(model: Model) -> str:
    """What words are looked for in, in small letters."""
    told = (model.id, model.name, model.family, model.publisher, *model.aliases)
    return " ".join(filter(None, told)).casefold()


def refuse_unknown(words: Iterable[str]) -> None:
    """Refuse words that nothing has.

    Raises:
        GramError: `quant_near`, `quant_unknown` for a word like a quantization's label;
            `word_near`, `model_unknown` for another that no model has in its names;
            `words_apart` where no model has all of them.
    """
    _, names = labels_and_names(words)
    known = [names_of(model) for model in models()]
    for word in names:
        if not any(word in told for told in known):
            raise _unknown_label(word) if _LIKE_A_LABEL.match(word) else _unknown_name(word, known)
    if not any(all(word in told for word in names) for told in known):
        raise GramError("words_apart", name=" ".join(names))


def _labels(quant: Quant) -> Iterable[str]:
    """`AWQ 4-bit` is called `awq` too: a word has no space."""
    return filter(None, (quant.id, quant.label, quant.label.split()[0], quant.file_type))


def _unknown_label(word: str) -> GramError:
    quants = {quant.id: quant.label for quant in estimate_tables.quants()}
    near = [quants[found] for found in suggestions(word, estimate_tables.quants())]
    if near:
        return GramError("quant_near", name=word, near=", ".join(near))
    return GramError("quant_unknown", name=word, allowed=", ".join(quants.values()))


def _unknown_name(word: str, known: Iterable[str]) -> GramError:
    there = sorted({part for told in known for part in _WORD.findall(told)})
    alike = difflib.get_close_matches(word, there, n=_MOST, cutoff=_NEAR)
    near = tuple(dict.fromkeys((*alike, *suggestions(word, models()))))[:_MOST]
    if near:
        return GramError("word_near", name=word, near=", ".join(near))
    return GramError("model_unknown", name=word)
