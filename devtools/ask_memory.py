"""What the engine itself would allocate for a file: asked in a process of its own.

The engine counts and allocates nothing (`no_alloc`): a file whose weights are a hole will do. What
it tells in its log has two decimals of a MiB.
"""

import ctypes as c
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from desktop.records.estimate import MemoryNeed, Use

_MIB: Final = 1 << 20
_CACHE_TYPES: Final = {"F32": 0, "F16": 1, "Q4_0": 2, "Q8_0": 8}
"""The engine's numbers of them."""
_SIZES: Final = {
    "cache": re.compile(r"llama_kv_cache: size = +([\d.]+) MiB"),
    "state": re.compile(r"RS buffer size += +([\d.]+) MiB"),
    "compute": re.compile(r"compute buffer size = +([\d.]+) MiB"),
    "output": re.compile(r"output buffer size = +([\d.]+) MiB"),
}
_TIMEOUT_S: Final = 600
_LAST_WORDS: Final = 2000


@dataclass(frozen=True, slots=True)
class Refused:
    """The engine made no context of this use."""

    why: str


def engine_memory(path: Path, uses: Sequence[Use]) -> list[MemoryNeed | Refused]:
    """What each use of the file takes on the host, as the engine counts it.

    Raises:
        RuntimeError: the engine refused the file, or aborted; with its last words.
    """
    question = json.dumps([asdict(use) for use in uses])
    done = subprocess.run(
        [sys.executable, "-m", "devtools.ask_memory", str(path)],
        input=question, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S,
        env=os.environ | {"GGML_NO_BACKTRACE": "1"},
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr[-_LAST_WORDS:] or f"the engine ended with {done.returncode}")
    answers = json.loads(done.stdout)
    return [MemoryNeed(*a) if isinstance(a, list) else Refused(a) for a in answers]


def _context_params(api: Any, use: Use) -> Any:
    params = api.llama_context_default_params()
    params.n_ctx, params.n_batch, params.n_ubatch = use.context, use.batch, use.micro_batch
    params.n_seq_max = use.sequences
    params.flash_attn_type = 1 if use.flash_attention else 0
    params.type_k = _CACHE_TYPES[use.cache_key_type]
    params.type_v = _CACHE_TYPES[use.cache_value_type]
    params.swa_full = use.full_sliding_cache
    return params


def _ask(api: Any, log: list[str], model: Any, use: Use) -> list[int] | str:
    """Bytes of weights, cache, compute and output; or why there is no context."""
    log.clear()
    context = api.llama_init_from_model(model, _context_params(api, use))
    told = "".join(log)
    if not context:
        return told[-_LAST_WORDS:]
    api.llama_free(context)
    found = {
        purpose: round(_MIB * sum(map(float, pattern.findall(told))))
        for purpose, pattern in _SIZES.items()
    }
    weights = int(api.llama_model_size(model))
    return [weights, found["cache"] + found["state"], found["compute"], found["output"]]


def main() -> None:
    """The child: ask, and print the answers."""
    import llama_cpp.llama_cpp as api  # noqa: PLC0415 - native code in the child only

    uses = [Use(**told) for told in json.loads(sys.stdin.read())]
    log: list[str] = []
    take = api.llama_log_callback(lambda _, text, __: log.append(text.decode(errors="replace")))
    api.llama_log_set(take, c.c_void_p(0))
    params = api.llama_model_default_params()
    params.no_alloc, params.load_mode, params.n_gpu_layers = True, api.LLAMA_LOAD_MODE_NONE, 0
    model = api.llama_model_load_from_file(sys.argv[1].encode(), params)
    if not model:
        raise SystemExit("".join(log)[-_LAST_WORDS:])
    print(json.dumps([_ask(api, log, model, use) for use in uses]))


if __name__ == "__main__":
    main()
