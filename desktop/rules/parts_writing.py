"""A machine's parts as the JSON that is signed. Only what is written out here is ever signed."""

from desktop.records.parts import Part, Parts, PartSkip, PartsPlan
from desktop.rules.machine_writing import (
    Fields,
    conditions_fields,
    device_fields,
    known,
    machine_fields,
)
from desktop.rules.signed_text import clean, shortened


def parts_fields(parts: Parts) -> Fields:
    """Everything of a machine's parts that is signed; a missing value is a missing key.

    Raises:
        ValueError: a text is too long.
    """
    return {
        "machine": machine_fields(parts.machine),
        "engine": {
            "name": clean(parts.engine),
            "version": clean(parts.engine_version),
            "devices": [device_fields(d) for d in parts.devices],
        },
        "plan": _plan(parts.plan),
        "parts": [_part(p) for p in parts.parts],
        "skipped": [_skip(s) for s in parts.skipped],
        "before": conditions_fields(parts.before),
        "after": conditions_fields(parts.after),
        "started_at": parts.started_at,
    }


def _plan(plan: PartsPlan) -> Fields:
    return known(
        threads=plan.threads,
        min_repetitions=plan.min_repetitions,
        max_repetitions=plan.max_repetitions,
        target_spread=plan.target_spread,
        time_limit_s=plan.time_limit_s,
        last_level_cache_bytes=plan.last_level_cache_bytes,
    )


def _part(part: Part) -> Fields:
    return known(
        device=shortened(part.device),
        test=part.test.value,
        threads=part.threads,
        work=part.work,
        durations_ns=list(part.durations_ns),
        shape=list(part.shape),
    )


def _skip(skip: PartSkip) -> Fields:
    return known(
        device=shortened(skip.device),
        test=skip.test.value,
        threads=skip.threads,
        why=skip.why.value,
    )
