"""`gram estimate --json`: a shape of its own, described in docs/estimate-json.md.

Names keep their meaning within a version; new ones may come.
"""

from collections.abc import Iterable
from typing import Final

from desktop.cli.plain import Plain, to_plain
from desktop.errors import Reason
from desktop.estimate import reasons
from desktop.estimate.callouts import Start
from desktop.estimate.device_page import DevicePage, QuantRow
from desktop.estimate.facts import active_parameters, attention_of
from desktop.estimate.layer_bytes import LayerBytes
from desktop.estimate.page import ModelPage, SizeRow
from desktop.estimate.page_row import NoResult, PageRow
from desktop.estimate.ranking import Choice
from desktop.estimate.sheet import Sheet
from desktop.estimate.written_here import WrittenHere
from desktop.estimate.written_line import Line
from desktop.records.estimate import Configuration, Speed
from desktop.records.model import Model, Quant

FORMAT: Final = "gram-estimate"
VERSION: Final = 1


def models(found: Iterable[Model]) -> Plain:
    """The list of models."""
    return _object(models=[_short(model) for model in found])


def model_page(page: ModelPage) -> Plain:
    """One model on all devices."""
    return _object(
        **_asked(page.sheet),
        full_context_tokens=page.full_context,
        model=_model(page.model),
        sizes=[_size(row) for row in page.sizes],
        ranked=[_row(rank, row, page) for rank, row in enumerate(page.rows, 1)],
        without_result=[_no_result(row) for row in page.without],
        start=_start(page.start),
        reasons=[reason_object(reason) for reason in page.meanings],
        related=[_short(model) for model in page.related],
    )


def device_page(sheet: Sheet, page: DevicePage) -> Plain:
    """One model on one device."""
    best, runner_up = page.choice.best, page.choice.runner_up
    return _object(
        **_asked(sheet),
        model=_short(sheet.model),
        device=_device(page.configuration),
        recommended=best.quant.id if best else None,
        runner_up=runner_up.quant.id if runner_up else None,
        reason=_maybe_reason(page.choice.reason),
        quants=[_quant_row(row) for row in page.quants],
        shown=page.shown.id if page.shown else None,
        layers=[_layer(row) for row in page.layers],
        arithmetic=[_line(line) for line in page.arithmetic],
    )


def written(shown: Quant | None, found: WrittenHere | None) -> dict[str, Plain]:
    """What is written out of this machine's answer, named as in `device_page`."""
    return {
        "shown": shown.id if shown and found else None,
        "layers": [_layer(row) for row in found.layers] if found else [],
        "arithmetic": [_line(line) for line in found.arithmetic] if found else [],
    }


def _object(**content: Plain) -> Plain:
    return {"format": FORMAT, "version": VERSION, **content}


def _asked(sheet: Sheet) -> dict[str, Plain]:
    return {
        "profile": sheet.profile.id.value,
        "position_tokens": sheet.use.depth,
        "context_tokens": sheet.use.context,
    }


def _short(model: Model) -> Plain:
    return {
        "id": model.id,
        "name": model.name,
        "parameters": model.parameters,
        "family": model.family,
        "released": model.released,
    }


def _model(model: Model) -> Plain:
    plain = to_plain(model)
    if not isinstance(plain, dict):
        raise TypeError("a record is an object")
    told = {"attention": attention_of(model) or None, "layers": model.layers}
    return {**plain, **told, "active_parameters": active_parameters(model)}


def _size(row: SizeRow) -> Plain:
    quant = row.quant
    return {
        "quant": quant.id,
        "label": quant.label,
        "family": quant.family,
        "bits_per_weight": quant.bits_per_weight,
        "quality": quant.quality,
        "rank": quant.rank,
        "capacity_bytes": row.weights.capacity_bytes,
        "active_bytes": row.weights.active_bytes,
        "basis": row.weights.basis.value,
    }


