"""Tensors and graphs of ggml on one device, without a model.

Signatures and layouts: ggml.h, ggml-alloc.h and ggml-backend.h as of llama-cpp-python 0.3.36.
"""

import ctypes as c
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, Final

import numpy as np

from desktop.bench.ggml import Ggml
from desktop.bench.parts_data import Bytes, Floats
from desktop.records.parts import Skipped

F32: Final = 0
"""`GGML_TYPE_F32`."""
_WEIGHTS_USAGE: Final = 1
_PROBE_ROWS: Final = 64
_POINTER: Final = c.c_void_p


class CannotMeasureError(Exception):
    """A device cannot do a test, or not at this size."""

    def __init__(self, why: Skipped) -> None:
        super().__init__(why.value)
        self.why = why


class _InitParams(c.Structure):
    """`ggml_init_params` of ggml.h."""

    _fields_ = (("mem_size", c.c_size_t), ("mem_buffer", c.c_void_p), ("no_alloc", c.c_bool))


class Tensors:
    """What can be made on a device; `held` frees it. Contexts, tensors and graphs are handles."""

    def __init__(self, ggml: Ggml, device: int, backend: int) -> None:
        self._call = ggml.function
        self._ggml, self._device, self._backend = ggml, device, backend

    def context(self, held: ExitStack, tensors: int, nodes: int = 0) -> int:
        """A context for so many tensors, and for a graph of at most so many nodes.

        Raises:
            CannotMeasureError: `memory`.
        """
        size = self._call("ggml_tensor_overhead", c.c_size_t)() * (tensors + 2)
        if nodes:
            overhead = self._call("ggml_graph_overhead_custom", c.c_size_t, c.c_size_t, c.c_bool)
            size += overhead(nodes, False)
        made = self._call("ggml_init", _POINTER, _InitParams)(_InitParams(size, None, True))
        return self._held(held, made, "ggml_free")

    def new(self, context: int, ggml_type: int, columns: int, rows: int = 1) -> int:
        """A tensor of `rows` rows; it has no memory before its context is allocated."""
        made: int = self._call(
            "ggml_new_tensor_2d", _POINTER, _POINTER, c.c_int, c.c_int64, c.c_int64
        )(context, ggml_type, columns, rows)
        return made

    def operation(self, name: str, context: int, a: int, b: int) -> int:
        """The result of an operation on two tensors: `ggml_mul_mat`, `ggml_cpy`, `ggml_add`."""
        made: int = self._call(name, _POINTER, _POINTER, _POINTER, _POINTER)(context, a, b)
        return made

    def allocate(self, held: ExitStack, context: int, buffer_type: int | None = None) -> None:
        """Memory for all tensors of a context: the device's own, or for weights of another type.

        Raises:
            CannotMeasureError: `memory`.
        """
        kind = buffer_type or self.own_buffer_type()
        allocate = self._call(
            "ggml_backend_alloc_ctx_tensors_from_buft", _POINTER, _POINTER, _POINTER
        )
        buffer = self._held(held, allocate(context, kind), "ggml_backend_buffer_free")
        if buffer_type:
            use = self._call("ggml_backend_buffer_set_usage", None, _POINTER, c.c_int)
            use(buffer, _WEIGHTS_USAGE)

    def own_buffer_type(self) -> int:
        """The device's own memory."""
        own: int = self._call("ggml_backend_dev_buffer_type", _POINTER, _POINTER)(self._device)
        return own

    def weights_buffer_type(self, ggml_type: int, columns: int) -> int:
        """Where the engine puts such weights: processors may store them in another order.

        As llama.cpp chooses: the first of the device's extra buffer types with which it supports
        the product, else its own.
        """
        for kind in self._extra_buffer_types():
            with ExitStack() as held:
                stored, context = self.context(held, 1), self.context(held, 2)
                weights = self.new(stored, ggml_type, columns, _PROBE_ROWS)
                self.allocate(held, stored, kind)
                x = self.new(context, F32, columns)
                if self.supports(self.operation("ggml_mul_mat", context, weights, x)):
                    return kind
        return self.own_buffer_type()

    def supports(self, result: int) -> bool:
        """Whether the device can compute a result of `operation`."""
        supports = self._call("ggml_backend_dev_supports_op", c.c_bool, _POINTER, _POINTER)
        return bool(supports(self._device, result))

    def graph(self, held: ExitStack, context: int, results: Sequence[int]) -> Callable[[], int]:
        """Allocate the context; return the call that computes `results` and synchronizes.

        It returns ggml's status, 0 when all went well. The context needs `nodes_for(results)`.

        Raises:
            CannotMeasureError: `unsupported`, `memory`.
        """
        if not all(self.supports(result) for result in results):
            raise CannotMeasureError(Skipped.UNSUPPORTED)
        new = self._call("ggml_new_graph_custom", _POINTER, _POINTER, c.c_size_t, c.c_bool)
        graph = new(context, nodes_for(len(results)), False)
        expand = self._call("ggml_build_forward_expand", None, _POINTER, _POINTER)
        for result in results:
            expand(graph, result)
        self.allocate(held, context)
        return self._computing(graph)

    def _computing(self, graph: int) -> Callable[[], int]:
        compute = self._call("ggml_backend_graph_compute", c.c_int, _POINTER, _POINTER)
        wait = self._call("ggml_backend_synchronize", None, _POINTER)
        backend = self._backend

        def compute_and_wait() -> int:
            status: int = compute(backend, graph)
            wait(backend)
            return status

        return compute_and_wait

    def write(self, tensor: int, data: Bytes | Floats, at_bytes: int = 0) -> None:
        """Bytes of a tensor from `at_bytes` on; `data` is contiguous.

        Some buffer types take a tensor only as a whole: weights are written so.
        """
        put = self._call(
            "ggml_backend_tensor_set", None, _POINTER, _POINTER, c.c_size_t, c.c_size_t
        )
        put(tensor, data.ctypes.data, at_bytes, data.nbytes)

    def read(self, tensor: int, count: int) -> Floats:
        """The first `count` values of an F32 tensor."""
        found = np.empty(count, np.float32)
        get = self._call(
            "ggml_backend_tensor_get", None, _POINTER, _POINTER, c.c_size_t, c.c_size_t
        )
        get(tensor, found.ctypes.data, 0, found.nbytes)
        return found

    def _extra_buffer_types(self) -> list[int]:
        """Of the device's backend: a list that ends with null."""
        extra = self._ggml.device_function(
            self._device, "ggml_backend_dev_get_extra_bufts", c.POINTER(c.c_void_p), c.c_void_p
        )
        listed = extra(self._device) if extra is not None else None
        found: list[int] = []
        while listed and listed[len(found)]:
            found.append(listed[len(found)])
        return found

    def _held(self, held: ExitStack, made: Any, free: str) -> int:
        if not made:
            raise CannotMeasureError(Skipped.MEMORY)
        held.callback(self._call(free, None, _POINTER), made)
        return int(made)


def nodes_for(results: int) -> int:
    """Nodes and leaves of a graph with so many results, each of a weight of its own."""
    return 2 * results + 8
