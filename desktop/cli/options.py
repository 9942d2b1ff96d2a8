"""What the terminal's options take that click has no type for."""

import math
from typing import Any

import click


def speed_tests(
    _context: click.Context, _option: click.Parameter, names: str | None
) -> tuple[Any, ...] | None:
    """`pp16,tg4` as speed tests."""
    from desktop.records.run import SpeedTest  # noqa: PLC0415

    try:
        tests = tuple(SpeedTest.named(n) for n in names.split(",")) if names else None
    except ValueError as e:
        raise click.BadParameter("write them as pp512,tg128") from e
    if tests and len(set(tests)) != len(tests):
        raise click.BadParameter("name each test once")
    return tests


class Seconds(click.FloatRange):
    """A time within a range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Seconds; a range alone lets NaN pass."""
        seconds: float = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return seconds
