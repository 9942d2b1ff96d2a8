"""Whether a window can be shown here."""

import os
import sys
from collections.abc import Mapping


def has_screen(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this session has a screen. On Linux that is an X or Wayland display.

    Over ssh on Windows and macOS there is none either, though nothing in the system says so.
    """
    if sys.platform.startswith(("win", "darwin")):
        return "SSH_CONNECTION" not in environment
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))
