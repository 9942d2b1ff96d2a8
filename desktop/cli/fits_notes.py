"""What `gram fits` says around its table: what to do first, how builds were chosen, what it means.

Whatever a row only hints at, a letter or a number, has its sentence here, once.
"""

from collections.abc import Container, Iterator, Sequence
from typing import Final

from desktop.errors import Reason
from desktop.estimate import reasons
from desktop.estimate.page_words import WORDS
from desktop.records.fits import Fit, FitRow, Fits
from desktop.services.estimates import use_of

SPLIT: Final = "llama.cpp's option"
MEMORY: Final = "memory"
ESTIMATE: Final = "estimate tok/s"
CEILING: Final = "ceiling"
PROMPT: Final = "prompt tok/s"
FIRST: Final = "first token s"
MEASURED: Final = "measured tok/s"
TIER: Final = "tier"
"""Heads of columns that need a word."""
NO_TIER: Final = "none"
_GENERAL: Final = {
    "estimate_size_bits": "No file of it is known to the byte: its size is computed from the "
    "number of parameters and the bits per weight.",
    "estimate_size_tensors": "No file of it is known to the byte: its size is computed from the "
    "model's tensors, by llama.cpp's rule of which of them gets which type.",
    "estimate_size_exact": "Its size is a file's own.",
    "estimate_types_near": "How fast this machine reads some of its types of weights does not "
    "follow from the parts but from near types, which widens the range.",
    "estimate_tight": "It fits, but barely: another program, or a longer context, and it does not.",
    "estimate_fits_nowhere": "It needs more memory than can be used here.",
    "estimate_card_lacks": "A card would have to hold more than can be used of its memory.",
    "estimate_host_lacks": "It needs more of the system's memory than can be used.",
    "estimate_beyond_context": "It is not trained for so long a context: what it wrote there would "
    "be worth nothing, so there is no figure.",
    "estimate_context_untold": "No source tells how long a context it is trained for.",
}
"""Sentences for reasons that rows have with parameters of their own."""


def above(found: Fits) -> Iterator[str]:
    """What a person should know before the figures."""
    if found.parts_at is None and found.rows:
        yield _how_to_measure(found)
    for reason in (*found.limits, *found.told, *found.ruled_out):
        yield whole(reason)
    yield from _too_slow(found)
    if found.rows and not any(row.runs for row in found.rows):
        yield "Nothing of this runs here: the reason stands where a speed would."


def numbered(rows: Sequence[FitRow]) -> dict[str, int]:
    """The codes of all rows' reasons, by the numbers that stand beside the tiers."""
    codes = dict.fromkeys(r.code for row in rows for r in row.estimate.reasons)
    return {code: at for at, code in enumerate(codes, 1)}


def below(found: Fits, shown: Sequence[str]) -> Iterator[str]:
    """How to read it.

    Args:
        found: the answer.
        shown: the heads of the columns that had room.
    """
    yield from filter(None, [f"{_counted(found)} {_left_out(found)}".strip()])
    if found.rows:
        yield from filter(None, [" ".join((*_chosen(found), *_ordered(found)))])
        if any(row.estimate.decode for row in found.rows):
            yield "Every rate is an estimate, never a measurement."
        yield from (text for head, text in _columns(found) if head in shown)
        yield from meanings(found.rows)


def whole(reason: Reason) -> str:
    """What it is, and what to do."""
    return f"{reason.text()} {reason.advice()}".strip()


def _how_to_measure(found: Fits) -> str:
    rated = any(row.estimate.decode for row in found.rows)
    known = "rates are by the catalogue alone" if rated else "no speed is known"
    return (
        f"This machine's parts were not measured yet, so {known}. `gram fits --probe` measures "
        "them, the speed of its memory and arithmetic, in under a minute and then shows this "
        "table; `gram parts` measures them alone."
    )


def _too_slow(found: Fits) -> Iterator[str]:
    """How many are as fast as was asked for, which a table shows row by row only."""
    if _named(found):
        return
    rates = [row.estimate.decode.low_tok_s for row in found.rows if row.estimate.decode]
    fast = sum(low >= found.request.at_least_tok_s for low in rates)
    if fast == len(rates):
        return
    whose = f"{fast:,} of {plural(len(rates), 'model')}" if fast else "No model here"
    reach, their = ("reach", "their") if fast > 1 else ("reaches", "its")
    least = f"{_least(found)} tokens a second over {their} whole range"
    yield f"{whose} {reach} {least} (--at-least N asks for another speed)."


def _least(found: Fits) -> str:
    return f"{found.request.at_least_tok_s:,g}"


def _named(found: Fits) -> bool:
    """Whether rows are of quantizations that were asked for, not of proposed ones."""
    return found.by_label or found.request.all_builds


