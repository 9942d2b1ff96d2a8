"""Where to start, in sentences for the terminal and the window alike."""

from collections.abc import Callable, Iterator

from desktop.estimate import printed
from desktop.estimate.callouts import Cheapest
from desktop.estimate.page import ModelPage
from desktop.estimate.page_row import PageRow
from desktop.estimate.page_words import Said


def start_lines(page: ModelPage, quality: Callable[[str], str] = str) -> Iterator[tuple[Said, ...]]:
    """Of each line its sentences: the smallest device, the cheapest for each rate, what counts.

    Args:
        page: a model's.
        quality: a quantization's quality in the reader's language.
    """
    smallest = page.start.smallest
    if smallest is None:
        yield (Said("start.no_smallest", {"model": page.model.name}),)
    else:
        yield _smallest(page, smallest, quality), _how(page, smallest)
        for found in page.start.cheapest:
            yield _cheapest(page, found, quality)
    yield tuple(_notes(page))


def _smallest(page: ModelPage, row: PageRow, quality: Callable[[str], str]) -> Said:
    told = {
        "model": page.model.name,
        "device": row.configuration.name,
        "usable": printed.memory(row.configuration.usable_bytes, page.profile.memory_unit_bytes),
        "quant": row.best.quant.label,
        "quality": quality(row.best.quant.quality),
    }
    return Said("start.smallest", told)


def _cheapest(page: ModelPage, found: Cheapest, quality: Callable[[str], str]) -> tuple[Said, ...]:
    rate = {"rate": found.rate_tok_s}
    row = found.row
    if row is None:
        return (Said("start.no_cheapest", rate),)
    price = printed.price(row.configuration.price_usd or 0)
    named = Said("start.cheapest", {**rate, "device": row.configuration.name, "price": price})
    quant = row.best.quant
    takes = Said("start.takes", {"quant": quant.label, "quality": quality(quant.quality)})
    return named, takes, _how(page, row)


def _how(page: ModelPage, row: PageRow) -> Said:
    position = f"{page.sheet.use.depth:,}"
    return Said("start.how", {"target": row.best.target.id, "position": position})


def _notes(page: ModelPage) -> Iterator[Said]:
    yield Said("start.note")
    if page.decent_only:
        yield Said("start.decent")
    yield Said("start.hint")
