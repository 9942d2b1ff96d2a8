"""NetworkManager's word on the connection, over the system's D-Bus.

Its property `Metered` is that of the device with the best default route (libnm, `NMMetered`).
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from jeepney import (
    DBusAddress,
    HeaderFields,
    Message,
    MessageFlag,
    MessageType,
    Parser,
    Properties,
    message_bus,
)
from jeepney.bus import get_connectable_addresses
from jeepney.io.blocking import prep_socket

from desktop.sources.commands import LIMIT_S

ADDRESS_VARIABLE: Final = "DBUS_SYSTEM_BUS_ADDRESS"
USUAL_ADDRESS: Final = "unix:path=/var/run/dbus/system_bus_socket"
"""D-Bus specification, "System message bus"."""
NAME: Final = "org.freedesktop.NetworkManager"
_MANAGER: Final = DBusAddress("/org/freedesktop/NetworkManager", NAME, NAME)
_READ_BYTES: Final = 4096


def read_metered(environment: Mapping[str, str], limit_s: float = LIMIT_S) -> object:
    """The property as it came, a number where all is well; None: there is no answer. Never raises.

    NetworkManager is not started by being asked.

    Args:
        environment: may name another bus by `DBUS_SYSTEM_BUS_ADDRESS`.
        limit_s: for all of it, in seconds.
    """
    address = environment.get(ADDRESS_VARIABLE) or USUAL_ADDRESS
    asked = Properties(_MANAGER).get("Metered")
    asked.header.flags |= MessageFlag.no_auto_start
    try:
        with _connection(address, time.monotonic() + limit_s) as ask:
            ask(message_bus.Hello(), 1)
            reply = ask(asked, 2)
    except Exception:  # noqa: BLE001 - what answers may not be a bus, and the parser believes it
        return None
    return _value(reply)


@contextmanager
def _connection(address: str, end_s: float) -> Iterator[Callable[[Message, int], Message]]:
    """Asks a message with its serial; jeepney's own connection waits for its first answer for ever.

    Raises:
        OSError: nobody listens or answers, `TimeoutError` among them.
        Exception: what jeepney raises where the address or an answer is none.
    """
    bus = prep_socket(next(get_connectable_addresses(address)), timeout=end_s - time.monotonic())
    parser = Parser()

    def ask(message: Message, serial: int) -> Message:
        bus.settimeout(_left_s(end_s))
        bus.sendall(message.serialise(serial=serial))
        while True:
            found = parser.get_next_message()
            if found is None:
                bus.settimeout(_left_s(end_s))
                parser.add_data(_some(bus.recv(_READ_BYTES)))
            elif found.header.fields.get(HeaderFields.reply_serial) == serial:
                return found
            else:
                _left_s(end_s)

    with bus:
        yield ask


def _left_s(end_s: float) -> float:
    left_s = end_s - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    return left_s


def _some(data: bytes) -> bytes:
    if not data:
        raise ConnectionResetError
    return data


def _value(reply: Message) -> object:
    """What is in the variant of a return of `Properties.Get`, by its own type."""
    if reply.header.message_type is not MessageType.method_return:
        return None
    match reply.body:
        case ((_, value),):
            return value
        case _:
            return None
