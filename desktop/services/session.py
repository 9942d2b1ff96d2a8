"""One run from the press of the button to the kept result: brings the rooms together."""

import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from desktop.bench.process import WorkerProcess
from desktop.bench.protocol import Job
from desktop.builds.own_builds import own_builds
from desktop.builds.reference import obtain_reference, reference
from desktop.builds.same_files import refuse_replaced
from desktop.builds.split_sets import read_whole
from desktop.builds.store import Named
from desktop.errors import BenchError
from desktop.machine.cores import usable_cores
from desktop.machine.memory import memory_bytes
from desktop.machine.merge import with_engine
from desktop.paths import Paths
from desktop.records.build import LocalBuild
from desktop.records.estimate import Use
from desktop.records.events import BuildKnown, Devices, Phase, RunEvent, RunFinished
from desktop.records.machine import CARD_KINDS, Device, DeviceKind, Machine
from desktop.records.on_disk import FoundBuild
from desktop.records.request import REFERENCE, RunRequest
from desktop.records.run import Plan, Run
from desktop.rules.statements import RUN_TYPE, run_payload
from desktop.services.attempt import Attempt, Outside
from desktop.services.facts import engine_devices
from desktop.services.measurement import Measurement
from desktop.services.named_builds import (
    identify_build,
    locate_build,
    note_use,
    others_here,
)
from desktop.services.power_watch import PowerWatch
from desktop.services.unused_cards import card_backends

log = logging.getLogger(__name__)
_CHOOSABLE: Final = CARD_KINDS | {DeviceKind.SOFTWARE}


