"""The columns of the estimate's tables: sizes, ranked devices, quantizations on one device."""

from PySide6.QtCore import QCoreApplication

from desktop.estimate import printed
from desktop.estimate.device_page import QuantRow
from desktop.estimate.layer_bytes import LayerBytes
from desktop.estimate.page import SizeRow
from desktop.estimate.page_row import NoResult
from desktop.records.estimate import Speed
from desktop.ui import estimate_words as ew
from desktop.ui.components import Column, Field, Span
from desktop.ui.design import wide
from desktop.ui.fits_fields import RANGE
from desktop.ui.format import DASH
from desktop.ui.ranked import Ranked


def device_fields(unit: int = printed.GIB, context: str = "") -> tuple[Field[Ranked], ...]:
    """Of the ranked devices; memory in `unit` bytes, `context` is what rates hold for."""
    return (
        Field(
            Column(_tr("Rank"), numeric=True, width=wide(7)),
            lambda r: DASH if r.rank is None else f"{r.rank:,}",
            lambda r: r.rank,
        ),
        Field(Column(_tr("Device\nid"), stretch=True), _device, lambda r: r.name),
        Field(
            Column(_tr("Quantization\nback end"), width=wide(17)),
            lambda r: f"{r.quant.label}\n{r.target}",
            lambda r: -r.quant.rank,
        ),
        Field(
            Column(_tr("Next"), width=wide(11), drop=3),
            lambda r: r.runner_up or DASH,
            lambda r: r.runner_up,
        ),
        Field(
            Column(_tr("At full\ncontext"), width=wide(11), drop=2),
            lambda r: r.at_full or _tr("no room"),
            lambda r: r.at_full,
        ),
        Field(
            Column(_tr("Memory\nof usable"), width=wide(14)),
            lambda r: _memory(r, unit),
            lambda r: r.need_bytes,
        ),
        Field(
            Column(_tr("Generation, tok/s\n "), width=wide(RANGE)),
            _range,
            lambda r: r.span.high if r.span else None,
            lambda r: r.span,
            lambda r: said_range(r.span, context) if r.span else _range(r),
        ),
        Field(
            Column(_tr("Ceiling\ntok/s"), numeric=True, width=wide(11), drop=1),
            lambda r: printed.rate(r.span.ceiling or 0) if r.span else DASH,
            lambda r: r.span.ceiling if r.span else None,
        ),
        Field(
            Column(_tr("Tier"), width=wide(7)),
            lambda r: str(r.estimate.tier or DASH),
            lambda r: str(r.estimate.tier or DASH),
            said=_said_tier,
        ),
        Field(
            Column(_tr("Reasons"), width=wide(28), drop=4),
            lambda r: ew.labels(r.estimate.reasons),
            lambda r: ew.labels(r.estimate.reasons),
        ),
    )


def without_fields(unit: int = printed.GIB) -> tuple[Field[NoResult], ...]:
    """Of devices that have no result; memory in `unit` bytes."""
    return (
        Field(
            Column(_tr("Device\nid"), stretch=True),
            lambda r: f"{r.configuration.name}\n{r.configuration.id}",
            lambda r: r.configuration.name,
        ),
        Field(
            Column(_tr("Usable\nmemory"), numeric=True, width=wide(12)),
            lambda r: printed.memory(r.configuration.usable_bytes, unit),
            lambda r: r.configuration.usable_bytes,
        ),
        Field(
            Column(_tr("Peak\nbandwidth"), numeric=True, width=wide(14)),
            lambda r: bandwidth(r.configuration.bandwidth_bytes_s),
            lambda r: r.configuration.bandwidth_bytes_s,
        ),
        Field(
            Column(_tr("No result, because"), width=wide(30)),
            lambda r: ew.short(r.reason),
            lambda r: ew.short(r.reason),
        ),
    )


def size_fields() -> tuple[Field[SizeRow], ...]:
    """Of a model in each quantization; in the unit that files are told in."""
    name = printed.unit_name(printed.GB)
    return (
        Field(
            Column(_tr("Quantization\nid"), stretch=True),
            lambda r: f"{r.quant.label}\n{r.quant.id}",
            lambda r: r.quant.label,
        ),
        Field(
            Column(_tr("Family"), width=wide(13)),
            lambda r: r.quant.family,
            lambda r: r.quant.family,
        ),
        Field(
            Column(_tr("Bits per\nweight"), numeric=True, width=wide(11)),
            lambda r: f"{r.quant.bits_per_weight:g}",
            lambda r: r.quant.bits_per_weight,
        ),
        Field(
            Column(_tr("Quality\nrank"), width=wide(13)),
            lambda r: f"{ew.quality(r.quant.quality)}\n{r.quant.rank}",
            lambda r: -r.quant.rank,
        ),
        Field(
            Column(_tr("Weights\n{unit}").format(unit=name), numeric=True, width=wide(11)),
            lambda r: printed.file_size(r.weights.capacity_bytes),
            lambda r: r.weights.capacity_bytes,
        ),
        Field(
            Column(
                _tr("Read for a\ntoken, {unit}").format(unit=name), numeric=True, width=wide(13)
            ),
            lambda r: printed.file_size(r.weights.active_bytes),
            lambda r: r.weights.active_bytes,
        ),
        Field(
            Column(_tr("The size is"), width=wide(13)),
            # `computed (tensors)`: below each other, or a narrow window has no room for it
            lambda r: ew.words(f"basis.{r.weights.basis}").replace(" (", "\n("),
            lambda r: str(r.weights.basis),
        ),
    )


