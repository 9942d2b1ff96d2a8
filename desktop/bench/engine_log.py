"""What the engine logs: its memory accounting, and why it refused something.

llama.cpp has no C call for the size of its buffers; it logs one line for each, and these are taken
as its accounting. Errors go to stderr, which the app keeps as the run's log.
"""

import re
import sys
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from desktop.errors import BenchError
from desktop.records.machine import Device

_WARN: Final = 3
_CONTINUED: Final = 5
_MOST_BYTES: Final = 4096
"""Of a line: the engine repeats what a file says of itself, which may be of any length."""
_BUFFER: Final = re.compile(
    # from a word's beginning only: each place of a long one would be tried otherwise
    r"(?<!\S)(?P<where>\S+) +(?P<kind>model|KV|RS|compute|output) buffer size += +"
    r"(?P<mib>[0-9]{1,9}(?:\.[0-9]{1,9})?) MiB"
)
_OFFLOADED: Final = re.compile(r"offloaded ([0-9]{1,9})/([0-9]{1,9}) layers")
_FLASH: Final = "Flash Attention "
_FLASH_STATES: Final = frozenset({"enabled", "disabled"})
_NO_MEMORY: Final = (
    "failed to allocate",
    "unable to allocate",
    "out of memory",
    "cannot allocate memory",
    "bad_alloc",
    "not enough memory",
    "alloc_tensor_range: failed",
)
MIB: Final = 1 << 20
PROCESSOR: Final = "CPU"
_CACHES: Final = frozenset({"KV", "RS"})
_SCRATCH: Final = frozenset({"compute", "output"})


class EngineLog:
    """Collects the log lines of one run. `take` is called from native threads."""

    def __init__(self) -> None:
        self._errors: deque[str] = deque(maxlen=40)
        self._weights: dict[str, int] = {}
        self._current: dict[tuple[str, str], int] = {}
        self._most: dict[str, int] = {}
        self._all_offloaded = False
        self.flash_attention: str | None = None

    def take(self, level: int, text: bytes, _data: Any = None) -> None:
        """One message of ggml's log callback; never raises into native code."""
        line = text[:_MOST_BYTES].decode(errors="replace").rstrip()
        if level >= _WARN and level != _CONTINUED and line:
            self._errors.append(line)
            sys.stderr.write("".join(c if c.isprintable() else " " for c in line) + "\n")
            sys.stderr.flush()
        self._account(line)

    def begin_context(self) -> None:
        """A new context follows: what it holds is counted anew."""
        self._current.clear()

    def _account(self, line: str) -> None:
        if found := _BUFFER.search(line):
            self._hold(found["kind"], found["where"], round(float(found["mib"]) * MIB))
        elif flash := _flash_attention(line):
            self.flash_attention = flash
        elif layers := _OFFLOADED.search(line):
            self._all_offloaded = layers[1] == layers[2]

    def _hold(self, kind: str, where: str, size_bytes: int) -> None:
        """One buffer. A model may have several of one name: weights of split files, two caches."""
        if kind == "model":
            self._weights[where] = self._weights.get(where, 0) + size_bytes
            return
        before = self._current.get((kind, where), 0)
        # caches add up; scratch is logged again when it is reserved anew
        now = before + size_bytes if kind in _CACHES else max(before, size_bytes)
        self._current[kind, where] = now
        for kinds, name in ((_CACHES, "kv"), (_SCRATCH, "compute")):
            total = sum(v for (k, _), v in self._current.items() if k in kinds)
            self._most[name] = max(total, self._most.get(name, 0))

    @property
    def weights_bytes(self) -> int | None:
        """Bytes of all weight buffers, each device apart and summed; None before loading."""
        return sum(self._weights.values()) or None

    @property
    def backend(self) -> str:
        """Where the layers lie, by the names of their buffers: `CPU`, `CUDA`, `CPU+Vulkan`.

        With all layers on cards, the processor holds only the embedding and does not count.
        """
        names = {
            PROCESSOR if _is_host(where) else re.split(r"[\d_]", where)[0]
            for where in self._weights
        }
        if self._all_offloaded and len(names) > 1:
            names.discard(PROCESSOR)
        return "+".join(sorted(names)) or PROCESSOR

    def devices(self, listed: Sequence[Device]) -> tuple[str, ...]:
        """The names of the devices of the engine's list that hold layers.

        Buffers are named by device (`CUDA0`, `MTL0_Mapped`), some by backend alone (`OpenCL`).
        """
        held = dict.fromkeys(_owner(where, listed) for where in self._weights)
        names = [name for name in held if name is not None]
        cards = [name for name in names if name != PROCESSOR]
        return tuple(cards if self._all_offloaded and cards else names)

    @property
    def kv_cache_bytes(self) -> int | None:
        """The largest KV (or recurrent) cache of any context, summed over devices."""
        return self._most.get("kv") or None

    @property
    def compute_bytes(self) -> int | None:
        """The largest compute and output buffers of any context, summed over devices."""
        return self._most.get("compute") or None

    def failure(self, code: str, name: str) -> BenchError:
        """The error for a refusal: `out_of_memory` when the log says so, else `code`."""
        words = "\n".join(self._errors)
        if says_out_of_memory(words):
            return BenchError("out_of_memory", name=name)
        detail = next((e for e in self._errors if "error" in e.lower()), "no reason was given")
        return BenchError(code, name=name, detail=_public(detail, name))


def _flash_attention(line: str) -> str | None:
    """`Flash Attention was auto, set to enabled` gives its last word."""
    words = line.partition(_FLASH)[2].split()
    return words[-1] if words and words[-1] in _FLASH_STATES else None


def _is_host(where: str) -> bool:
    """`CPU_Mapped`, `CPU`, and the system's memory pinned for a card: `CUDA_Host`."""
    return where.partition("_")[0] == PROCESSOR or where.endswith("_Host")


def _owner(where: str, listed: Sequence[Device]) -> str | None:
    if _is_host(where):
        return PROCESSOR
    name = where.partition("_")[0]
    by_name = (d.name for d in listed if d.name == name)
    by_backend = (d.name for d in listed if d.backend == name)
    return next(by_name, None) or next(by_backend, None)


def says_out_of_memory(words: str) -> bool:
    """Whether the engine's words speak of an allocation that failed."""
    lowered = words.lower()
    return any(sign in lowered for sign in _NO_MEMORY)


def _public(detail: str, name: str) -> str:
    """The engine's words without the folders of the path that it repeats."""
    return re.sub(r"'[^']*" + re.escape(name) + "'", f"'{name}'", detail)[-200:]
