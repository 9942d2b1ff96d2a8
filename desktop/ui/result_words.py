"""A finished run in words: which numbers a result shows, and how. Pure."""

from PySide6.QtCore import QCoreApplication

from desktop.records.energy import Energy
from desktop.records.run import MemoryHeld, Rate, Run
from desktop.rules.rates import energy_per_token_j
from desktop.ui import format as fmt
from desktop.ui import messages


def trust(rate: Rate) -> str:
    """The line under a rate: its spread and how many repetitions it rests on."""
    count = fmt.repetitions(rate.repetitions)
    if rate.spread is None:
        return _tr("{count}, too few for a spread").format(count=count)
    return f"{fmt.spread(rate.spread)} · {count}"


def peaks(run: Run) -> str | None:
    """The best repetition of each test."""
    named = ((_tr("generation"), generation(run)), (_tr("prompt"), prompt(run)))
    shown = [f"{word} {fmt.rate(rate.peak_tok_s)}" for word, rate in named if rate]
    return ", ".join(shown) or None


def memory(held: MemoryHeld) -> str | None:
    """What the engine held, each part apart."""
    named = (
        (_tr("weights"), held.weights_bytes),
        (_tr("KV cache"), held.kv_cache_bytes),
        (_tr("buffers"), held.compute_bytes),
    )
    shown = [f"{word} {fmt.size(count)}" for word, count in named if count is not None]
    return ", ".join(shown) or None


def process_memory(held: MemoryHeld) -> str | None:
    """The measuring process as a whole, at its peak."""
    return None if held.process_peak_bytes is None else fmt.size(held.process_peak_bytes)


def engine(run: Run) -> str:
    """What ran it, with its backend and threads."""
    facts = run.engine
    words = _tr("{name} {version}, {backend}, {threads} threads")
    return words.format(
        name=facts.name, version=facts.version, backend=facts.backend, threads=facts.threads
    )


def generation(run: Run) -> Rate | None:
    """The rate of the run's generation test."""
    return next((rate for rate in run.rates if rate.test.startswith("tg")), None)


def prompt(run: Run) -> Rate | None:
    """The rate of the run's prompt test."""
    return next((rate for rate in run.rates if rate.test.startswith("pp")), None)


def energy_per_token(run: Run) -> tuple[float, Energy] | None:
    """Joules per generated token, with the energy that it is made of."""
    rate = generation(run)
    energy = dict(run.energy).get(rate.test) if rate else None
    if rate is None or energy is None:
        return None
    per_token_j = energy_per_token_j(run, rate.test)
    return None if per_token_j is None else (per_token_j, energy)


def energy_source(energy: Energy) -> str:
    """Where the joules come from; says when part of the time is not covered."""
    words = messages.meter(energy.meter)
    percent = round(100 * energy.covered)
    if percent >= _WHOLE_PERCENT:
        return words
    return _tr("{words}; {percent} % of the time covered").format(words=words, percent=percent)


_WHOLE_PERCENT = 99


def _tr(text: str) -> str:
    return QCoreApplication.translate("Result", text)
