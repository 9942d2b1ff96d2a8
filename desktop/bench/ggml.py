"""The ggml that the engine uses: its functions, its registry of devices, its thread pools.

The wheel ships a second copy of libggml under another name, with a registry of its own; every ggml
symbol is therefore looked up through libllama itself, so that the devices are the engine's.
Signatures and layouts: ggml.h, ggml-backend.h and ggml-cpu.h as of llama-cpp-python 0.3.36.
"""

import ctypes as c
import os
import sys
from pathlib import Path
from typing import Any, Final

from desktop.errors import BenchError
from desktop.records.machine import Device, DeviceKind
from desktop.rules.pci import pci_address
from desktop.sources.numbers import ram_bytes
from desktop.sources.texts import printable

_KINDS: Final = (DeviceKind.CPU, DeviceKind.GPU, DeviceKind.IGPU, DeviceKind.ACCELERATOR)
# names under which Mesa's and Microsoft's software rasterizers show up as GPUs
_SOFTWARE: Final = ("llvmpipe", "lavapipe", "swiftshader", "basic render driver", "softpipe")


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


class _Properties(c.Structure):
    """`ggml_backend_dev_props` of ggml-backend.h, and room for what a later version may add."""

    _fields_ = (
        ("name", c.c_char_p),
        ("description", c.c_char_p),
        ("memory_free", c.c_size_t),
        ("memory_total", c.c_size_t),
        ("type", c.c_int),
        ("device_id", c.c_char_p),
        ("capabilities", c.c_bool * 5),
        ("room", c.c_byte * 512),
    )


class Ggml:
    """The library, found through llama-cpp-python's bindings `api`."""

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
        return tuple(device for device, _ in self.listed())

    def listed(self) -> tuple[tuple[Device, int], ...]:
        """Every device in the engine's registry, with its handle."""
        count = self.function("ggml_backend_dev_count", c.c_size_t)()
        get = self.function("ggml_backend_dev_get", c.c_void_p, c.c_size_t)
        handles = [get(i) for i in range(count)]
        return tuple((self._device(handle), handle) for handle in handles)

    def backends(self) -> tuple[str, ...]:
        """The names of all backends in the registry, also of those without a device."""
        count = self.function("ggml_backend_reg_count", c.c_size_t)()
        get = self.function("ggml_backend_reg_get", c.c_void_p, c.c_size_t)
        name = self.function("ggml_backend_reg_name", c.c_char_p, c.c_void_p)
        return tuple(_text(name(get(i))) for i in range(count))

    def device_function(self, device: int, name: str, result: Any, *arguments: Any) -> Any:
        """A function of a device's backend by name, so that it works with plug-ins too.

        None when the backend has no such function.
        """
        registry = self.function("ggml_backend_dev_backend_reg", c.c_void_p, c.c_void_p)(device)
        address = self.function(
            "ggml_backend_reg_get_proc_address", c.c_void_p, c.c_void_p, c.c_char_p
        )(registry, name.encode())
        return c.CFUNCTYPE(result, *arguments)(address) if address else None

    def cpu_function(self, name: str, result: Any, *arguments: Any) -> Any:
        """A function of the CPU backend, found as llama-bench finds it; None when there is none."""
        device = self.function("ggml_backend_dev_by_type", c.c_void_p, c.c_int)(0)
        return self.device_function(device, name, result, *arguments) if device else None

    def new_threadpool(self, threads: int, poll: int) -> int | None:
        """As llama-bench makes it: a pool that polls instead of sleeping between graphs.

        Free it with `free_threadpool`. None where this engine has no such pools.
        """
        create = self.cpu_function("ggml_threadpool_new", c.c_void_p, c.c_void_p)
        if create is None:
            return None
        settings = _ThreadpoolParams()
        init = self.function("ggml_threadpool_params_init", None, c.c_void_p, c.c_int)
        init(c.byref(settings), threads)
        settings.poll = poll
        pool: int | None = create(c.byref(settings))
        return pool

    def free_threadpool(self, pool: int | None) -> None:
        """End a pool of `new_threadpool`; nothing for None."""
        if pool:
            self.cpu_function("ggml_threadpool_free", None, c.c_void_p)(pool)

    def _device(self, device: int) -> Device:
        told = _Properties()
        get = self.function("ggml_backend_dev_get_props", None, c.c_void_p, c.c_void_p)
        get(device, c.byref(told))
        name, description = _text(told.name), _text(told.description)
        registry = self.function("ggml_backend_dev_backend_reg", c.c_void_p, c.c_void_p)(device)
        backend = self.function("ggml_backend_reg_name", c.c_char_p, c.c_void_p)(registry)
        return Device(
            name,
            description,
            device_kind(told.type, f"{name} {description}"),
            _text(backend),
            ram_bytes(told.memory_total),
            told.memory_free if ram_bytes(told.memory_total) else None,
            # only an address is taken: other ids may be serial numbers
            pci_address(_text(told.device_id)),
        )


def device_kind(ggml_type: int, names: str) -> DeviceKind:
    """What ggml's device type is; software rasterizers are named as such, whatever ggml says."""
    if any(word in names.lower() for word in _SOFTWARE):
        return DeviceKind.SOFTWARE
    return _KINDS[ggml_type] if 0 <= ggml_type < len(_KINDS) else DeviceKind.ACCELERATOR


def _text(value: bytes | None) -> str:
    return printable(value.decode(errors="replace")) if value else ""


def _beside(api: Any) -> list[c.CDLL]:
    """On Windows a lookup does not reach a library's dependencies: open them by name.

    Windows keeps one copy of a module per name, so these are the ones that llama.dll loaded.
    """
    folder = Path(api.__file__).parent / "lib"
    names = ("ggml.dll", "ggml-base.dll") if sys.platform == "win32" else ()
    return [c.CDLL(str(folder / name)) for name in names if (folder / name).exists()]
