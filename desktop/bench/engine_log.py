"""What the engine logs: its memory accounting, and why it refused something.

llama.cpp has no C call for the size of its buffers; it logs one line for each, and these are taken
as its accounting. Errors go to stderr, which the app keeps as the run's log.
"""

import re
import sys
from collections import deque
from typing import Any, Final

from desktop.errors import BenchError

_WARN: Final = 3
_CONTINUED: Final = 5
_BUFFER: Final = re.compile(
    r"(?P<where>\S+) +(?P<kind>model|KV|RS|compute|output) buffer size += +(?P<mib>[\d.]+) MiB"
)
_FLASH: Final = re.compile(r"Flash Attention .*?(enabled|disabled)$")
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


class EngineLog:
    """Collects the log lines of one run. `take` is called from native threads."""

    def __init__(self) -> None:
        self._errors: deque[str] = deque(maxlen=40)
        self._weights: dict[str, int] = {}
        self._context: dict[tuple[str, str], int] = {}
        self._loading = True
        self.flash_attention: str | None = None

    def take(self, level: int, text: bytes, _data: Any = None) -> None:
        """One message of ggml's log callback; never raises into native code."""
        line = text.decode(errors="replace").rstrip()
        if level >= _WARN and level != _CONTINUED and line:
            self._errors.append(line)
            sys.stderr.write("".join(c if c.isprintable() else " " for c in line) + "\n")
            sys.stderr.flush()
        self._account(line)

    def _account(self, line: str) -> None:
        found = _BUFFER.search(line)
        if found:
            size = round(float(found["mib"]) * MIB)
            if found["kind"] == "model":
                self._weights[found["where"]] = size
            else:
                key = ("kv" if found["kind"] in {"KV", "RS"} else "compute", found["where"])
                self._context[key] = max(size, self._context.get(key, 0))
        elif flash := _FLASH.search(line):
            self.flash_attention = flash[1]

    @property
    def weights_bytes(self) -> int | None:
        """Bytes of all weight buffers, each device apart and summed; None before loading."""
        return sum(self._weights.values()) or None

    @property
    def backend(self) -> str:
        """Where the weights lie, by the names of their buffers: `CPU`, `CUDA`, `CPU+Vulkan`."""
        names = {re.split(r"[\d_]", where)[0] for where in self._weights}
        return "+".join(sorted(names)) or "CPU"

    @property
    def kv_cache_bytes(self) -> int | None:
        """The largest KV (or recurrent) cache of any context, summed over devices."""
        return self._sum("kv")

    @property
    def compute_bytes(self) -> int | None:
        """The largest compute and output buffers of any context, summed over devices."""
        return self._sum("compute")

    def failure(self, code: str, name: str) -> BenchError:
        """The error for a refusal: `out_of_memory` when the log says so, else `code`."""
        words = "\n".join(self._errors)
        if says_out_of_memory(words):
            return BenchError("out_of_memory", name=name)
        detail = next((e for e in self._errors if "error" in e.lower()), "no reason was given")
        return BenchError(code, name=name, detail=_public(detail, name))

    def _sum(self, kind: str) -> int | None:
        return sum(v for (k, _), v in self._context.items() if k == kind) or None


def says_out_of_memory(words: str) -> bool:
    """Whether the engine's words speak of an allocation that failed."""
    lowered = words.lower()
    return any(sign in lowered for sign in _NO_MEMORY)


def _public(detail: str, name: str) -> str:
    """The engine's words without the folders of the path that it repeats."""
    return re.sub(r"'[^']*" + re.escape(name) + "'", f"'{name}'", detail)[-200:]
