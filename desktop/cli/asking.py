"""Whether somebody is there who could answer a question."""

import sys


def can_ask() -> bool:
    """Whether stdin is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()
