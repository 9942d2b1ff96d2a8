"""The windowed program. On Windows it has no stdout, so the worker is the console program."""

import sys

from desktop.__main__ import window

sys.exit(window())
