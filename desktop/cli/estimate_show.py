"""`gram estimate` for people: the list of models, and a model's page."""

from collections.abc import Sequence
from typing import Final

from desktop.cli import estimate_tables
from desktop.cli.fitting import print_fitting
from desktop.cli.output import say
from desktop.cli.prose import heading, paragraph
from desktop.cli.tables import print_facts
from desktop.errors import Reason
from desktop.estimate import printed, reasons
from desktop.estimate.facts import active_parameters, facts_of
from desktop.estimate.page import ModelPage
from desktop.estimate.page_words import WORDS, Said, position_said, room_said
from desktop.estimate.profile import Profile, ProfileId
from desktop.estimate.start_words import start_lines
from desktop.records.estimate import Tier
from desktop.records.model import Model

MOST_SPELLED_OUT: Final = 6
"""Devices without a result, of which each has its sentence below the table."""


def models(found: Sequence[Model]) -> None:
    """`gram estimate` without a model."""
    print_fitting(estimate_tables.models(found))
    say("")
    paragraph(f"{len(found)} models. The page of one: gram estimate MODEL")


def model_page(page: ModelPage) -> None:
    """One model on all devices."""
    _head(page)
    _facts(page)
    _sizes(page)
    _ranked(page)
    _reasons(page)
    _without(page)
    _sources(page)
    _start(page)


def words(*codes: str) -> str:
    """Sentences without parameters, on one line."""
    return " ".join(WORDS[code] for code in codes)


def position_words(depth: int) -> str:
    """What every rate holds for."""
    return position_said(depth).text()


def room_words(context: int) -> str:
    """What every memory holds for, and what another command counts."""
    return f"{room_said(context).text()} {words('head.room.fits')}"


def whose(profile: Profile) -> None:
    """Of another's constants that they are; Gram's own need no word."""
    if profile.id is not ProfileId.GRAM:
        paragraph(words("head.page"))


def _head(page: ModelPage) -> None:
    model = page.model
    heading(Said("head.title", {"model": model.name}).text())
    whose(page.profile)
    released = model.released or WORDS["facts.unknown"]
    line = {"architecture": model.architecture, "released": released}
    paragraph(Said("head.line", line).text())
    total = {"total": printed.parameters(model.parameters)}
    active = {"active": printed.parameters(active_parameters(model))}
    paragraph(f"{Said('head.capacity', total).text()} {Said('head.traffic', active).text()}")
    use = page.sheet.use
    paragraph(f"{position_words(use.depth)} {room_words(use.context)}")


def _facts(page: ModelPage) -> None:
    heading(words("facts.heading"))
    print_facts(*((WORDS[fact.name], fact.text()) for fact in facts_of(page.model)))
    paragraph(words("facts.note"))


def _sizes(page: ModelPage) -> None:
    heading(words("sizes.heading"))
    # the parameters that sizes were counted over are the profile's
    print_fitting(estimate_tables.sizes(page.sizes, page.sheet.model.parameters, page.profile.id))
    paragraph(words("sizes.note.basis", "sizes.note.quality"))
    if page.profile.id is ProfileId.GRAM:
        mixtures = ("sizes.note.mixtures",) if page.model.is_mixture else ()
        paragraph(words("sizes.note.here", *mixtures))


def _ranked(page: ModelPage) -> None:
    heading(words("ranked.heading"))
    if not page.rows:
        paragraph(words("ranked.none"))
        return
    paragraph(f"{words('ranked.label')} {position_words(page.sheet.use.depth)}")
    print_fitting(estimate_tables.devices(page, page.meanings))
    context = Said("ranked.note.context", {"context": f"{page.full_context:,}"}).text()
    paragraph(f"{words('ranked.note.band', 'ranked.note.choice')} {context}")
    if page.profile.held_back is not None:
        paragraph(page.profile.held_back.words(page.profile.memory_unit_bytes).text())
    paragraph(words("ranked.note.order", "ranked.note.open"))


def _reasons(page: ModelPage) -> None:
    if not page.meanings:
        return
    heading(words("reasons.heading"))
    for number, reason in enumerate(page.meanings, 1):
        paragraph(f"{number} {reasons.LABELS[reason.code]}: {reason.text()}")
    paragraph(f"{words('reasons.note')} {WORDS[tier_code(page)]}")


def tier_code(page: ModelPage) -> str:
    """What the page's tier stands for."""
    tier = page.profile.tier
    return f"tier.{tier.lower()}" if tier is not Tier.B else f"tier.b.{page.profile.id}"


def _without(page: ModelPage) -> None:
    if not page.without:
        return
    heading(words("none.heading"))
    paragraph(words("none.note.reason", "none.note.slow", "none.note.quant"))
    print_fitting(estimate_tables.without(page.without, page.profile.memory_unit_bytes))
    for reason in _spelled_out([row.reason for row in page.without]):
        paragraph(f"{reason.text()} {reason.advice()}")


def _spelled_out(given: Sequence[Reason]) -> list[Reason]:
    """All of a few; of many the first of each code, as an example."""
    if len(given) <= MOST_SPELLED_OUT:
        return list(given)
    return list({reason.code: reason for reason in reversed(given)}.values())


def _sources(page: ModelPage) -> None:
    heading(words("sources.heading"))
    print_facts(
        (WORDS["sources.record"], page.model.id),
        *(("", source) for source in page.model.sources),
    )
    paragraph(words("sources.note"))
    if page.related:
        heading(words("related.heading"))
        paragraph(words("related.note"))
        print_fitting(estimate_tables.models(page.related))


def _start(page: ModelPage) -> None:
    """Last, so that it is what a person sees first above the prompt."""
    heading(words("start.heading"))
    for line in start_lines(page):
        paragraph(" ".join(said.text() for said in line))