def _row(rank: int, row: PageRow, page: ModelPage) -> Plain:
    tier = row.estimate.tier
    return {
        "rank": rank,
        "device": row.configuration.id,
        "name": row.configuration.name,
        "quant": row.best.quant.id,
        "target": row.best.target.id,
        "runner_up": row.runner_up.quant.id if row.runner_up else None,
        "quant_at_full_context": _chosen(row.at_full_context),
        "need_bytes": row.best.need_bytes,
        "usable_bytes": row.configuration.usable_bytes,
        "position_tokens": page.sheet.use.depth,
        **_speed(row.speed, row.weights_ceiling_tok_s),
        "tier": tier.value if tier else None,
        "reasons": [reason.code for reason in row.estimate.reasons],
        "price_usd": row.configuration.price_usd,
    }


def _speed(speed: Speed, weights_ceiling_tok_s: float | None = None) -> dict[str, Plain]:
    return {
        "low_tok_s": speed.low_tok_s,
        "high_tok_s": speed.high_tok_s,
        "ceiling_tok_s": speed.ceiling_tok_s,
        **({"weights_ceiling_tok_s": weights_ceiling_tok_s} if weights_ceiling_tok_s else {}),
    }


def prompt_speed(speed: Speed | None) -> Plain:
    """Of a prompt, whose bound is what reading its weights alone would allow: no ceiling to read.

    Arithmetic, not memory, decides there; the bound by memory is many times what any engine does.
    """
    if speed is None:
        return None
    return {"low_tok_s": speed.low_tok_s, "high_tok_s": speed.high_tok_s}


def _chosen(choice: Choice) -> str | None:
    return choice.best.quant.id if choice.best else None


def _no_result(row: NoResult) -> Plain:
    return {**_device(row.configuration), "reason": reason_object(row.reason)}


def _device(configuration: Configuration) -> dict[str, Plain]:
    return {
        "device": configuration.id,
        "name": configuration.name,
        "memory_bytes": configuration.memory_bytes,
        "usable_bytes": configuration.usable_bytes,
        "held_back_bytes": configuration.held_back_bytes,
        "bandwidth_bytes_s": configuration.bandwidth_bytes_s,
        "price_usd": configuration.price_usd,
    }


def _start(start: Start) -> Plain:
    return {
        "smallest": start.smallest.configuration.id if start.smallest else None,
        "cheapest": [
            {
                "rate_tok_s": found.rate_tok_s,
                "device": found.row.configuration.id if found.row else None,
                "price_usd": found.row.configuration.price_usd if found.row else None,
            }
            for found in start.cheapest
        ],
    }


def _quant_row(row: QuantRow) -> Plain:
    estimate = row.estimate
    decode = estimate.decode if estimate else None
    first = estimate.first_token_s if estimate else None
    prompt = estimate.prompt if estimate else None
    return {
        "quant": row.quant.id,
        "target": row.option.target.id if row.option else None,
        "need": to_plain(row.option.need) if row.option else None,
        "need_bytes": row.option.need_bytes if row.option else None,
        "fits": row.option.fits if row.option else None,
        "decode": _speed(decode) if decode else None,
        "prompt": prompt_speed(prompt),
        "first_token_s": to_plain(first),
        "reasons": [reason.code for reason in estimate.reasons] if estimate and decode else [],
        "reason": _maybe_reason(row.reason),
    }


def _layer(row: LayerBytes) -> Plain:
    return {
        "what": ", ".join(said.text() for said in row.what),
        "weight_bytes": row.weight_bytes,
        "read_bytes": row.read_bytes,
        "cache_bytes": row.cache_bytes,
        "cache_read_bytes": row.cache_read_bytes,
    }


def _line(line: Line) -> Plain:
    return {
        "what": ", ".join(said.text() for said in line.what),
        "expression": line.expression,
        "result": line.result,
        "unit": line.unit,
    }


def _maybe_reason(reason: Reason | None) -> Plain:
    return None if reason is None else reason_object(reason)


def reason_object(reason: Reason) -> Plain:
    """A reason as every object of estimates has it."""
    return {
        "code": reason.code,
        "label": reasons.LABELS.get(reason.code),
        "text": reason.text(),
        "advice": reason.advice(),
        "parameters": to_plain(reason.params),
    }
