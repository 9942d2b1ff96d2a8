"""Which build a run measured, and what its tokens asked of the devices."""

import logging
import re
from collections.abc import Iterable, Iterator
from typing import Final

from desktop.builds.header import read_header
from desktop.errors import GramError
from desktop.estimate.calibration import Work
from desktop.estimate.evidence import reason_against
from desktop.estimate.header_model import model_of
from desktop.estimate.machine_state import State
from desktop.estimate.placement import ON_HOST, Placement
from desktop.estimate.sizes import from_header, weights_of
from desktop.estimate.token_work import Asked, device_works
from desktop.paths import Paths
from desktop.records.build import Build
from desktop.records.estimate import Use
from desktop.records.model import Model, Quant
from desktop.records.run import TG128, Run, SpeedTest
from desktop.services import estimate_tables
from desktop.services.profiles import models
from desktop.services.results import builds_here
from desktop.services.this_machine import Devices

log = logging.getLogger(__name__)
_PARAMETERS_ALIKE: Final = 0.002
"""A run's build is the catalogue's model where their parameters differ by less."""
_WORD: Final = re.compile(r"[a-z0-9.]+")


class RunBuilds:
    """What runs' tokens asked of the devices: by the file's header, or by the catalogue."""

    def __init__(self, paths: Paths, devices: Devices) -> None:
        self._paths, self._devices = paths, devices
        self._files: dict[str, Asked] | None = None
        self._asked: dict[Build, Asked | None] = {}

    def of(self, run: Run, test: SpeedTest) -> tuple[Work, ...] | None:
        """None where neither tells the build's tensors."""
        asked = self.asked(run)
        if asked is None:
            return None
        depth = test.n_gen // 2 if test.n_gen else test.n_prompt
        use = Use(context=test.n_tokens, depth=depth)
        cards = self._devices.cards
        on_cards = bool(cards) and run.engine.gpu_layers != 0
        placement = Placement(tuple(map(float, self._devices.room.cards))) if on_cards else ON_HOST
        try:
            return device_works([card.name for card in cards], asked, use, placement)
        except GramError as e:
            log.info("the run of %s does not count: %s", run.build.name, e)
            return None

    def asked(self, run: Run) -> Asked | None:
        """The build of a run."""
        if run.build not in self._asked:
            found = self._here().get(run.build.sha256) or _of_catalogue(run)
            self._asked[run.build] = found
        return self._asked[run.build]

    def measured(
        self, runs: Iterable[Run], state: State
    ) -> dict[tuple[str, str], tuple[str, float]]:
        """The newest rates of the catalogue's builds, of runs that count.

        Only of builds that are named as the model is: others of its shapes say how fast it would
        be, but were not it.
        """
        found: dict[tuple[str, str], tuple[str, float]] = {}
        for run in runs:
            asked, rate = _of_catalogue(run), run.rate(TG128.name)
            if asked is None or rate is None or run.build.synthetic:
                continue
            if not _is_named(asked.model, run.build):
                continue
            if reason_against(run, state, self.of) is None:
                key = (asked.model.id, asked.quant.id)
                found.setdefault(key, (run.build.sha256, rate.median_tok_s))
        return found

    def _here(self) -> dict[str, Asked]:
        if self._files is None:
            self._files = dict(_files(self._paths))
        return self._files


def _files(paths: Paths) -> Iterator[tuple[str, Asked]]:
    """The builds that are on the disk, by sha256."""
    for local in builds_here(paths):
        try:
            header = read_header(local.path)
            model, weights = model_of(header), from_header(header)
        except GramError as e:
            log.info("%s tells too little: %s", local.build.name, e)
            continue
        quant = _quant(local.build.quantization) or estimate_tables.quants()[0]
        yield local.build.sha256, Asked(model, quant, weights, local.build.sha256)


def _of_catalogue(run: Run) -> Asked | None:
    """The model of the same architecture and size, if there is one, in the run's quantization."""
    build, quant = run.build, _quant(run.build.quantization)
    alike = [
        m
        for m in models()
        if m.architecture == build.architecture
        and abs(m.parameters - build.parameters) <= _PARAMETERS_ALIKE * m.parameters
    ]
    if quant is None or not alike:
        return None
    told = _words_of(build)
    best = max(alike, key=lambda m: _likeness(m, told))
    weights = weights_of(best, quant, file_bytes=build.size_bytes)
    return Asked(best, quant, weights, build.sha256)


def _likeness(model: Model, told: frozenset[str]) -> tuple[int, int]:
    """How well a model's id goes with a build's words: equal shapes have several models."""
    words = _words(model.id)
    return len(words & told), -len(words - told)


def _is_named(model: Model, build: Build) -> bool:
    """Whether all words of one of the model's names are among the build's."""
    names = (model.id, model.name, *(alias.rpartition("/")[2] for alias in model.aliases))
    told = _words_of(build)
    return any(_words(name) <= told for name in names)


def _words_of(build: Build) -> frozenset[str]:
    """What a build is called, by its file and by its header, without its quantization."""
    name, label = build.name.casefold(), (build.quantization or "").casefold()
    return _words(f"{name.replace(label, ' ') if label else name} {build.model_name or ''}")


def _words(text: str) -> frozenset[str]:
    """Versions stay whole: `3.1` is not `3`."""
    return frozenset(word.strip(".") for word in _WORD.findall(text.casefold())) - {""}


def _quant(label: str | None) -> Quant | None:
    folded = (label or "").casefold()
    return next(
        (q for q in estimate_tables.quants() if (q.file_type or "").casefold() == folded), None
    )
