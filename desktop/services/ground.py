"""What is known of this machine for its estimates: read once, on the slow-calls thread."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from desktop.errors import Reason
from desktop.estimate.bounds import Memory
from desktop.estimate.calibration import DeviceRates, device_rates, less_sure
from desktop.estimate.doubt import Doubt, by_parts, doubt_of, in_spite_of, judged, most_bytes_s
from desktop.estimate.evidence import Evidence, evidence_of, left_out_reason
from desktop.estimate.here import Here
from desktop.estimate.machine_state import State
from desktop.estimate.token_work import HOST
from desktop.machine.cores import usable_cores
from desktop.paths import Paths
from desktop.records.machine import Device, Machine
from desktop.records.parts import Parts
from desktop.rules.caches import many_caches_bytes
from desktop.rules.fields import Fields
from desktop.rules.kind import kind_label
from desktop.rules.machine_reading import machine_from
from desktop.rules.machine_writing import machine_fields
from desktop.services.facts import MachineFacts, machine_facts
from desktop.services.ground_parts import UsedParts, used_parts
from desktop.services.rehearsals import sweep_left
from desktop.services.results import kept_runs
from desktop.services.run_builds import RunBuilds
from desktop.services.this_machine import Devices, devices_of
from desktop.services.unused_cards import unused_cards
from desktop.sources.cpu_caches import last_level_cache_bytes

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ground:
    """What is known of this machine; read once."""

    here: Here
    kind: str
    devices: tuple[Device, ...]
    threads: int
    on_card_bytes: int | None
    with_offload_bytes: int | None
    parts_at: str | None
    computes_bf16: bool | None
    """None: no source tells."""
    measured: Mapping[tuple[str, str], tuple[str, float]]
    """Of a model and a quantization of the catalogue: the sha256 of a build of it that was measured
    here as the machine is now, and the median of its newest runs, tok/s."""
    told: tuple[Reason, ...]


def read_ground(
    paths: Paths, parts: Parts | None = None, facts: MachineFacts | None = None
) -> Ground:
    """Detect the machine, ask the engine, read the ledger.

    Args:
        paths: the profile.
        parts: just measured and not kept; None: the newest that the ledger holds.
        facts: of the machine, where they are known already; None: detected now.

    Raises:
        GramError: the ledger or the tables cannot be read.
    """
    sweep_left(paths)
    found = facts or machine_facts(paths)
    devices = devices_of(found.machine, found.engine.devices if found.engine else ())
    state = _state(found, devices, usable_cores())
    return _ground(paths, found, devices, state, used_parts(paths, parts, state))


def _ground(
    paths: Paths, facts: MachineFacts, devices: Devices, state: State, used: UsedParts
) -> Ground:
    parts, cache_bytes = used.parts, last_level_cache_bytes()
    known = _device_rates(devices, used, state.threads, cache_bytes)
    state = replace(
        state,
        memory=_memory(devices, used, known, cache_bytes),
        flops=_flops(devices, known),
    )
    builds, runs = RunBuilds(paths, devices), tuple(kept_runs(paths))
    state = judged(runs, state, builds.of)
    seconded = used.seconded or set(state.devices) <= set(devices.bandwidths)
    doubt = doubt_of(runs, state, by_parts(known, state), builds.of, seconded=seconded)
    known = in_spite_of(doubt, known)
    evidence = evidence_of(runs, state, known, builds.of)
    memory = evidence.memory or state.memory
    lacking = _none_follows(used, known, doubt, state.threads)
    here = Here(
        name=facts.kind,
        room=devices.room,
        cards=tuple(card.name for card in devices.cards),
        bandwidths={name: of.bandwidth_bytes_s for name, of in memory.items()},
        rates=known,
        evidence=evidence,
        sides=devices.sides,
        # who has just measured the parts is not told to measure them
        why_no_sides=(not devices.cards and lacking) or devices.why_no_sides,
        why_catalogue=Reason("estimate_parts_no_rate" if parts else "estimate_no_parts", {}),
        targets=_targets(devices),
        beside=_beside(parts, facts),
    )
    return Ground(
        here=here,
        kind=facts.kind,
        devices=devices.cards or tuple(_processor(facts)),
        threads=state.threads,
        on_card_bytes=facts.answers.on_card_bytes,
        with_offload_bytes=facts.answers.with_offload_bytes,
        parts_at=parts.started_at if parts else None,
        computes_bf16=devices.computes_bf16,
        measured=builds.measured(runs, state),
        told=_told(facts, evidence, used, doubt, lacking),
    )


def _none_follows(
    used: UsedParts, known: Mapping[str, DeviceRates], doubt: Doubt | None, threads: int
) -> Reason | None:
    """Why no rate follows from parts that were measured; None where one does."""
    if used.parts is None or known:
        return None
    busy = next((told for told in used.told if told.code == "estimate_parts_busy"), None)
    doubted = doubt.told if doubt else None
    return busy or doubted or Reason("estimate_parts_lacking", {"threads": threads})


def _told(
    facts: MachineFacts,
    evidence: Evidence,
    used: UsedParts,
    doubt: Doubt | None,
    lacking: Reason | None,
) -> tuple[Reason, ...]:
    """What is said once of all estimates."""
    # the last two of what was given up: the engine, and why
    silent = facts.given_up[-2:] if facts.engine is None else ()
    parts = (*used.told, *((doubt.told,) if doubt else ()))
    none = (lacking,) if lacking and lacking not in parts else ()
    left = left_out_reason(evidence.left_out)
    unused = unused_cards(facts.machine, facts.engine)
    return (*silent, *unused, *parts, *none, *((left,) if left else ()))


def _device_rates(
    devices: Devices, used: UsedParts, threads: int, cache_bytes: int | None
) -> dict[str, DeviceRates]:
    rates = used.rates
    host = device_rates(rates, HOST, threads, last_level_cache_bytes=cache_bytes)
    found = {HOST: less_sure(host, used.disturbed) if host else None}
    for card in devices.cards:
        target = devices.targets.get(card.name)
        layer = target.efficiencies[0][1].layer_s if target else None
        found[card.name] = device_rates(rates, card.name, None, layer=layer)
    return {name: known for name, known in found.items() if known is not None}


def _memory(
    devices: Devices,
    used: UsedParts,
    known: Mapping[str, DeviceRates],
    cache_bytes: int | None,
) -> dict[str, Memory]:
    """The larger of the catalogue's and the measured: what was reached once can be reached."""
    types = {name: most_bytes_s(of) for name, of in known.items()}
    told = (devices.bandwidths, used.bandwidths, types)
    host = many_caches_bytes(cache_bytes)
    return {
        name: Memory(
            bandwidth_bytes_s=max(found.get(name, 0.0) for found in told),
            cached_below_bytes=host if name == HOST else many_caches_bytes(None),
        )
        for name in {name for found in told for name in found}
    }


