"""What the terminal's options take that click has no type for, and how they are suggested."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

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


def known_fault(_context: click.Context, _option: click.Parameter, name: str | None) -> str | None:
    """A fault that the worker knows."""
    from desktop.bench.faults import NAMES  # noqa: PLC0415

    if name is not None and name not in NAMES:
        raise click.BadParameter(f"there are: {', '.join(NAMES)}")
    return name


def not_empty(_context: click.Context, _option: click.Parameter, name: str | None) -> str | None:
    """A name, as it is: of blanks alone it names nothing, and nobody means it."""
    if name is not None and not name.strip():
        raise click.BadParameter("it is empty. Name one, or leave the option out.")
    return name


class Command(click.Command):
    """One whose hidden options are for tests: nobody is led to them by a slip of the keyboard."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click's; a misspelt option gets suggestions of those that the help shows."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as e:
            shown = [
                o for p in self.get_params(ctx) if not getattr(p, "hidden", False) for o in p.opts
            ]
            raise click.NoSuchOption(e.option_name, possibilities=shown, ctx=e.ctx) from e


class Commands(click.Group):
    """A group of such commands."""

    command_class = Command
    otherwise: ClassVar[Mapping[str, str]] = {}
    """What other programs call a command, and its name here."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's; the name that another program has for a command gets this one suggested."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as e:
            meant = self.otherwise.get(e.command_name)
            if meant is None:
                raise
            # the possibilities of an error are those alike in spelling: these are not
            message = f"{e.message} Did you mean '{meant}'?"
            raise click.NoSuchCommand(e.command_name, message, ctx=e.ctx) from e


class Whole(click.IntRange):
    """A whole number within a range."""

    name = "whole number"


class Seconds(click.FloatRange):
    """A number within a range, most often a time."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Seconds; a range alone lets NaN pass."""
        seconds: float = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return seconds
