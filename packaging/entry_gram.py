"""The console program: the terminal's door and, with `--worker`, the measuring process.

It is frozen without Qt, so `gram window` starts the windowed program that lies beside it.
"""

import subprocess
import sys
from pathlib import Path

from desktop.__main__ import main


def window(arguments: list[str]) -> int:
    """Start the windowed program and wait for its end, as `gram window` does in the source tree."""
    name = "gram-window.exe" if sys.platform == "win32" else "gram-window"
    return subprocess.call([Path(sys.executable).with_name(name), *arguments])


if sys.argv[1:2] == ["window"]:
    sys.exit(window(sys.argv[2:]))
sys.exit(main())