def _counted(found: Fits) -> str:
    models = len({row.model.id for row in found.rows})
    if not found.rows:
        return "" if found.ruled_out else "Nothing runs here."
    if _named(found):
        counted = [row for row in found.rows if not row.is_beyond]
        builds = plural(len(counted), "build")
        return f"{builds} of {plural(models, 'model')}: a build is a model in one quantization."
    each = "" if models == 1 else "each "
    return f"{plural(models, 'model')}, {each}in one quantization."


def _left_out(found: Fits) -> str:
    beyond, nowhere = found.beyond, found.hidden - found.beyond
    tokens = f"{found.request.context:,}"
    told = []
    if nowhere:
        do = "does" if nowhere == 1 else "do"
        told.append(f"{plural(nowhere, 'more model')} {do} not fit here")
    if beyond:
        is_ = "is" if beyond == 1 else "are"
        told.append(f"{plural(beyond, 'more model')} {is_} not trained for {tokens} tokens")
    return f"{', and '.join(told)}: --all shows why." if told else ""


def _chosen(found: Fits) -> Iterator[str]:
    """By which rule a model's quantization was taken."""
    if _named(found):
        return
    running = [row for row in found.rows if row.runs]
    if any(row.estimate.decode for row in running):
        least = _least(found)
        yield (
            f"The quantization is the best in quality whose whole range is above {least} tokens a "
            "second; where none is, the fastest, or a better one whose range overlaps the "
            "fastest's."
        )
    if any(row.estimate.decode is None for row in running):
        yield (
            "Where no speed is known the quantization is the smallest of good quality: it loses "
            "little and fits most machines."
        )
    if running:
        yield (
            "It is chosen among those that most publishers make, such as Q4_K_M and Q8_0; --all "
            "shows the others too."
        )
        yield "What is worse than acceptable is shown only where nothing better fits."
    if any(row.fit is Fit.NOWHERE for row in found.rows):
        yield "Of a model that fits nowhere it is the one that needs the least memory."


def _ordered(found: Fits) -> Iterator[str]:
    running = [row for row in found.rows if row.runs]
    if len(running) < 2:  # noqa: PLR2004 - one alone has no order
        return
    by = "the fastest" if any(row.estimate.decode for row in running) else "the least memory"
    if found.on_card_bytes is None:
        yield f"{by.capitalize()} stands first."
    else:
        yield f"What fits on the card stands before what needs offload, then {by} first."


def _columns(found: Fits) -> Iterator[tuple[str, str]]:
    """What each column says, by its head."""
    use = use_of(found.request)
    context, before = plural(use.context, "token"), plural(use.depth, "other")
    split = "layers on the card with offload, or layers whose experts stay in the system's memory."
    yield SPLIT, f"{SPLIT}: {split}"
    yield MEMORY, f"memory: weights, a cache for {context} and scratch, together."
    yield ESTIMATE, f"{ESTIMATE}: low to high, to generate one token after {before}."
    yield CEILING, f"{CEILING}: the most tokens a second that the memory's bandwidth allows."
    yield PROMPT, f"{PROMPT}: reading a prompt of 512 tokens, from an empty cache (pp512)."
    prompt = plural(use.prompt_tokens, "token")
    yield FIRST, f"{FIRST}: seconds until an answer to a prompt of {prompt} begins."
    yield MEASURED, f"{MEASURED}: by this machine's newest runs of that build, no estimate."
    yield TIER, "tier: what the range rests on, none where there is none; numbers: reasons below."


def meanings(rows: Sequence[FitRow], *, general: Container[str] = ()) -> Iterator[str]:
    """What the tiers and numbers beside `rows` mean, each once.

    Args:
        rows: as for `numbered`.
        general: codes that are told without a row's own figures, where there is such a sentence.
    """
    tiers = {row.estimate.tier for row in rows if row.estimate.tier}
    yield from (WORDS[f"tier.{tier.lower()}"] for tier in sorted(tiers))
    first: dict[str, list[Reason]] = {}
    for row in rows:
        for reason in row.estimate.reasons:
            first.setdefault(reason.code, []).append(reason)
    for code, at in numbered(rows).items():
        yield f"{at}  {_meaning(first[code], general=code in general)}"


def _meaning(given: Sequence[Reason], *, general: bool) -> str:
    """The sentence of all of them; a general one where each row has figures of its own."""
    one = given[0]
    same = not general and all(reason.params == one.params for reason in given)
    text = one.text() if same else _GENERAL.get(one.code, one.text())
    label = reasons.LABELS.get(one.code)
    said = f"{text} {one.advice()}".strip()
    return said if label is None else f"{label}: {said}"


def plural(count: int, word: str) -> str:
    """`1 token`, `4,096 tokens`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"
