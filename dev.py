#!/usr/bin/env python3
"""Set up, run, test and package Gram from a clone: `python3 dev.py --help`.

Standard library only, because it is what makes the environment. The work is in devtools/.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - this line is for those who start it with an older one
    sys.exit("Gram needs Python 3.11 or newer; this one is " + sys.version.split()[0] + ".")

from devtools.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
