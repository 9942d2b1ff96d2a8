"""A session manager that only notes who asks it not to sleep. Run by test_awake.py as a program."""

import sys

from jeepney import HeaderFields, MessageType, message_bus, new_error, new_method_return
from jeepney.io.blocking import open_dbus_connection


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def main() -> None:
    bus = open_dbus_connection("SESSION")
    for name in ("org.gnome.SessionManager", "org.freedesktop.PowerManagement"):
        bus.send_and_get_reply(message_bus.RequestName(name))
    say("ready")
    while True:
        asked = bus.receive()
        if asked.header.message_type != MessageType.method_call:
            continue
        member = asked.header.fields[HeaderFields.member]
        if member == "Inhibit":
            say("inhibit")
            bus.send(new_method_return(asked, "u", (7,)))
        elif member.lower() == "uninhibit":
            say("uninhibit", asked.body[0])
            bus.send(new_method_return(asked))
        else:
            bus.send(new_error(asked, "org.freedesktop.DBus.Error.UnknownMethod"))


main()
