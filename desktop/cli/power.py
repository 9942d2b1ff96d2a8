"""`gram power`: what reads the watts of this machine, and how many there are now."""

import math
import threading
from collections.abc import Callable
from typing import Final, Protocol

from rich.live import Live
from rich.text import Text

from desktop.cli import figures, show
from desktop.cli.begin import begin_log
from desktop.cli.following import Stopping
from desktop.cli.output import say, say_json
from desktop.cli.plain import to_plain
from desktop.cli.tables import cell, console
from desktop.clock import now_ns
from desktop.paths import Paths, default_paths
from desktop.services.power_facts import PowerFacts, PowerNow, PowerReading, open_reading

ONCE_S: Final = 2.0
"""How long `gram power` reads without `--seconds`."""
WHOLE: Final = 0.98


def run(
    *,
    watch: bool,
    as_json: bool,
    seconds: float | None,
    opened: Callable[[Paths], PowerReading] = open_reading,
) -> int:
    """Show once, or every second until Ctrl+C or for `seconds`; the exit status is 0."""
    paths = default_paths()
    begin_log(paths)
    # opening takes seconds, and Ctrl+C ends it as it ends every program: the handlers come after
    stopped = threading.Event()
    with opened(paths) as reading, Stopping(stopped.set):
        if watch:
            _watch(reading, Seconds(stopped), seconds, as_json=as_json)
        else:
            stopped.wait(seconds or ONCE_S)
            _once(PowerFacts(reading.now(), reading.places), as_json=as_json)
    return 0


class Ticker(Protocol):
    """A clock, and a wait that Ctrl+C ends; tests pass one that does not wait."""

    def clock(self) -> int:
        """Monotonic nanoseconds."""
        ...

    def wait(self, timeout: float) -> bool:
        """Wait until Ctrl+C or until `timeout` seconds have passed; whether it came."""
        ...


class Seconds:
    """The ticker of `gram power`: `stopped` is set by Ctrl+C."""

    def __init__(self, stopped: threading.Event) -> None:
        self._stopped = stopped

    def clock(self) -> int:
        """Monotonic nanoseconds."""
        return now_ns()

    def wait(self, timeout: float) -> bool:
        """Wait until Ctrl+C or until `timeout` seconds have passed; whether it came."""
        return self._stopped.wait(timeout)


def _once(facts: PowerFacts, *, as_json: bool) -> None:
    if as_json:
        say_json(to_plain(facts))
    else:
        show.power(facts)


def _watch(reading: PowerReading, ticker: Ticker, seconds: float | None, *, as_json: bool) -> None:
    """One figure a second; the sum at the end."""
    terminal = console()
    # a terminal that cannot move its cursor gets a line a second, as a pipe does
    if terminal.is_terminal and not terminal.is_dumb_terminal and not as_json:
        with Live(_line(reading.now()), console=terminal, refresh_per_second=2) as live:
            _each_second(ticker, seconds, lambda: live.update(_line(reading.now())))
        say(summary(reading.now()))
        return
    tell = _json_line if as_json else _plain_line
    if not as_json:
        say(f"{figures.meter(reading.now().meter)}: {reading.now().meter.detail}")
    _each_second(ticker, seconds, lambda: tell(reading.now()))
    if as_json:
        say_json({"summary": to_plain(reading.now())}, indent=None)
    else:
        say(summary(reading.now()))


def _each_second(ticker: Ticker, seconds: float | None, tell: Callable[[], None]) -> None:
    """By the clock: what telling takes makes it no longer, and a second missed is not made up."""
    end_s = math.inf if seconds is None else seconds
    began_ns = ticker.clock()
    told_s = 0.0
    while told_s < end_s:
        passed_s = (ticker.clock() - began_ns) / 1e9
        due_s = min(math.floor(max(told_s, passed_s)) + 1.0, end_s)
        if ticker.wait(max(0.0, due_s - passed_s)):
            return
        told_s = due_s
        tell()


def _line(now: PowerNow) -> Text:
    line = cell(f"{figures.watts(now.watts_w):>9}", "bold")
    line.no_wrap, line.overflow = True, "ellipsis"
    mean, used = figures.watts(now.mean_w), figures.joules(now.energy_j)
    # a narrow line: what the watts feed stands with the sum
    source = f"{now.meter.source} ({now.meter.name})"
    line.append_text(cell(f"   {source}   mean {mean}   {used}", "not bold"))
    line.append(f"   {now.seconds:.0f} s   Ctrl+C ends", "not bold dim")
    return line


def _plain_line(now: PowerNow) -> None:
    say(f"{now.seconds:.1f} s\t{figures.watts(now.watts_w)}\t{now.meter.source}")


def _json_line(now: PowerNow) -> None:
    told = {"seconds": now.seconds, "watts_w": now.watts_w, "source": str(now.meter.source)}
    say_json(to_plain(told), indent=None)


def summary(now: PowerNow) -> str:
    """`Mean 41.2 W, 824 J in 20.0 s, sensor (RAPL), the processor only`, or that there is none."""
    if now.mean_w is None or now.covered is None:
        return f"Nothing could be read. {now.meter.detail}"
    mean, used = figures.watts(now.mean_w), figures.joules(now.energy_j)
    share = "" if now.covered > WHOLE else f" (read in {100 * now.covered:.0f} % of it)"
    return f"Mean {mean}, {used} in {now.seconds:.1f} s{share}, {figures.meter(now.meter)}"
