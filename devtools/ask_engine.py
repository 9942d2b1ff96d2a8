"""What the engine itself makes of a file: asked in a process of its own, as it may abort.

`python -m devtools.ask_engine types FILE TYPE...` prints, by file type, which type its quantizer
would give each tensor (a dry run: nothing is written); `TYPE+matrix`: with an importance matrix.
`python -m devtools.ask_engine load FILE` ends with 0 if its loader finds all tensors it wants, of
the shapes it wants, and no others; nothing is read or allocated.
"""

import ctypes as c
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, TypeAlias

from desktop.rules.ggml_types import FILE_TYPES

Types: TypeAlias = dict[str, dict[str, str]]
"""By file type and tensor the type."""

_LINE: Final = re.compile(
    r"\[ *\d+/ *\d+\] +(\S+) +- +\[[^\]]*\], type = +(\S+), size = [^\n(]*(?:\((\w+)\))?"
)
_NUMBERS: Final = {name: number for number, name in FILE_TYPES.items()}
_TIMEOUT_S: Final = 300
_LAST_WORDS: Final = 2000


def engine_types(path: Path, file_types: Iterable[str]) -> Types:
    """The types that the quantizer would choose; `Q4_0+matrix`: with an importance matrix.

    Raises:
        RuntimeError: the engine refused the file; with its last words.
    """
    found: Types = json.loads(_ask("types", path, *file_types))
    return found


def check_tensors(path: Path) -> None:
    """Have the loader look for its tensors.

    Raises:
        RuntimeError: one is missing, too many, or of another shape; with the engine's last words.
    """
    _ask("load", path)


def _ask(what: str, path: Path, *more: str) -> str:
    command = [sys.executable, "-m", "devtools.ask_engine", what, str(path), *more]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S,
        env=os.environ | {"GGML_NO_BACKTRACE": "1"},
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr[-_LAST_WORDS:] or f"the engine ended with {done.returncode}")
    return done.stdout


def _types(api: Any, log: list[str], path: str, wanted: str) -> dict[str, str]:
    log.clear()
    file_type, _, matrix = wanted.partition("+")
    params = api.llama_model_quantize_default_params()
    params.ftype, params.dry_run = _NUMBERS[file_type], True
    one = (c.c_float * 1)(1.0)
    entries = (api.llama_model_imatrix_data * 2)()  # the second one's name is NULL: the end
    entries[0].name, entries[0].data, entries[0].size = b"none", one, 1
    if matrix:
        params.imatrix = c.cast(entries, type(params.imatrix))
    if api.llama_model_quantize(path.encode(), b"unused", c.byref(params)):
        raise SystemExit("".join(log)[-_LAST_WORDS:])
    return {name: (new or old).upper() for name, old, new in _LINE.findall("".join(log))}


def _load(api: Any, log: list[str], path: str) -> None:
    params = api.llama_model_default_params()
    params.no_alloc, params.load_mode, params.n_gpu_layers = True, api.LLAMA_LOAD_MODE_NONE, 0
    model = api.llama_model_load_from_file(path.encode(), params)
    if not model:
        raise SystemExit("".join(log)[-_LAST_WORDS:])
    api.llama_model_free(model)


def main() -> None:
    """The child: ask, and print the answer."""
    import llama_cpp.llama_cpp as api  # noqa: PLC0415 - native code in the child only

    what, path, *kinds = sys.argv[1:]
    log: list[str] = []
    take = api.llama_log_callback(lambda _, text, __: log.append(text.decode(errors="replace")))
    api.llama_log_set(take, c.c_void_p(0))
    if what == "load":
        _load(api, log, path)
    else:
        print(json.dumps({kind: _types(api, log, path, kind) for kind in kinds}))


if __name__ == "__main__":
    main()
