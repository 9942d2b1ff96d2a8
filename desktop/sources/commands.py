"""Run a tool of the system with a time limit, never through a shell."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from desktop.sources.texts import BETWEEN_LINES, printable

LIMIT_S = 2.0
MOST_BYTES = 1024 * 1024
"""Of what a tool prints; none of them has more to say."""
_NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""Windows would flash a console window otherwise."""


class Failure(StrEnum):
    """Why a tool gave nothing."""

    MISSING = "missing"
    REFUSED = "refused"
    STUCK = "stuck"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ToolFailure:
    """A tool that gave nothing, by name, so that it can be told to people."""

    tool: str
    why: Failure
    status: int | None = None


def run_tool(
    arguments: Sequence[str], limit_s: float = LIMIT_S, environment: Mapping[str, str] | None = None
) -> str | ToolFailure:
    """Standard output of a tool as text, or the named failure. Never raises.

    Args:
        arguments: the program and its arguments.
        limit_s: after this many seconds the tool is killed and given up on.
        environment: replaces the whole environment when given.
    """
    tool = arguments[0]
    try:
        done = subprocess.run(
            list(arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit_s,
            check=False,
            env=environment,
            creationflags=_NO_WINDOW,
        )
    except FileNotFoundError:
        return ToolFailure(tool, Failure.MISSING)
    except subprocess.TimeoutExpired:
        return ToolFailure(tool, Failure.STUCK)
    except OSError as e:
        return ToolFailure(tool, Failure.REFUSED, e.errno)
    if done.returncode != 0:
        return ToolFailure(tool, Failure.FAILED, done.returncode)
    return printable(done.stdout[:MOST_BYTES].decode("utf-8", errors="replace"), BETWEEN_LINES)


def text_or_none(output: str | ToolFailure) -> str | None:
    """The text, when only that matters."""
    return output if isinstance(output, str) else None
