"""`gram doctor`: what Gram needs, what is found, what is missing, and where the log is."""

import contextlib
import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Final

from desktop import __version__
from desktop.builds.hashes import hashes_in
from desktop.builds.reference import FILE_VARIABLE, stored_reference
from desktop.builds.store import find_build
from desktop.errors import GramError, KeyUnavailableError, LedgerError
from desktop.identity import keychain
from desktop.identity.key_file import check_key_file
from desktop.machine.screen import has_screen
from desktop.network.ledger import Ledger
from desktop.paths import Paths, default_paths
from desktop.records.request import REFERENCE
from desktop.services.facts import engine_devices, machine_facts
from desktop.services.log import check_log_file
from desktop.settings import read_settings

LITTLE_DISK_BYTES: Final = 1 << 30
_FOLDER_FIRST: Final = "Let Gram write in the folder, or choose another with GRAM_HOME."


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the examination."""

    what: str
    state: str
    """`ok`, `optional` (goes without) or `missing` (Gram cannot measure or sign without)."""
    detail: str
    advice: str = ""


def examine(paths: Paths | None = None) -> tuple[Finding, ...]:
    """Look at everything; takes seconds. Never raises, never makes a key, never prompts."""
    here = paths or default_paths()
    folder = _tried("Data folder", lambda: _folder(here))
    room = folder.state == "ok"
    return (
        Finding("Gram", "ok", f"{__version__}, Python {platform.python_version()}"),
        folder,
        _tried("Settings", lambda: _settings(here, room=room)),
        _tried("Engine", lambda: _engine(here)),
        _tried("Machine", lambda: _machine(here)),
        _tried("Keychain", lambda: _keychain(here)),
        _tried("Reference build", lambda: _reference(here, room=room)),
        _tried("Ledger", lambda: _ledger(here, room=room)),
        _tried("Window", _window),
        _tried("Log", lambda: _log(here)),
    )


def _tried(what: str, look: Callable[[], str | Finding]) -> Finding:
    """What a look gives; one that fails costs only its own row."""
    state = "optional" if what == "Reference build" else "missing"
    try:
        found = look()
    except GramError as e:
        return Finding(what, state, e.reason.text(), e.reason.advice())
    except OSError as e:
        return Finding(what, state, f"It could not be looked at: {e.strerror or e}.", _FOLDER_FIRST)
    except Exception as e:  # noqa: BLE001 - a doctor tells every illness
        return Finding(what, "missing", f"{type(e).__name__}: {e}", "Report this with the log.")
    return found if isinstance(found, Finding) else Finding(what, "ok", found)


def _folder(paths: Paths) -> str:
    paths.ensure()
    # a name of its own: two may be looking at once
    probe = paths.data / f".probe-{token_hex(4)}"
    try:
        with probe.open("xb") as file:
            file.write(b"x")
    except OSError as e:
        raise GramError("folder_read_only", detail=e.strerror or str(e)) from e
    finally:
        with contextlib.suppress(OSError):
            probe.unlink()
    free = shutil.disk_usage(paths.data).free
    little = " (little: a build may not fit)" if free < LITTLE_DISK_BYTES else ""
    return f"{paths.data}, {free / 1e9:.1f} GB free{little}"


def _settings(paths: Paths, *, room: bool) -> Finding:
    """As every other command reads them: a broken file is set aside by this one too."""
    what = "Settings"
    told = read_settings(paths.settings).told
    if told:
        advice = "\n".join(reason.advice() for reason in told)
        return Finding(what, "optional", "\n".join(r.text() for r in told), advice)
    here = paths.settings.exists()
    detail = str(paths.settings) if here else f"none at {paths.settings}: the defaults are used"
    if not room:
        return Finding(what, "optional", f"{detail}; nothing can be set", _FOLDER_FIRST)
    return Finding(what, "ok", detail)


def _ledger(paths: Paths, *, room: bool) -> Finding:
    """Read, and written to where there is one: a file may refuse what its folder allows."""
    what, ledger = "Ledger", Ledger(paths.ledger)
    kept = f"statements kept: {len(ledger.entries())}"
    if not room:
        return Finding(what, "missing", f"{kept}; no further result can be kept", _FOLDER_FIRST)
    try:
        if paths.ledger.exists():
            ledger.check()
    except LedgerError as e:
        why = e.reason.params.get("detail", e.reason.text())
        detail = f"{kept}; no further result can be kept ({why})"
        return Finding(what, "missing", detail, e.reason.advice())
    return Finding(what, "ok", kept)


def _log(paths: Paths) -> Finding:
    """Of both logs; where their folder is at fault, that of the data folder says what it costs."""
    kept = _why_not_written(paths.log, "no log is kept")
    engine = _why_not_written(paths.worker_log, "nothing can be measured")
    said = [why for why in (kept, engine) if why is not None]
    if not said:
        return Finding("Log", "ok", str(paths.log))
    if not os.path.isdir(paths.log_dir):  # noqa: PTH112 - the other one raises
        return Finding("Log", "optional", said[0], _FOLDER_FIRST)
    state = "optional" if engine is None else "missing"
    return Finding("Log", state, "\n".join(said), _FOLDER_FIRST)


def _why_not_written(log: Path, loss: str) -> str | None:
    try:
        check_log_file(log)
    except OSError as e:
        return f"{log} cannot be written ({e.strerror or e}): {loss}"
    return None


def _engine(paths: Paths) -> str:
    found = engine_devices(paths)
    devices = ", ".join(f"{d.name} ({d.description}, {d.kind})" for d in found.devices)
    return f"{found.engine} {found.version}; its devices: {devices}"


def _machine(paths: Paths) -> str:
    facts = machine_facts(paths)
    meter = facts.meter
    return f"{facts.kind}; power: {meter.source} ({meter.name}). {meter.detail}".strip()


def _keychain(paths: Paths) -> Finding:
    status = keychain.status(os.environ)
    if status.usable:
        return Finding("Keychain", "ok", status.backend)
    reason = status.reason
    advice = reason.advice() if reason else ""
    detail = reason.text() if reason else "not usable"
    if not _is_there(paths.key_file):
        return Finding("Keychain", "optional", detail, advice)
    try:
        check_key_file(paths.key_file)
    except KeyUnavailableError as e:
        said = f"{detail} {e.reason.text()}"
        return Finding("Keychain", "missing", said, e.reason.advice())
    return Finding("Keychain", "optional", f"{detail} A key file is here.", advice)


def _is_there(path: Path) -> bool:
    """Raises OSError where that cannot be seen."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True


def _reference(paths: Paths, *, room: bool) -> str:
    named = os.environ.get(FILE_VARIABLE)
    if not named and not stored_reference(paths).exists():
        raise GramError("reference_later" if room else "reference_no_room")
    local = find_build(named or REFERENCE, paths, hashes_in(paths))
    return f"{local.build.name}, {local.build.size_bytes:,} bytes, checksum right"


def _window() -> Finding:
    """Looked for without importing it: the terminal never loads Qt."""
    missing = list(_missing_modules())
    if missing:
        return Finding("Window", "optional", f"not installed: {', '.join(missing)}")
    if not has_screen():
        return Finding("Window", "optional", "no screen here; use the terminal")
    return Finding("Window", "ok", "a screen and Qt are here")


def _missing_modules() -> Iterator[str]:
    if getattr(sys, "frozen", False):
        return
    for name in ("PySide6", "pyqtgraph"):
        if importlib.util.find_spec(name) is None:
            yield name
