"""llama.cpp through llama-cpp-python's low-level bindings. Loaded in the worker process only.

The high-level `Llama` class costs 3-40 % a token, growing with length, so it is not used. The wheel
ships a second copy of libggml under another name, with a registry of its own; every ggml symbol
here is therefore looked up through libllama itself, so that the devices are the engine's.
"""

import ctypes as c
import os
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from desktop.bench.engine_log import EngineLog
from desktop.errors import BenchError
from desktop.records.events import Devices
from desktop.records.machine import Device, DeviceKind
from desktop.records.run import Plan, SpeedTest

_KINDS: Final = (DeviceKind.CPU, DeviceKind.GPU, DeviceKind.IGPU, DeviceKind.ACCELERATOR)
# names under which Mesa's and Microsoft's software rasterizers show up as GPUs
_SOFTWARE: Final = ("llvmpipe", "lavapipe", "swiftshader", "basic render driver", "softpipe")
_FLASH_ATTENTION_AUTO: Final = -1


class _ThreadpoolParams(c.Structure):
    """`ggml_threadpool_params` of ggml.h (GGML_MAX_N_THREADS is 512)."""

    _fields_ = (
        ("cpumask", c.c_bool * 512),
        ("n_threads", c.c_int),
        ("prio", c.c_int),
        ("poll", c.c_uint32),
        ("strict_cpu", c.c_bool),
        ("paused", c.c_bool),
    )


class Engine:
    """The loaded library. One per process."""

    def __init__(self, log: EngineLog) -> None:
        """Load the library and its backends.

        Raises:
            BenchError: `engine_missing` when the library does not load.
        """
        try:
            import llama_cpp.llama_cpp as api  # noqa: PLC0415 - nothing native before the log is set
        except (ImportError, OSError, RuntimeError) as e:
            raise BenchError("engine_missing", detail=str(e).splitlines()[0]) from e
        self.api: Any = api
        self.log = log
        self._callback = api.llama_log_callback(log.take)
        api.llama_log_set(self._callback, c.c_void_p(0))
        self._ggml = _Ggml(api)
        self._ggml.load_backends(Path(api.__file__).parent / "lib")
        api.llama_backend_init()

    def facts(self) -> Devices:
        """The engine's version and its own device list."""
        version = self._ggml.text("llama_version") or "unknown"
        return Devices("llama.cpp", version, self._ggml.devices())

    def load(self, path: str, plan: Plan) -> "Model":
        """Load a GGUF file.

        Raises:
            BenchError: `out_of_memory`, or `load_failed` with the engine's own last words.
        """
        name = Path(path).name
        params = self.api.llama_model_default_params()
        params.n_gpu_layers = plan.gpu_layers
        handle = self.api.llama_model_load_from_file(_c_path(path), params)
        if not handle:
            raise self.log.failure("load_failed", name)
        return Model(self, handle, name, plan)

    def cpu_function(self, name: str, result: Any, *arguments: Any) -> Any:
        """A function of the CPU backend, found as llama-bench finds it; None when there is none."""
        return self._ggml.cpu_function(name, result, *arguments)