class Session(Attempt):
    """One run. `run` blocks, on the run thread; `cancel` is safe from any thread."""

    def __init__(
        self, request: RunRequest, outside: Outside, post: Callable[[RunEvent], None]
    ) -> None:
        super().__init__(outside, post)
        self._request = request
        self._named: Named | None = None
        """What was asked for; None: the reference build."""

    def run(self) -> RunFinished:
        """Measure, sign, keep.

        Raises:
            GramError: why there is no result; nothing of the run is kept then.
        """
        with self.turn(wait=self._request.wait) as paths:
            return self._measure(paths)

    def _measure(self, paths: Paths) -> RunFinished:
        self.say(Phase.PREPARING)
        if not self._wants_reference():
            # a file that is no build is told before a keychain asks for a password
            wanted, called = self._request.build, self._request.called
            self._named = self.slowly(lambda: locate_build(paths, wanted, called))
            read_whole(self._named.path)
        signer = self.open_signer(self._request.signing, self._request.key_file)
        local = self._find_build(paths)
        note_use(paths, local)
        self._post(BuildKnown(local.build))
        engine = engine_devices(paths, self.made)
        # what is signed of cards is what the engine can use of them
        machine = with_engine(self.find_machine(), engine.devices)
        plan = self._plan()
        cards = self._cards(plan, machine, engine)
        self._check_memory(local, plan, cards)
        log.info("measuring %s", local.build.name)
        run = self._benchmark(local, machine, plan, cards)
        self.check()
        refuse_replaced(local, self._fetching)
        if signer is None:
            return RunFinished(run, None, None)
        statement_id = self.keep(signer, RUN_TYPE, partial(run_payload, run))
        note_use(paths, local)
        return RunFinished(run, statement_id, signer.key_id)

    def _find_build(self, paths: Paths) -> LocalBuild:
        if self._named is not None:
            return identify_build(paths, self._named, self._fetching)
        # requests: on the run thread, not where the window comes up
        from desktop.services.reference_fetch import fetch_as_set  # noqa: PLC0415

        local, reason = obtain_reference(
            paths,
            environment=self.outside.environment,
            progress=self._fetching,
            fetch=fetch_as_set(paths, self.outside.environment),
            here=lambda: self._here(paths),
        )
        if reason is not None:
            self.notice(reason)
        return local

    def _here(self, paths: Paths) -> Iterator[FoundBuild]:
        """Gram's own, then what other programs keep: looked for only when those are asked for."""
        yield from own_builds(paths)
        yield from self.slowly(lambda: others_here(paths))

    def _wants_reference(self) -> bool:
        return self._request.build in {REFERENCE, str(reference().name)}

    def _fetching(self, _done: int, _total: int) -> None:
        """Progress of hashing and downloading; the way out of both when stopped."""
        self.check()

    def _check_memory(self, local: LocalBuild, plan: Plan, cards: tuple[Device, ...]) -> None:
        """Refuse what cannot fit before it drives the machine into swap.

        Only where the processor alone would run it: cards have memory of their own.

        Raises:
            BenchError: `too_large`, with the estimate and what is free.
        """
        _, available = memory_bytes()
        if available is None or cards:
            return
        context = max(test.n_tokens for test in plan.tests)
        use = Use(context, batch=plan.n_batch, micro_batch=plan.n_ubatch)
        # numpy: as above
        from desktop.estimate.memory import host_bytes  # noqa: PLC0415

        need_bytes = host_bytes(read_whole(local.path).header, use)
        if need_bytes > available:
            raise BenchError(
                "too_large",
                name=local.build.name,
                need_gb=f"{need_bytes / 1e9:.1f}",
                free_gb=f"{available / 1e9:.1f}",
            )

    def _benchmark(
        self, local: LocalBuild, machine: Machine, plan: Plan, cards: tuple[Device, ...]
    ) -> Run:
        # a stuck driver must not hold up a Stop
        watch = self.slowly(
            lambda: PowerWatch(machine, cards, self.curves, self._post), PowerWatch.close
        )
        with watch as power:
            power.start(self.wake)
            self.check()
            # a password may have been waited for since it was hashed
            refuse_replaced(local, self._fetching)
            job = Job(os.fspath(local.path), plan)
            worker = WorkerProcess(job, self.outside.paths.worker_log, self.outside.fault)
            self.made(worker)
            with worker:
                return Measurement(
                    local.build, machine, plan, worker, power, self.curves, self._post, cards
                ).take()

    def _cards(self, plan: Plan, machine: Machine, engine: Devices) -> tuple[Device, ...]:
        """The cards that will hold layers.

        Raises:
            BenchError: `no_such_device` when a card was asked for that the engine does not list;
                `card_lost` when it lists none, though it could use the one that is there.
        """
        if plan.gpu_layers == 0:
            return ()
        if plan.devices:
            return chosen_cards(engine.devices, plan.devices)
        cards = tuple(d for d in engine.devices if d.kind in CARD_KINDS)
        if not cards:
            refuse_lost_card(machine, engine)
        return cards

    def _plan(self) -> Plan:
        request = self._request
        plan = Plan(
            tests=request.tests,
            threads=request.threads or usable_cores(),
            gpu_layers=request.gpu_layers,
            devices=request.devices,
        )
        n = request.repetitions
        return plan if n is None else replace(plan, min_repetitions=n, max_repetitions=n)


def chosen_cards(listed: tuple[Device, ...], names: tuple[str, ...]) -> tuple[Device, ...]:
    """The devices of those names, in the order of the list.

    Raises:
        BenchError: `no_such_device`, naming those that there are; `device_no_card` for the
            processor, which the engine lists too.
    """
    cards = {d.name: d for d in listed if d.kind in _CHOOSABLE}
    unknown = next((name for name in names if name not in cards), None)
    if unknown is not None:
        processor = any(d.name == unknown and d.kind is DeviceKind.CPU for d in listed)
        code = "device_no_card" if processor else "no_such_device"
        raise BenchError(code, name=unknown, there=", ".join(cards) or "none")
    return tuple(card for name, card in cards.items() if name in names)


def refuse_lost_card(machine: Machine, engine: Devices) -> None:
    """Where driver or pass-through are lost, the processor's figures would stand as the card's.

    An engine that was built for the processor alone says nothing of the card: it is the only one
    that many have, and what it measures carries its backend and a note.

    Raises:
        BenchError: `card_lost`.
    """
    able = card_backends(engine)
    discrete = next((card for card in machine.accelerators if not card.integrated), None)
    if able and discrete is not None:
        raise BenchError("card_lost", card=discrete.name, backends=", ".join(able))
