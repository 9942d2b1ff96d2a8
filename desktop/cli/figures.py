"""Figures as the terminal prints them: three significant, a dash where nothing was measured."""

from desktop.records.energy import Energy
from desktop.records.run import Rate

DASH = "—"


def number(value: float) -> str:
    """Three significant figures, never in powers of ten: `0.0712`, `48.3`, `1230`."""
    if value == 0:
        return "0"
    digits = f"{value:.3g}"
    return f"{float(digits):,.0f}" if abs(float(digits)) >= 100 else f"{float(digits):#.3g}"  # noqa: PLR2004


def spread(value: float | None) -> str:
    """`± 1.2 %`; empty when there were too few repetitions to tell."""
    return f"± {100 * value:.1f} %" if value is not None else ""


def rate(value: Rate | None) -> str:
    """`48.3 tok/s ± 1.2 %`."""
    if value is None:
        return DASH
    return f"{number(value.median_tok_s)} tok/s {spread(value.spread)}".rstrip()


def speed(value: float | None, value_spread: float | None) -> str:
    """A rate in a table whose head names the unit."""
    return f"{number(value)} {spread(value_spread)}".rstrip() if value is not None else DASH


def size(count_bytes: int | None) -> str:
    """Decimal: `98.4 MB`, `25.2 GB`."""
    if count_bytes is None:
        return DASH
    for factor, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count_bytes >= factor:
            return f"{number(count_bytes / factor)} {unit}"
    return f"{count_bytes} B"


def source(energy: Energy) -> str:
    """Where the joules come from: `sensor (NVML)` or `modelled (CPU load)`."""
    return f"{energy.meter.source} ({energy.meter.name})"