@dataclass(slots=True)
class Model:
    """A loaded model."""

    engine: Engine
    handle: Any
    name: str
    plan: Plan

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.engine.api.llama_model_free(self.handle)

    @contextmanager
    def context(self, test: SpeedTest) -> Iterator["Context"]:
        """A fresh context of exactly the test's tokens, with a polling thread pool attached.

        Raises:
            BenchError: `out_of_memory` or `load_failed` when the engine refuses it.
        """
        api = self.engine.api
        self.engine.log.begin_context()
        handle = api.llama_init_from_model(self.handle, self._params(test))
        if not handle:
            raise self.engine.log.failure("load_failed", self.name)
        pool = self._attach_pool(handle)
        try:
            yield Context(self, handle, test)
        finally:
            api.llama_free(handle)
            if pool:
                self.engine.cpu_function("ggml_threadpool_free", None, c.c_void_p)(pool)

    def _params(self, test: SpeedTest) -> Any:
        params = self.engine.api.llama_context_default_params()
        params.n_ctx = test.n_tokens
        params.n_batch, params.n_ubatch = self.plan.n_batch, self.plan.n_ubatch
        params.n_threads = params.n_threads_batch = self.plan.threads
        params.flash_attn_type = _FLASH_ATTENTION_AUTO
        params.swa_full = False
        return params

    def _attach_pool(self, context: Any) -> Any:
        """As llama-bench does: a pool that polls instead of sleeping between graphs."""
        create = self.engine.cpu_function("ggml_threadpool_new", c.c_void_p, c.c_void_p)
        if create is None:
            return None
        settings = _ThreadpoolParams()
        init = self.engine.api._lib.ggml_threadpool_params_init  # noqa: SLF001
        init.argtypes, init.restype = (c.c_void_p, c.c_int), None
        init(c.byref(settings), self.plan.threads)
        settings.poll = self.plan.poll
        pool = create(c.byref(settings))
        attach = self.engine.api._lib.llama_attach_threadpool  # noqa: SLF001
        attach.argtypes, attach.restype = (c.c_void_p, c.c_void_p, c.c_void_p), None
        attach(context, pool, None)
        return pool


class Context:
    """One test's context. Tokens are random, as llama-bench's, and never the same twice."""

    def __init__(self, model: Model, handle: Any, test: SpeedTest) -> None:
        api = model.engine.api
        self._api, self._handle, self._name = api, handle, model.name
        self._memory = api.llama_get_memory(handle)
        vocab = api.llama_model_get_vocab(model.handle)
        self._n_vocab = max(1, api.llama_vocab_n_tokens(vocab))
        self._bos = api.llama_vocab_bos(vocab) if api.llama_vocab_get_add_bos(vocab) else None
        self._n_batch = model.plan.n_batch
        self._tokens = (api.llama_token * max(1, min(test.n_tokens, self._n_batch)))()
        self._one = api.llama_batch_get_one(self._tokens, 1)
        self._random = random.Random()  # noqa: S311 - speed test tokens, no secret
        self._first = True
        self._check(api.llama_model_has_decoder(model.handle))

    def clear(self) -> None:
        """Empty the KV cache."""
        self._api.llama_memory_clear(self._memory, False)
        self._first = True

    def prompt(self, n_tokens: int) -> None:
        """Decode `n_tokens` random tokens in batches, then synchronize.

        Raises:
            BenchError: `decode_failed` with the engine's status.
        """
        done = 0
        while done < n_tokens:
            n = min(n_tokens - done, self._n_batch)
            for i in range(n):
                self._tokens[i] = self._next()
            self._decode(self._api.llama_batch_get_one(self._tokens, n))
            done += n
        self._api.llama_synchronize(self._handle)

    def step(self) -> None:
        """Decode one random token and synchronize.

        Raises:
            BenchError: `decode_failed` with the engine's status.
        """
        self._tokens[0] = self._next()
        self._decode(self._one)
        self._api.llama_synchronize(self._handle)

    def _next(self) -> int:
        if self._first and self._bos is not None:
            self._first = False
            return int(self._bos)
        self._first = False
        return int(self._random.random() * self._n_vocab)

    def _decode(self, batch: Any) -> None:
        status = self._api.llama_decode(self._handle, batch)
        if status:
            raise BenchError("decode_failed", name=self._name, status=status)

    def _check(self, can_decode: bool) -> None:  # noqa: FBT001
        if not can_decode:
            raise BenchError("load_failed", name=self._name, detail="it cannot generate text")


