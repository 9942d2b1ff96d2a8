"""The line of kept parts in a list of results."""

from collections.abc import Iterable, Sequence

from desktop.records.parts import PartRate, Parts, PartsOfDevice, PartsRow, PartTest
from desktop.records.statement import Statement
from desktop.rules.notes import notes_of_parts
from desktop.rules.parts_rates import READING, caches_may_help, rates_of


def parts_row(statement: Statement, parts: Parts) -> PartsRow:
    """What is listed of a machine's parts.

    Args:
        statement: verified, of type `PARTS_TYPE`.
        parts: what `parts_from_body` made of its body.
    """
    rates = rates_of(parts)
    described = {device.name: device.description for device in parts.devices}
    measured = dict.fromkeys(rate.device for rate in rates)
    return PartsRow(
        id=statement.id,
        key_id=statement.key_id,
        at=parts.started_at,
        engine=f"{parts.engine} {parts.engine_version}",
        devices=tuple(_of_device(name, described.get(name), rates) for name in measured),
        notes=notes_of_parts(parts),
    )


def _of_device(name: str, description: str | None, rates: Sequence[PartRate]) -> PartsOfDevice:
    own = [rate for rate in rates if rate.device == name]
    product = _fastest(rate for rate in own if rate.test is PartTest.MATMUL_F16)
    memory = _fastest(rate for rate in own if rate.test in READING)
    return PartsOfDevice(name, description, product, memory)


def _fastest(rates: Iterable[PartRate]) -> PartRate | None:
    """One that caches may have helped only where there is no other."""
    return max(rates, key=lambda rate: (not caches_may_help(rate), rate.median), default=None)
