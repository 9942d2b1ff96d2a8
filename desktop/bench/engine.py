"""llama.cpp through llama-cpp-python's low-level bindings. Loaded in the worker process only.

The high-level `Llama` class costs 3-40 % a token, growing with length, so it is not used.
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
from desktop.bench.ggml import Ggml
from desktop.errors import BenchError
from desktop.records.events import Devices
from desktop.records.run import Plan, SpeedTest

_FLASH_ATTENTION_AUTO: Final = -1


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
        self.ggml = Ggml(api)
        self.ggml.load_backends(Path(api.__file__).parent / "lib")
        api.llama_backend_init()

    def facts(self) -> Devices:
        """The engine's version and its own device list."""
        version = self.ggml.text("llama_version") or "unknown"
        return Devices("llama.cpp", version, self.ggml.devices(), self.ggml.backends())

    def load(self, path: str, plan: Plan) -> "Model":
        """Load a GGUF file.

        Raises:
            BenchError: `out_of_memory`, or `load_failed` with the engine's own last words.
        """
        name = Path(path).name
        params = self.api.llama_model_default_params()
        params.n_gpu_layers = plan.gpu_layers
        chosen = self._chosen(plan.devices)
        if chosen is not None:
            params.devices = c.cast(chosen, c.c_void_p)
        handle = self.api.llama_model_load_from_file(_c_path(path), params)
        if not handle:
            raise self.log.failure("load_failed", name)
        return Model(self, handle, name, plan)

    def _chosen(self, names: tuple[str, ...]) -> Any:
        """The devices of those names as a list that ends in NULL; None for the engine's choice."""
        if not names:
            return None
        handles = {device.name: handle for device, handle in self.ggml.listed()}
        return (c.c_void_p * (len(names) + 1))(*(handles[name] for name in names), None)


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
            self.engine.ggml.free_threadpool(pool)

    def _params(self, test: SpeedTest) -> Any:
        params = self.engine.api.llama_context_default_params()
        params.n_ctx = test.n_tokens
        params.n_batch, params.n_ubatch = self.plan.n_batch, self.plan.n_ubatch
        params.n_threads = params.n_threads_batch = self.plan.threads
        params.flash_attn_type = _FLASH_ATTENTION_AUTO
        params.swa_full = False
        return params

    def _attach_pool(self, context: Any) -> int | None:
        pool = self.engine.ggml.new_threadpool(self.plan.threads, self.plan.poll)
        if pool is not None:
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


def _c_path(path: str) -> bytes:
    """llama.cpp takes UTF-8 on Windows and the file system's bytes elsewhere."""
    return path.encode() if sys.platform == "win32" else os.fsencode(path)
