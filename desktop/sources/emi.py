"""Windows' Energy Metering Interface: energy counters that drivers offer to every user.

Control codes and the interface's identifier by `emi.h` of the Windows SDK; how to find and ask the
devices by Microsoft Learn, "Energy Meter Interface". Bytes out; `power.parse_emi` reads them.
"""

import sys
from typing import Final, Protocol

GET_VERSION: Final = 0x224000
GET_METADATA_SIZE: Final = 0x224004
GET_METADATA: Final = 0x224008
GET_MEASUREMENT: Final = 0x22400C
INTERFACE: Final = "{45BD8344-7ED6-49CF-A440-C276C933B053}"
_MOST_BYTES: Final = 65_536
_CHANNEL_BYTES: Final = 16
_COUNT_AT: Final = 66
"""Of `ChannelCount` in `EMI_METADATA_V2`: after two names of 16 wide characters and a revision."""
_V2: Final = 2


class EmiDevice(Protocol):
    """One open energy meter."""

    @property
    def version(self) -> int:
        """1 (one channel) or 2 (several)."""
        ...

    def metadata(self) -> bytes | None:
        """`EMI_METADATA_V1` or `_V2`, by the version."""
        ...

    def measurement(self) -> bytes | None:
        """`EMI_CHANNEL_MEASUREMENT_DATA` of each channel, one after another; None when refused."""
        ...

    def close(self) -> None:
        """Let the device go."""
        ...


def measurement_length(version: int, metadata: bytes | None) -> int:
    """Bytes of one measurement: version 2 has as many channels as its metadata counts, 1 has one.

    A buffer that is too small is refused by the driver, so the count is asked, not guessed.
    """
    if version != _V2:
        return _CHANNEL_BYTES
    count = int.from_bytes((metadata or b"")[_COUNT_AT : _COUNT_AT + 2], "little")
    return max(1, count) * _CHANNEL_BYTES


def open_devices() -> tuple[EmiDevice, ...]:
    """All energy meters of this Windows; none elsewhere, and none that may not be opened."""
    found: tuple[EmiDevice, ...] = ()
    if sys.platform == "win32":
        found = tuple(device for path in _paths() if (device := _open(path)) is not None)
    return found


if sys.platform == "win32":
    import ctypes
    import uuid
    from ctypes import wintypes

    _READ = 0x80000000
    _SHARED = 0x3
    _EXISTING = 3
    _INVALID = ctypes.c_void_p(-1).value

    class _Device:
        def __init__(self, kernel: ctypes.WinDLL, handle: int) -> None:
            self._kernel, self._handle = kernel, handle
            told = self._ask(GET_VERSION, 2)
            self.version = int.from_bytes(told, "little") if told else 0
            self._length = measurement_length(self.version, self.metadata())

        def metadata(self) -> bytes | None:
            size = self._ask(GET_METADATA_SIZE, 4)
            length = int.from_bytes(size, "little") if size else 0
            return self._ask(GET_METADATA, length) if 0 < length <= _MOST_BYTES else None

        def measurement(self) -> bytes | None:
            return self._ask(GET_MEASUREMENT, self._length)

        def close(self) -> None:
            self._kernel.CloseHandle(wintypes.HANDLE(self._handle))

        def _ask(self, code: int, length: int) -> bytes | None:
            answer, told = ctypes.create_string_buffer(length), wintypes.DWORD()
            given = self._kernel.DeviceIoControl(
                wintypes.HANDLE(self._handle),
                wintypes.DWORD(code),
                None,
                0,
                answer,
                length,
                ctypes.byref(told),
                None,
            )
            return answer.raw[: told.value] if given else None

    def _open(path: str) -> _Device | None:
        kernel = ctypes.WinDLL("kernel32")
        kernel.CreateFileW.restype = wintypes.HANDLE
        handle = kernel.CreateFileW(path, _READ, _SHARED, None, _EXISTING, 0, None)
        return None if handle in (None, _INVALID) else _Device(kernel, handle)

    def _paths() -> list[str]:
        """The devices' paths; they name hardware and are neither kept nor shown."""
        try:
            manager = ctypes.WinDLL("cfgmgr32")
        except OSError:
            return []
        which = (ctypes.c_byte * 16).from_buffer_copy(uuid.UUID(INTERFACE).bytes_le)
        length = wintypes.ULONG()
        if manager.CM_Get_Device_Interface_List_SizeW(ctypes.byref(length), which, None, 0):
            return []
        listed = ctypes.create_unicode_buffer(length.value)
        if manager.CM_Get_Device_Interface_ListW(which, None, listed, length.value, 0):
            return []
        return [path for path in ctypes.wstring_at(listed, length.value).split("\0") if path]