def quant_fields(unit: int = printed.GIB, context: str = "") -> tuple[Field[QuantRow], ...]:
    """Of all quantizations on one device; as `device_fields`, weights as `size_fields`."""
    return (
        Field(
            Column(_tr("Quantization\nback end"), stretch=True),
            lambda r: f"{r.quant.label}\n{r.option.target.id if r.option else DASH}",
            lambda r: r.quant.label,
        ),
        Field(
            Column(_tr("Quality\nrank"), width=wide(13)),
            lambda r: f"{ew.quality(r.quant.quality)}\n{r.quant.rank}",
            lambda r: -r.quant.rank,
        ),
        Field(
            Column(_tr("Weights"), numeric=True, width=wide(12), drop=1),
            lambda r: f"{printed.file_size(r.weights.capacity_bytes)} GB",
            lambda r: r.weights.capacity_bytes,
        ),
        Field(
            Column(_tr("Needs"), numeric=True, width=wide(12)),
            lambda r: printed.memory(r.option.need.total_bytes, unit) if r.option else DASH,
            lambda r: r.option.need.total_bytes if r.option else None,
        ),
        Field(
            Column(_tr("Generation, tok/s\n "), width=wide(RANGE)),
            _quant_range,
            lambda r: speed.high_tok_s if (speed := decode(r)) else None,
            span_of,
            lambda r: said_range(span, context) if (span := span_of(r)) else _why(r),
        ),
        Field(
            Column(_tr("Prompt, tok/s\nfirst token"), width=wide(20), drop=2),
            _prompt,
            lambda r: r.estimate.prompt.high_tok_s if r.estimate and r.estimate.prompt else None,
        ),
    )


def layer_columns() -> tuple[Column, ...]:
    """Of bytes by layer group."""
    return (
        Column(_tr("Layers"), stretch=True),
        Column(_tr("Weights\nbytes"), numeric=True),
        Column(_tr("Read for\na token"), numeric=True),
        Column(_tr("Cache\nheld"), numeric=True),
        Column(_tr("Cache\nread"), numeric=True),
    )


def layer_texts(row: LayerBytes) -> tuple[str, ...]:
    """One line of it."""
    first, *rest = (ew.said(item) for item in row.what)
    name, _, detail = first.partition(" \N{MIDDLE DOT} ")
    below = ", ".join(part for part in (detail, *rest) if part)
    return (
        f"{name}\n{below}" if below else name,
        _bytes(row.weight_bytes),
        _bytes(row.read_bytes),
        f"{row.cache_bytes:,}",
        f"{row.cache_read_bytes:,}",
    )


def said_range(span: Span, context: str) -> str:
    """A range for those who cannot see its bar."""
    words = _tr("{low} to {high} tokens a second, ceiling {ceiling}, estimate; {context}")
    return words.format(
        low=printed.rate(span.low),
        high=printed.rate(span.high),
        ceiling=DASH if span.ceiling is None else printed.rate(span.ceiling),
        context=context,
    )


def bandwidth(bytes_s: float | None) -> str:
    """`456 GB/s`; the dash where no source tells."""
    return DASH if bytes_s is None else printed.bandwidth(bytes_s)


def decode(row: QuantRow) -> Speed | None:
    """The range of one quantization."""
    return row.estimate.decode if row.estimate else None


def span_of(row: QuantRow) -> Span | None:
    """The range of one quantization and its ceiling, as a bar shows them."""
    speed = decode(row)
    return Span(speed.low_tok_s, speed.high_tok_s, speed.ceiling_tok_s) if speed else None


def _device(ranked: Ranked) -> str:
    return f"{ranked.name}\n{_tr('this machine') if ranked.here else ranked.id}"


def _said_tier(ranked: Ranked) -> str:
    tier = ranked.estimate.tier
    return ew.tier_words(tier) if tier else DASH


def _range(ranked: Ranked) -> str:
    decode, reasons = ranked.estimate.decode, ranked.estimate.reasons
    if decode is not None:
        return f"{printed.span(decode)}\n{ew.estimate_at(ranked.estimate.use.depth + 1)}"
    return ew.short(reasons[0]) if reasons else DASH


def _memory(ranked: Ranked, unit: int) -> str:
    need, usable = printed.memory(ranked.need_bytes, unit), ranked.usable_bytes
    if usable is None:
        return need
    return _tr("{need}\nof {usable}").format(need=need, usable=printed.memory(usable, unit))


def _quant_range(row: QuantRow) -> str:
    estimate = row.estimate
    if estimate is None or estimate.decode is None:
        return _why(row)
    return f"{printed.span(estimate.decode)}\n{ew.estimate_at(estimate.use.depth + 1)}"


def _why(row: QuantRow) -> str:
    return ew.short(row.reason) if row.reason else DASH


def _prompt(row: QuantRow) -> str:
    estimate = row.estimate
    if estimate is None or estimate.prompt is None:
        return DASH
    first = estimate.first_token_s
    below = "" if first is None else f"\n{printed.seconds(first)} s"
    return printed.span(estimate.prompt) + below


def _bytes(count: int | None) -> str:
    return DASH if count is None else f"{count:,}"


def _tr(text: str) -> str:
    return QCoreApplication.translate("EstimateTables", text)
