"""The tables of `gram estimate`."""

from collections.abc import Sequence
from typing import Final

from desktop.cli.figures import DASH
from desktop.cli.fitting import Column
from desktop.errors import Reason
from desktop.estimate import printed, reasons
from desktop.estimate.device_page import QuantRow
from desktop.estimate.layer_bytes import LayerBytes
from desktop.estimate.page import ModelPage, SizeRow
from desktop.estimate.page_row import NoResult, PageRow
from desktop.estimate.page_words import WORDS
from desktop.estimate.profile import ProfileId
from desktop.estimate.ranking import Choice
from desktop.estimate.sheet import Sheet
from desktop.records.model import Model

_SAME_BITS: Final = 0.005


def models(found: Sequence[Model]) -> list[Column]:
    """The catalogue's models."""
    return [
        Column("model", [m.id for m in found], heading=True),
        Column("parameters", [printed.parameters(m.parameters) for m in found], right=True),
        Column("name", [m.name for m in found], drop=1),
        Column("family", [m.family or DASH for m in found], drop=3),
        Column("released", [m.released or DASH for m in found], drop=2),
    ]


def sizes(rows: Sequence[SizeRow], parameters: int, profile: ProfileId) -> list[Column]:
    """A model in each quantization; in the unit that files are told in."""
    held = [_files(row.weights.capacity_bytes, profile) for row in rows]
    read = [_files(row.weights.active_bytes, profile) for row in rows]
    return [
        Column("quantization", [row.quant.label for row in rows]),
        Column("family", [row.quant.family for row in rows], drop=4),
        Column("id", [row.quant.id for row in rows], drop=5),
        Column("bits", [f"{row.quant.bits_per_weight:g}" for row in rows], right=True),
        Column("here", [_bits_here(row, parameters) for row in rows], right=True, drop=2),
        Column("quality", [row.quant.quality for row in rows]),
        Column("rank", [str(row.quant.rank) for row in rows], right=True, drop=1),
        Column("weights GB", held, right=True),
        Column("read GB", read, right=True),
        Column("size is", [WORDS[f"basis.{row.weights.basis}"] for row in rows], drop=3),
    ]


def devices(page: ModelPage, numbers: Sequence[Reason]) -> list[Column]:
    """The ranked devices; a row's reasons by their numbers in the list below the table."""
    rows, unit = page.rows, page.profile.memory_unit_bytes
    ranks = [str(rank) for rank, _ in enumerate(rows, 1)]
    context = f"at {page.full_context:,}"
    return [
        Column("#", ranks, right=True),
        Column("device", [row.configuration.id for row in rows], heading=True),
        Column("name", [row.configuration.name for row in rows], drop=6),
        Column("quant", [row.best.quant.label for row in rows]),
        Column("back end", [row.best.target.id for row in rows], drop=4),
        Column("next", [r.runner_up.quant.label if r.runner_up else DASH for r in rows], drop=5),
        Column(context, [_chosen(row.at_full_context) for row in rows], drop=3),
        Column("memory", [_memory(row, unit) for row in rows], right=True),
        Column("tok/s", [printed.span(row.speed) for row in rows], right=True),
        Column("ceiling", [printed.rate(_ceiling(row, page)) for row in rows], drop=1, right=True),
        Column("tier", [_tier(row, numbers) for row in rows], drop=2),
    ]


def without(rows: Sequence[NoResult], unit_bytes: int) -> list[Column]:
    """Devices without a result, and what is known of them."""
    usable = [printed.memory(row.configuration.usable_bytes, unit_bytes) for row in rows]
    return [
        Column("device", [row.configuration.id for row in rows], heading=True),
        Column("name", [row.configuration.name for row in rows], drop=3),
        Column("usable", usable, right=True, drop=2),
        Column("bandwidth", [_bandwidth(row) for row in rows], right=True, drop=1),
        Column("no result, because", [reasons.short(row.reason) for row in rows]),
    ]


