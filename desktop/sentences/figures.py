"""Numbers and sizes as sentences have them in English; the window writes them by its locale."""

from typing import Final

_UNITS: Final = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


def figure(value: float) -> str:
    """Three significant figures, never in powers of ten: `0.0712`, `48.3`, `1,230`."""
    if value == 0:
        return "0"
    digits = float(f"{value:.3g}")
    return f"{digits:,.0f}" if abs(digits) >= 100 else f"{digits:#.3g}"  # noqa: PLR2004


def size(count_bytes: int) -> str:
    """Decimal, as files are told: `98.4 MB`, `25.2 GB`."""
    for factor, unit in _UNITS:
        if count_bytes >= factor:
            return f"{figure(count_bytes / factor)} {unit}"
    return f"{count_bytes} B"
