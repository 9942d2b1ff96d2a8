"""`gram` in the environment's folder of programs: starts this clone's package from any folder."""

import shlex
import sys
from pathlib import Path, PurePath

from devtools.places import ROOT, VENV, venv_python

# the safe path: the current folder's files are nobody's modules
_SHELL = """#!/bin/sh
{reference}export PYTHONPATH={root}"${{PYTHONPATH:+:$PYTHONPATH}}" PYTHONSAFEPATH=1
exec {python} -m desktop "$@"
"""
_WINDOWS = (
    '@setlocal\r\n@set "PYTHONPATH=%~dp0..\\.."\r\n@set "PYTHONSAFEPATH=1"\r\n'
    '{reference}@"%~dp0python.exe" -m desktop %*\r\n'
)


def write_launcher(reference: dict[str, str], venv: Path = VENV) -> Path:
    """Write `gram`; `reference` names the reference build for who does not name another.

    Returns its path. On Windows it is `gram.cmd`.
    """
    python = venv_python(venv)
    windows = sys.platform == "win32"
    path = python.parent / ("gram.cmd" if windows else "gram")
    text = launcher_text(python, ROOT, reference, windows=windows)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8", newline="")
        path.chmod(0o755)
    return path


def launcher_text(
    python: PurePath, root: PurePath, reference: dict[str, str], *, windows: bool
) -> str:
    """The launcher's text."""
    if windows:
        lines = "".join(f'@if not defined {k} set "{k}={v}"\r\n' for k, v in reference.items())
        return _WINDOWS.format(reference=lines)
    quoted = {k: shlex.quote(v) for k, v in reference.items()}
    lines = "".join(f'[ -n "${k}" ] || export {k}={v}\n' for k, v in quoted.items())
    return _SHELL.format(
        python=shlex.quote(str(python)), root=shlex.quote(str(root)), reference=lines
    )
