"""The line of kept parts in a list of results."""

from collections.abc import Sequence

from desktop.records.parts import PartRate, Parts, PartsOfDevice, PartsRow, PartTest
from desktop.records.statement import Statement
from desktop.rules.notes import notes_of_parts
from desktop.rules.parts_rates import rates_of


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
    threads = max((rate.threads for rate in own if rate.threads is not None), default=None)
    # what one thread reaches says little of generating, and a copy writes as well as it reads
    found = {rate.test: rate for rate in own if rate.threads == threads}
    product, reading = found.get(PartTest.MATMUL_F16), found.get(PartTest.MATVEC_F16)
    return PartsOfDevice(name, description, threads, product, reading)
