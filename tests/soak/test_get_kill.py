"""`gram builds get` killed again and again, over real builds; then checked, measured, found here."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import desktop
from tests.unit.hub_routes import Repo, hub_server

pytestmark = pytest.mark.soak
KILLS = 20
NAME = "o/r:Q4_K_M"
MB_S = "60"


def gram(environment, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "desktop", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def done(environment, *arguments):
    child = gram(environment, *arguments)
    out, err = child.communicate(timeout=300)
    assert child.returncode == 0, err
    return out, err


@pytest.fixture(params=["GRAM_REFERENCE_FILE", "GRAM_GEMMA_FILE"])
def content(request):
    """SmolLM2 135M, 98 MB, and Gemma 3 270M, 253 MB."""
    path = Path(os.environ.get(request.param, ""))
    if not path.is_file():
        pytest.skip(f"{request.param} is not set: run `python3 dev.py soak`")
    return path.read_bytes()


@pytest.mark.timeout(900)
@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX's")
def test_killed_at_any_moment_it_goes_on_and_is_right(tmp_path, content):
    rng = random.Random(7)
    with hub_server(o__r=Repo({"m-Q4_K_M.gguf": content})) as hub:
        home = tmp_path / "home"
        environment = os.environ | {
            "GRAM_HOME": str(home),
            "HOME": str(tmp_path),
            "HF_ENDPOINT": hub.url,
            "PYTHONPATH": str(Path(desktop.__file__).parent.parent),
        }
        get = ("builds", "get", NAME, "--limit", MB_S)
        kills = 0
        while not list(home.glob("builds/*/m-Q4_K_M.gguf")) and kills < KILLS:
            child = gram(environment, *get)
            # the moments themselves are the point: in the start, the asking and the fetching
            time.sleep(rng.uniform(0.2, 3))
            child.kill()
            child.communicate()
            kills += 1
        assert kills > 1
        got = json.loads(done(environment, *get, "--json")[0])
        # what came before a kill did not come again, but for a piece of each connection
        most = len(content) + (kills + 1) * (4 * (8 << 20) + (16 << 20))
        assert hub.sent < most
    [file] = home.glob("builds/*/*.gguf")
    assert file.read_bytes() == content
    assert got["held"]["files"] == [str(file)]
    assert "Every byte is right" in done(environment, "builds", "verify")[1]
    [held] = json.loads(done(environment, "builds", "--json")[0])["held"]
    assert (held["name"], held["kept"], held["ours"]) == (f"hf.co/{NAME}", "whole", True)
    assert sorted(p.suffix for p in file.parent.iterdir()) in ([".gguf"], [".gguf", ".lock"])
    run = ("--unsigned", "--json", "--repetitions", "1", "--tests", "pp16,tg4")
    measured = json.loads(done(environment, "bench", NAME, *run)[0])
    assert measured["run"]["build"]["sha256"] == file.parent.name
