"""Guards for every test: nothing may be left running, and each test has a home of its own."""

import os
import threading
from pathlib import Path

import psutil
import pytest

REFERENCE_BYTES = 98_362_432

# tables are as wide as a test says, not as the terminal or pytest-xdist's worker is
os.environ.pop("COLUMNS", None)


@pytest.fixture(autouse=True)
def nothing_left_behind():
    """Fail a test that leaves a thread or a child process alive."""
    threads = set(threading.enumerate())
    children = set(psutil.Process().children(recursive=True))
    yield
    left = [t.name for t in set(threading.enumerate()) - threads if t.is_alive() and not t.daemon]
    here = set(psutil.Process().children(recursive=True)) - children
    kids = [p.cmdline() for p in here if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
    assert not left, f"threads {left}"
    assert not kids, f"processes {kids}"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    """A test's own servers are reached directly."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A Gram profile of its own, and no key from the environment."""
    from desktop.paths import default_paths

    monkeypatch.setenv("GRAM_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("GRAM_KEY_FILE", raising=False)
    return default_paths().ensure()


@pytest.fixture(scope="session")
def reference_file() -> Path:
    """The reference build, which the set-up took out of a PyPI wheel."""
    path = Path(os.environ.get("GRAM_REFERENCE_FILE", ""))
    if not path.is_file():
        pytest.skip("GRAM_REFERENCE_FILE is not set: run the tests with `python3 dev.py test`")
    assert path.stat().st_size == REFERENCE_BYTES
    return path
