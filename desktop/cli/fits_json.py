"""`gram fits --json`: a stable shape; field names as in the records, so units are in them.

`rows` are best first. A row without a rate has `decode` null and its reasons say why.
"""

from desktop.cli.estimate_json import prompt_speed, reason_object
from desktop.cli.plain import Plain, to_plain
from desktop.errors import Reason
from desktop.records.estimate import Tier
from desktop.records.fits import FitRow, Fits
from desktop.records.rehearsal import Rehearsal
from desktop.services.estimates import use_of


def fits(found: Fits) -> dict[str, Plain]:
    """The whole answer."""
    return {
        "format": "gram-fits",
        "version": 1,
        "kind": found.kind,
        "devices": [device.name for device in found.devices],
        "threads": found.threads,
        "context": found.request.context,
        "depth": use_of(found.request).depth,
        "on_card_bytes": found.on_card_bytes,
        "with_offload_bytes": found.with_offload_bytes,
        "parts_at": found.parts_at,
        "runs": found.runs,
        "limits": [reason_object(reason) for reason in found.limits],
        "told": [reason_object(reason) for reason in found.told],
        "rows": [_row(row) for row in found.rows],
        "hidden": found.hidden,
        "beyond": found.beyond,
        "ruled_out": [reason_object(reason) for reason in found.ruled_out],
    }


def rehearsal(found: Rehearsal) -> Plain:
    """What was rehearsed; a range of tier B, no result."""
    return {
        "format": "gram-rehearsal",
        "version": 1,
        "rehearsal": to_plain(found),
        "tier": Tier.B.value,
        "reasons": [reason_object(rehearsed(found))],
    }


def rehearsed(found: Rehearsal) -> Reason:
    """Why its range is as it is."""
    return Reason("estimate_rehearsed", {"at": found.at})


def _row(row: FitRow) -> Plain:
    estimate = row.estimate
    return {
        "model": row.model.id,
        "quant": row.quant.id,
        "quality": row.quant.quality,
        "fit": row.fit.value,
        "size_bytes": row.size_bytes,
        "need": to_plain(estimate.need),
        "need_bytes": estimate.need.total_bytes if estimate.need else None,
        "card_bytes": row.card_bytes,
        "host_bytes": row.host_bytes,
        "gpu_layers": row.gpu_layers,
        "experts_on_host": row.experts_on_host,
        "decode": to_plain(estimate.decode),
        "middle_tok_s": row.middle_tok_s,
        "prompt": prompt_speed(estimate.prompt),
        "first_token_s": to_plain(estimate.first_token_s),
        "measured_tok_s": row.measured_tok_s,
        "tier": estimate.tier.value if estimate.tier else None,
        "target": estimate.target,
        "reasons": [reason_object(reason) for reason in estimate.reasons],
    }
