"""The machine's parts from the press of the button to the kept statement."""

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from desktop.bench.parts_protocol import PartsJob
from desktop.bench.process import WorkerProcess
from desktop.machine.cores import usable_cores
from desktop.records.events import PartsFinished, Phase, RunEvent
from desktop.records.parts import Parts, PartsPlan, PartsRequest
from desktop.rules.parts_rates import rates_of
from desktop.rules.statements import PARTS_TYPE, parts_payload
from desktop.services.attempt import Attempt, Outside
from desktop.services.parts_measurement import PartsMeasurement
from desktop.sources.cpu_caches import last_level_cache_bytes

log = logging.getLogger(__name__)
SILENCE_S: Final = 60.0
"""A device may compile its programs for long before it says anything."""


class PartsSession(Attempt):
    """One measurement of the parts. `run` blocks, on the run thread; `cancel` from any thread."""

    def __init__(
        self, request: PartsRequest, outside: Outside, post: Callable[[RunEvent], None]
    ) -> None:
        super().__init__(outside, post)
        self._request = request

    def run(self) -> PartsFinished:
        """Measure, sign, keep.

        Raises:
            GramError: why there is no result; nothing is kept then.
        """
        with self.turn(wait=self._request.wait):
            return self._measure()

    def _measure(self) -> PartsFinished:
        self.say(Phase.PREPARING)
        signer = self.open_signer(self._request.signing, self._request.key_file)
        machine = self.find_machine()
        plan = self._plan()
        log.info("measuring the parts")
        parts = PartsMeasurement(machine, plan, self._new_worker, self._post).take()
        self.check()
        if signer is None:
            return _finished(parts, None, None)
        statement_id = self.keep(signer, PARTS_TYPE, partial(parts_payload, parts))
        return _finished(parts, statement_id, signer.key_id)

    def _plan(self) -> PartsPlan:
        request = self._request
        plan = PartsPlan(
            threads=request.threads or usable_cores(),
            last_level_cache_bytes=last_level_cache_bytes(),
        )
        limit_s = request.time_limit_s
        return plan if limit_s is None else replace(plan, time_limit_s=limit_s)

    def _new_worker(self, job: PartsJob) -> WorkerProcess:
        log_file, fault = self.outside.paths.worker_log, self.outside.fault
        worker = WorkerProcess(job, log_file, fault, silence_s=SILENCE_S)
        self.made(worker)
        return worker


def _finished(parts: Parts, statement_id: str | None, key_id: str | None) -> PartsFinished:
    return PartsFinished(parts, rates_of(parts), statement_id, key_id)
