"""cli: the line that moves while a measurement goes on."""

from desktop.cli.live import LiveLine
from desktop.records.energy import MeterFacts, MeterKind, PowerSample, Scope, Source
from desktop.records.events import Power, Steps

S = 1_000_000_000
METER = MeterFacts("NVML", Source.SENSOR, MeterKind.COUNTER, Scope.BOARD)


def test_the_watts_of_a_meter_that_fell_silent_leave_the_line():
    now = [10 * S]
    line = LiveLine(quiet=True, clock=lambda: now[0])
    line.take(Power(PowerSample(9 * S, 250.0), METER, 2 * S))
    line.take(Steps("tg128", False, (0, S // 50), 1))
    assert line._live() == "50.0 tok/s  250 W sensor"
    now[0] += 2 * S
    assert line._live() == "50.0 tok/s"
