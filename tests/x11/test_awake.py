"""The machine is asked not to sleep while a run goes on, and may sleep again after it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = """
"$PYTHON" "$INHIBITOR" > "$LOG" &
until grep -q ready "$LOG"; do sleep 0.05; done
"$PYTHON" -m desktop bench --unsigned --tests pp16,tg4 --repetitions 1 && cat "$LOG"
kill %1
"""

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(sys.platform != "linux", reason="D-Bus"),
    pytest.mark.skipif(not shutil.which("dbus-run-session"), reason="no D-Bus"),
]


def test_a_run_holds_sleep_off_and_lets_go(home, reference_file, tmp_path):
    environment = os.environ | {
        "PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),
        "INHIBITOR": str(Path(__file__).with_name("inhibitor.py")),
        "LOG": str(tmp_path / "log"),
        "GRAM_REFERENCE_FILE": str(reference_file),
    }
    done = subprocess.run(
        ["dbus-run-session", "--", "bash", "-c", SCRIPT],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    said = [line for line in done.stdout.splitlines() if "inhibit" in line]
    assert said == ["inhibit", "uninhibit 7"], done.stdout + done.stderr