def _flops(devices: Devices, known: Mapping[str, DeviceRates]) -> dict[str, float]:
    """Of large products of F16: the larger of the measured and the catalogue's peak."""
    found = {name: of.flops or 0.0 for name, of in known.items()}
    for sides in devices.sides.values():
        for card, side in zip(devices.cards, sides.cards, strict=True):
            peak = side.configuration.fp16_flops or 0.0
            found[card.name] = max(found.get(card.name, 0.0), peak)
    return {name: flops for name, flops in found.items() if flops}


def _state(facts: MachineFacts, devices: Devices, threads: int) -> State:
    engine, machine = facts.engine, _as_signed(facts.machine)
    return State(
        kind=kind_label(machine),
        cpu=machine.cpu.name,
        engine=engine.engine if engine else "",
        engine_version=engine.version if engine else "",
        devices=tuple(card.name for card in devices.cards) or (HOST,),
        threads=threads,
        supply=facts.conditions.power_supply,
        cards={card.name: card.description for card in devices.cards},
        ram_bytes=machine.ram_bytes,
        modules=machine.modules,
    )


def _as_signed(machine: Machine) -> Machine:
    """As statements tell it, which are compared with it: with texts shortened."""
    return machine_from(Fields(machine_fields(machine)))


def _targets(devices: Devices) -> dict[str, str]:
    first = devices.cards[0].name if devices.cards else HOST
    target = devices.targets.get(first)
    return dict.fromkeys((f for f, _ in target.efficiencies), target.id) if target else {}


def _beside(parts: Parts | None, facts: MachineFacts) -> tuple[Reason, ...]:
    """Parts of an older engine still say most, but not all."""
    now = facts.engine.version if facts.engine else None
    if parts is None or now is None or parts.engine_version == now:
        return ()
    return (Reason("estimate_parts_old", {"found": parts.engine_version, "now": now}),)


def _processor(facts: MachineFacts) -> Iterable[Device]:
    return (d for d in (facts.engine.devices if facts.engine else ()) if d.name == HOST)
