"""Which build a run measured, and what its tokens asked of the devices."""

import logging
from collections.abc import Iterable, Iterator
from statistics import median
from typing import Final

from desktop.builds.split_sets import read_whole
from desktop.errors import GramError
from desktop.estimate.calibration import Work
from desktop.estimate.evidence import reason_against
from desktop.estimate.machine_state import State
from desktop.estimate.placement import ON_HOST, Placement
from desktop.estimate.sizes import is_size_of, weights_of
from desktop.estimate.token_work import Asked, device_works
from desktop.paths import Paths
from desktop.records.build import Build
from desktop.records.estimate import Use
from desktop.records.run import TG128, Run, SpeedTest
from desktop.services.asked import asked_of, quant_of
from desktop.services.build_names import is_named, likeliest
from desktop.services.profiles import models
from desktop.services.results import builds_here
from desktop.services.this_machine import Devices

log = logging.getLogger(__name__)
_NEWEST: Final = 5
"""Runs of a file whose median is its rate."""
_PARAMETERS_ALIKE: Final = 0.002
"""A run's build is the catalogue's model where their parameters differ by less."""


class RunBuilds:
    """What runs' tokens asked of the devices: by the file's header, or by the catalogue.

    Bytes are never taken from a statement: it could make any rate look possible.
    """

    def __init__(self, paths: Paths, devices: Devices) -> None:
        self._paths, self._devices = paths, devices
        self._files: dict[str, Asked] | None = None
        self._listed: dict[Build, Asked | None] = {}
        self._works: dict[tuple[Build, SpeedTest, bool], tuple[Work, ...] | None] = {}

    def of(self, run: Run, test: SpeedTest) -> tuple[Work, ...] | None:
        """None where neither tells the build's tensors."""
        on_cards = bool(self._devices.cards) and run.engine.gpu_layers != 0
        key = (run.build, test, on_cards)
        if key not in self._works:
            self._works[key] = self._worked_out(run, test, on_cards=on_cards)
        return self._works[key]

    def asked(self, run: Run) -> Asked | None:
        """The build of a run."""
        return self._here().get(run.build.sha256) or self._of_catalogue(run)

    def _worked_out(self, run: Run, test: SpeedTest, *, on_cards: bool) -> tuple[Work, ...] | None:
        asked = self.asked(run)
        if asked is None:
            return None
        depth = test.n_gen // 2 if test.n_gen else test.n_prompt
        use = Use(context=test.n_tokens, depth=depth)
        placement = Placement(tuple(map(float, self._devices.room.cards))) if on_cards else ON_HOST
        try:
            return device_works([c.name for c in self._devices.cards], asked, use, placement)
        except GramError as e:
            log.info("the run of %s does not count: %s", run.build.name, e)
            return None

    def _of_catalogue(self, run: Run) -> Asked | None:
        if run.build not in self._listed:
            self._listed[run.build] = _of_catalogue(run.build)
        return self._listed[run.build]

    def measured(
        self, runs: Iterable[Run], state: State
    ) -> dict[tuple[str, str], tuple[str, float]]:
        """The rates of the catalogue's builds that were measured: of each, the newest file's.

        It is the median of that file's newest runs that count: one that something disturbed is no
        build's rate. Only of builds that are named as the model is: others of its shapes say how
        fast it would be, but were not it.

        Args:
            runs: newest first.
            state: of the machine now, with the memory that runs are judged by.
        """
        found: dict[tuple[str, str], tuple[str, list[float]]] = {}
        for run in runs:
            asked, rate = self._of_catalogue(run), run.rate(TG128.name)
            if asked is None or rate is None or run.build.synthetic:
                continue
            if not is_named(asked.model, run.build):
                continue
            if reason_against(run, state, self.of) is None:
                key = (asked.model.id, asked.quant.id)
                sha256, rates = found.setdefault(key, (run.build.sha256, []))
                rates += [rate.median_tok_s] if sha256 == run.build.sha256 else []
        return {key: (sha256, median(rates[:_NEWEST])) for key, (sha256, rates) in found.items()}

    def _here(self) -> dict[str, Asked]:
        if self._files is None:
            self._files = dict(_files(self._paths))
        return self._files


def _files(paths: Paths) -> Iterator[tuple[str, Asked]]:
    """The builds that are on the disk, by sha256."""
    for local in builds_here(paths):
        try:
            asked = asked_of(
                read_whole(local.path).header, local.build.quantization, local.build.sha256
            )
        except GramError as e:
            log.info("%s tells too little: %s", local.build.name, e)
            continue
        yield local.build.sha256, asked


def _of_catalogue(build: Build) -> Asked | None:
    """The model of the same architecture and size, if there is one, in the build's quantization.

    None also where the file's size is not that of the two: then it is some other build.
    """
    quant = quant_of(build.quantization)
    alike = [
        m
        for m in models()
        if m.architecture == build.architecture
        and abs(m.parameters - build.parameters) <= _PARAMETERS_ALIKE * m.parameters
    ]
    if quant is None or not alike:
        return None
    best = likeliest(alike, build)
    weights = weights_of(best, quant)
    if not is_size_of(build.size_bytes, best, weights):
        log.info("%s has not the size of %s in %s", build.name, best.id, quant.label)
        return None
    return Asked(best, quant, weights, build.sha256)
