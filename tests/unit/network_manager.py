"""A stand-in for NetworkManager on a bus of its own. Run by test_metered.py as a program.

The address of the bus and what the service does are its arguments: a number is what it answers.
"""

import sys

from jeepney import HeaderFields, message_bus, new_error, new_method_return
from jeepney.io.blocking import open_dbus_connection

NAME = "org.freedesktop.NetworkManager"


def answer(bus, asked, manner: str) -> None:
    if asked.body != (NAME, "Metered") or manner == "missing":
        bus.send(new_error(asked, "org.freedesktop.DBus.Error.InvalidArgs", "s", ("No such",)))
    elif manner == "text":
        bus.send(new_method_return(asked, "v", (("s", "yes"),)))
    elif manner == "bool":
        bus.send(new_method_return(asked, "v", (("b", True),)))
    elif manner == "bare":
        bus.send(new_method_return(asked, "u", (1,)))
    elif manner == "empty":
        bus.send(new_method_return(asked))
    elif manner != "silent":
        bus.send(new_method_return(asked, "v", (("u", int(manner)),)))


def main(address: str, manner: str) -> None:
    bus = open_dbus_connection(address)
    bus.send_and_get_reply(message_bus.RequestName(NAME))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        asked = bus.receive()
        if asked.header.fields.get(HeaderFields.member) == "Get":
            answer(bus, asked, manner)


if __name__ == "__main__":
    main(*sys.argv[1:])