def quants(rows: Sequence[QuantRow], sheet: Sheet) -> list[Column]:
    """Every quantization on one device; weights in the unit that files are told in."""
    unit = sheet.profile.memory_unit_bytes
    return [
        Column("quantization", [row.quant.label for row in rows]),
        Column("rank", [str(row.quant.rank) for row in rows], drop=3, right=True),
        Column("back end", [r.option.target.id if r.option else DASH for r in rows], drop=4),
        Column("weights", [_held(row, sheet) for row in rows], right=True, drop=2),
        Column("needs", [_need(row, unit) for row in rows], right=True),
        Column("tok/s", [_span(row) for row in rows], right=True),
        Column("prompt tok/s", [_prompt(row) for row in rows], drop=1, right=True),
        Column("first token s", [_first(row) for row in rows], drop=5, right=True),
        Column("no range, because", [reasons.short(r.reason) if r.reason else "" for r in rows]),
    ]


def _bits_here(row: SizeRow, parameters: int) -> str:
    """Bits of this model's weights on average; empty where they are those of the table."""
    bits = 8 * row.weights.capacity_bytes / parameters
    return "" if abs(bits - row.quant.bits_per_weight) < _SAME_BITS else f"{bits:.2f}"


def layers(rows: Sequence[LayerBytes]) -> list[Column]:
    """Bytes by layer group."""
    return [
        Column("", [", ".join(said.text() for said in row.what) for row in rows]),
        Column("weights", [_bytes(row.weight_bytes) for row in rows], right=True),
        Column("read for a token", [_bytes(row.read_bytes) for row in rows], right=True),
        Column("cache held", [f"{row.cache_bytes:,}" for row in rows], right=True, drop=2),
        Column("cache read", [f"{row.cache_read_bytes:,}" for row in rows], right=True, drop=1),
    ]


def _files(count_bytes: int, profile: ProfileId) -> str:
    """The page that is reproduced has one decimal, which says nothing of small models."""
    told = printed.amount if profile is ProfileId.PAGE else printed.file_size
    return told(count_bytes)


def _ceiling(row: PageRow, page: ModelPage) -> float:
    with_cache = page.profile.ceiling_with_cache
    return row.speed.ceiling_tok_s if with_cache else row.weights_ceiling_tok_s


def _chosen(choice: Choice) -> str:
    return choice.best.quant.label if choice.best else "does not fit"


def _memory(row: PageRow, unit_bytes: int) -> str:
    need = printed.amount(row.best.need_bytes, unit_bytes)
    return f"{need} of {printed.memory(row.configuration.usable_bytes, unit_bytes)}"


def _tier(row: PageRow, numbers: Sequence[Reason]) -> str:
    codes = [reason.code for reason in numbers]
    found = sorted(codes.index(reason.code) + 1 for reason in row.estimate.reasons)
    return " ".join((str(row.estimate.tier or DASH), *map(str, found)))


def _bandwidth(row: NoResult) -> str:
    bytes_s = row.configuration.bandwidth_bytes_s
    return DASH if bytes_s is None else printed.bandwidth(bytes_s)


def _held(row: QuantRow, sheet: Sheet) -> str:
    return f"{_files(row.weights.capacity_bytes, sheet.profile.id)} GB"


def _need(row: QuantRow, unit_bytes: int) -> str:
    return printed.memory(row.option.need_bytes, unit_bytes) if row.option else DASH


def _span(row: QuantRow) -> str:
    decode = row.estimate.decode if row.estimate else None
    return printed.span(decode) if decode else DASH


def _prompt(row: QuantRow) -> str:
    prompt = row.estimate.prompt if row.estimate else None
    return printed.span(prompt) if prompt else ""


def _first(row: QuantRow) -> str:
    first = row.estimate.first_token_s if row.estimate else None
    return printed.seconds(first) if first else ""


def _bytes(count: int | None) -> str:
    return DASH if count is None else f"{count:,}"
