"""Faults that tests ask of the worker: `--fault crash|hang|garbage|flood|slow|memory|silent`.

They happen inside the real worker, on the real engine, so that the app's handling is proved with
real processes. A person never gets here: only tests and `benchmarks/` pass the argument.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from desktop.bench.parts_protocol import PartStarted
from desktop.bench.protocol import Loaded, Message, RepetitionStarted
from desktop.records.events import Devices

Send: TypeAlias = Callable[[Message], None]
Fault: TypeAlias = Callable[[Message, Send, int], None]
_BEGINS: Final = (Loaded, PartStarted)
"""The model is in memory, or a part is measured next."""
_LITTLE_MEMORY_BYTES: Final = 50 << 20


def named(arguments: list[str]) -> Fault:
    """The fault that `arguments` ask for; plain sending when they ask for none.

    Raises:
        KeyError: there is no such fault.
    """
    if "--fault" not in arguments:
        return _none
    name = arguments[arguments.index("--fault") + 1]
    return _FAULTS[name]


def _timed(message: Message) -> bool:
    """Whether something is timed next."""
    if isinstance(message, PartStarted):
        return True
    return isinstance(message, RepetitionStarted) and not message.warmup


def _none(message: Message, send: Send, _descriptor: int) -> None:
    send(message)


def _crash(message: Message, send: Send, _descriptor: int) -> None:
    send(message)
    if _timed(message):
        os.abort()


def _hang(message: Message, send: Send, _descriptor: int) -> None:
    send(message)
    if _timed(message):
        while True:
            time.sleep(3600)


def _garbage(message: Message, send: Send, descriptor: int) -> None:
    send(message)
    if isinstance(message, _BEGINS):
        os.write(descriptor, b"llama_model_loader: not a message\n")


def _flood(message: Message, send: Send, descriptor: int) -> None:
    send(message)
    while isinstance(message, _BEGINS):
        os.write(descriptor, b"x" * 65536)


def _slow(message: Message, send: Send, _descriptor: int) -> None:
    time.sleep(0.2)
    send(message)


def _silent(message: Message, send: Send, _descriptor: int) -> None:
    """End without a word, as a process does that the system kills."""
    if isinstance(message, _BEGINS):
        os._exit(0)
    send(message)


def _memory(message: Message, send: Send, _descriptor: int) -> None:
    """Once the engine is there, let little more memory be had, so that it really runs out."""
    send(message)
    if isinstance(message, Devices) and sys.platform == "linux":
        import resource  # noqa: PLC0415 - not on Windows

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limit = pages * resource.getpagesize() + _LITTLE_MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


_FAULTS: Final[dict[str, Fault]] = {
    "crash": _crash,
    "hang": _hang,
    "garbage": _garbage,
    "flood": _flood,
    "slow": _slow,
    "silent": _silent,
    "memory": _memory,
}
NAMES: Final = tuple(_FAULTS)
"""All that can be asked for."""