class _Ggml:
    """The ggml that the engine uses."""

    def __init__(self, api: Any) -> None:
        self._libraries = [api._lib, *_beside(api)]  # noqa: SLF001

    def function(self, name: str, result: Any, *arguments: Any) -> Any:
        """A ggml function with its types set.

        Raises:
            BenchError: `engine_missing` when no library of the engine has it.
        """
        for library in self._libraries:
            found = getattr(library, name, None)
            if found is not None:
                found.restype, found.argtypes = result, arguments
                return found
        raise BenchError("engine_missing", detail=f"{name} is missing from it")

    def text(self, name: str) -> str | None:
        """The text that a function without arguments returns."""
        value = self.function(name, c.c_char_p)()
        return value.decode(errors="replace") if value else None

    def load_backends(self, folder: Path) -> None:
        """Load backend plug-ins where the engine was built with them; else they are built in."""
        if not self.function("ggml_backend_reg_count", c.c_size_t)():
            load = self.function("ggml_backend_load_all_from_path", None, c.c_char_p)
            load(os.fsencode(folder))

    def devices(self) -> tuple[Device, ...]:
        """Every device in the engine's registry."""
        count = self.function("ggml_backend_dev_count", c.c_size_t)()
        get = self.function("ggml_backend_dev_get", c.c_void_p, c.c_size_t)
        return tuple(self._device(get(i)) for i in range(count))

    def cpu_function(self, name: str, result: Any, *arguments: Any) -> Any:
        """A function of the CPU backend by name, so that it works with plug-ins too."""
        by_type = self.function("ggml_backend_dev_by_type", c.c_void_p, c.c_int)
        device = by_type(0)
        if not device:
            return None
        registry = self.function("ggml_backend_dev_backend_reg", c.c_void_p, c.c_void_p)(device)
        address = self.function(
            "ggml_backend_reg_get_proc_address", c.c_void_p, c.c_void_p, c.c_char_p
        )(registry, name.encode())
        return c.CFUNCTYPE(result, *arguments)(address) if address else None

    def _device(self, device: int) -> Device:
        name = self._device_text("ggml_backend_dev_name", device)
        description = self._device_text("ggml_backend_dev_description", device)
        registry = self.function("ggml_backend_dev_backend_reg", c.c_void_p, c.c_void_p)(device)
        backend = self._device_text("ggml_backend_reg_name", registry)
        kind = self.function("ggml_backend_dev_type", c.c_int, c.c_void_p)(device)
        free, total = c.c_size_t(), c.c_size_t()
        memory = self.function("ggml_backend_dev_memory", None, c.c_void_p, c.c_void_p, c.c_void_p)
        memory(device, c.byref(free), c.byref(total))
        return Device(
            name,
            description,
            device_kind(kind, f"{name} {description}"),
            backend,
            total.value or None,
            free.value if total.value else None,
        )

    def _device_text(self, function: str, of: int) -> str:
        value = self.function(function, c.c_char_p, c.c_void_p)(of)
        return value.decode(errors="replace") if value else ""


def device_kind(ggml_type: int, names: str) -> DeviceKind:
    """What ggml's device type is; software rasterizers are named as such, whatever ggml says."""
    if any(word in names.lower() for word in _SOFTWARE):
        return DeviceKind.SOFTWARE
    return _KINDS[ggml_type] if 0 <= ggml_type < len(_KINDS) else DeviceKind.ACCELERATOR


def _beside(api: Any) -> list[c.CDLL]:
    """On Windows a lookup does not reach a library's dependencies: open them by name.

    Windows keeps one copy of a module per name, so these are the ones that llama.dll loaded.
    """
    folder = Path(api.__file__).parent / "lib"
    names = ("ggml.dll", "ggml-base.dll") if sys.platform == "win32" else ()
    return [c.CDLL(str(folder / name)) for name in names if (folder / name).exists()]


def _c_path(path: str) -> bytes:
    """llama.cpp takes UTF-8 on Windows and the file system's bytes elsewhere."""
    return path.encode() if sys.platform == "win32" else os.fsencode(path)
