"""`gram doctor`: what Gram needs, what is found, what is missing, and where the log is."""

import contextlib
import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from secrets import token_hex
from typing import Final

from desktop import __version__
from desktop.builds.hashes import hashes_in
from desktop.builds.own_builds import own_builds
from desktop.builds.reference import FILE_VARIABLE, reference, stored_reference
from desktop.builds.store import find_build
from desktop.errors import GramError
from desktop.identity.keys import KEY_FILE_VARIABLE
from desktop.machine.screen import has_screen
from desktop.paths import Paths, default_paths
from desktop.records.request import REFERENCE
from desktop.services.facts import engine_devices, machine_facts
from desktop.services.finding import FAULTS, FOLDER_FIRST, Finding
from desktop.services.key_findings import key_file_finding, keychain_finding
from desktop.services.ledger_finding import ledger_finding
from desktop.services.log import check_log_file
from desktop.services.named_builds import others_here
from desktop.settings import read_settings
from desktop.toml_file import broken_ones

LITTLE_DISK_BYTES: Final = 1 << 30
_SET_ASIDE: Final = (
    "They are yours: nothing reads or removes them. Repair one with an editor and name it {name}, "
    "or delete them."
)
__all__ = ["FAULTS", "Finding", "examine"]


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
        _tried("Keychain", lambda: keychain_finding(here)),
        *((_tried("Key file", key_file_finding),) if os.environ.get(KEY_FILE_VARIABLE) else ()),
        _tried("Reference build", lambda: _reference(here, room=room)),
        _tried("Ledger", lambda: ledger_finding(here, room=room)),
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
        return Finding(what, state, f"It could not be looked at: {e.strerror or e}.", FOLDER_FIRST)
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
    told = read_settings(paths.settings).told
    lines, advice = [r.text() for r in told], [r.advice() for r in told]
    if not told:
        file = paths.settings
        said = str(file) if file.exists() else f"none at {file}: the defaults are used"
        lines = [said] if room else [f"{said}; nothing can be set"]
        advice = [] if room else [FOLDER_FIRST]
    aside = broken_ones(paths.settings)
    if aside:
        names = ", ".join(path.name for path in aside)
        lines.append(f"Beside it, set aside as they could not be read: {names}.")
        advice.append(_SET_ASIDE.format(name=paths.settings.name))
    state = "ok" if room and not told else "optional"
    return Finding("Settings", state, "\n".join(lines), "\n".join(advice))


def _log(paths: Paths) -> Finding:
    """Of both logs; where their folder is at fault, that of the data folder says what it costs."""
    kept = _why_not_written(paths.log, "no log is kept")
    engine = _why_not_written(paths.worker_log, "nothing can be measured")
    said = [why for why in (kept, engine) if why is not None]
    if not said:
        return Finding("Log", "ok", str(paths.log))
    if not os.path.isdir(paths.log_dir):  # noqa: PTH112 - the other one raises
        return Finding("Log", "optional", said[0], FOLDER_FIRST)
    state = "optional" if engine is None else "missing"
    return Finding("Log", state, "\n".join(said), FOLDER_FIRST)


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


def _reference(paths: Paths, *, room: bool) -> str:
    named = os.environ.get(FILE_VARIABLE)
    if not named and not stored_reference(paths).exists():
        kept = _kept_reference(paths)
        if kept is None:
            raise GramError("reference_later" if room else "reference_no_room")
        return kept
    local = find_build(named or REFERENCE, paths, hashes_in(paths))
    return f"{local.build.name}, {local.build.size_bytes:,} bytes, checksum right"


def _kept_reference(paths: Paths) -> str | None:
    """Who else keeps it, as far as hashes are remembered: nothing is hashed for this row."""
    for found in chain(own_builds(paths), others_here(paths)):
        if reference().sha256 in {found.sha256, found.files[0].parent.name}:
            keepers = ", ".join(dict.fromkeys(place.program for place in found.places))
            return f"{reference().name}, kept by {keepers}: used where it is"
    return None


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
