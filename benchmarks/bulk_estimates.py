"""How long all estimates take: models x quantizations x devices, at growing sizes.

    python benchmarks/bulk_estimates.py [--repetitions 5]

Printed are, for each size, the seconds to count the models' bytes (once a catalogue, first time in
a process), the seconds to estimate speeds and fits (each time the context changes; the median of
the repetitions), and nanoseconds for each estimate: no slower than linear when that does not grow.
The catalogue is repeated where it is smaller than a size.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Final, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from desktop import resources
from desktop.estimate.bulk import asked, bulk
from desktop.estimate.catalogue import (
    DEVICES,
    MODELS,
    QUANTS,
    read_configurations,
    read_models,
    read_quants,
)
from desktop.estimate.targets import RESOURCE, read_targets
from desktop.records.estimate import Use

SIZES: Final = ((15, 24, 250), (30, 24, 250), (60, 24, 250), (120, 24, 250), (240, 24, 500))
"""The fourth is what is promised under a second."""
USE: Final = Use(context=8192, depth=4096)
_T = TypeVar("_T")


def several(entries: Sequence[_T], count: int) -> list[_T]:
    """`count` entries, from the start again where there are fewer."""
    return [entries[i % len(entries)] for i in range(count)]


def main() -> int:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    models = read_models(resources.text(MODELS))
    quants = read_quants(resources.text(QUANTS))
    configurations = read_configurations(resources.text(DEVICES))
    targets = read_targets(resources.text(RESOURCE))
    print(f"catalogue: {len(models)} models, {len(quants)} quantizations, "
          f"{len(configurations)} configurations")  # fmt: skip
    for count, columns, devices in SIZES:
        # other names, so that nothing was counted before
        chosen = [replace(m, id=f"{m.id}-{count}") for m in several(models, count)]
        start = time.perf_counter()
        what = asked(chosen, several(quants, columns))
        counted = time.perf_counter() - start
        here = several(configurations, devices)
        times = []
        for _ in range(options.repetitions):
            start = time.perf_counter()
            bulk(what, here, targets, USE)
            times.append(time.perf_counter() - start)
        cells = count * columns * devices
        each = median(times) / cells * 1e9
        print(f"{count:4d} x {columns} x {devices} = {cells:8,d}: bytes {counted:6.3f} s, "
              f"estimates {median(times):6.3f} s, {each:5.0f} ns each")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
