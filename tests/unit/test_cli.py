"""The terminal door as a person uses it: real processes, the real engine, a profile of its own."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[2]
SHORT = ("--repetitions", "1", "--tests", "pp16,tg4")


@pytest.fixture
def gram(home, reference_file):
    """Run `gram ARGS`, without a session bus or screen: a bare server."""
    environment = {
        k: v
        for k, v in os.environ.items()
        if k not in {"DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"}
    }
    environment |= {"PYTHONPATH": str(ROOT), "GRAM_REFERENCE_FILE": str(reference_file)}

    def run(*arguments, start=False, env=None, **options):
        command = [sys.executable, "-m", "desktop", *arguments]
        options = {
            "env": environment | (env or {}),
            "text": True,
            "cwd": home.data,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
        } | options
        return (
            subprocess.Popen(command, **options)
            if start
            else subprocess.run(command, timeout=100, check=False, **options)
        )

    return run


def test_help_is_for_newcomers_and_loads_neither_qt_nor_engine(gram):
    done = gram("--help")
    assert done.returncode == 0
    assert "Start here" in done.stdout
    code = "import sys; from desktop.__main__ import main; sys.argv=['gram','--help']; main(); print(sorted(m for m in sys.modules if m.split('.')[0] in {'PySide6','llama_cpp','numpy','keyring','requests','rich'}))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert loaded.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "command", ["machine", "bench", "results", "verify", "builds", "doctor", "estimate"]
)
def test_every_command_explains_itself(gram, command):
    done = gram(command, "--help")
    assert done.returncode == 0
    assert "Usage: gram" in done.stdout


def test_a_wrong_command_says_what_there_is(gram):
    done = gram("benhc")
    assert done.returncode == 2
    assert "No such command" in done.stderr


@pytest.mark.engine
def test_measure_sign_list_verify_export(gram, home, tmp_path):
    key = tmp_path / "my key"
    done = gram("bench", "--key-file", str(key), "--json", *SHORT)
    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    result = json.loads(done.stdout)
    assert result["run"]["build"]["size_bytes"] == 98_362_432
    assert {r["test"] for r in result["run"]["rates"]} == {"pp16", "tg4"}
    assert all(r["median_tok_s"] > 0 for r in result["run"]["rates"])

    rows = json.loads(gram("results", "--json").stdout)
    assert [r["id"] for r in rows] == [result["statement_id"]]
    assert rows[0]["key_id"] == result["key_id"]

    exported = gram("results", "--export", rows[0]["id"][:10])
    file = tmp_path / "statement.json"
    file.write_text(exported.stdout, encoding="utf-8")
    assert gram("verify", str(file)).returncode == 0
    assert "holds" in gram("verify", rows[0]["id"][:10]).stdout

    changed = json.loads(exported.stdout)
    changed["payload"] = changed["payload"][:-8] + "AAAAAAA="
    file.write_text(json.dumps(changed), encoding="utf-8")
    refused = gram("verify", str(file))
    assert refused.returncode == 1
    assert "gram: " in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.engine
def test_without_a_keychain_the_error_says_what_can_be_done(gram):
    done = gram("bench", *SHORT)
    assert done.returncode == 1
    assert "--key-file" in done.stderr
    assert "--unsigned" in done.stderr
    assert json.loads(gram("results", "--json").stdout) == []


@pytest.mark.engine
def test_the_first_command_on_a_bare_server_ends_in_a_signed_result(gram, home):
    done = gram("--first-run", *SHORT)
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if "key" in line]
    assert said
    assert stat.S_IMODE(home.key_file.stat().st_mode) == 0o600
    assert "signed ·" in done.stdout
    assert len(json.loads(gram("results", "--json").stdout)) == 1


@pytest.mark.engine
def test_a_card_that_is_not_there_is_named_with_those_that_are(gram):
    done = gram("bench", "--unsigned", "--device", "CUDA9", *SHORT)
    assert done.returncode == 1
    assert "no card called CUDA9" in done.stderr
    assert "It lists: none" in done.stderr


@pytest.mark.engine
def test_unsigned_is_shown_and_not_kept(gram):
    done = gram("bench", "--unsigned", *SHORT)
    assert done.returncode == 0, done.stderr
    assert "not signed, not kept" in done.stdout
    assert json.loads(gram("results", "--json").stdout) == []


@contextmanager
def running(process):
    """A started `gram`, ended whatever happens."""
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=10)


def gone(process):
    """Ended; a container without an init leaves orphans as zombies, which run no more."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def wait_for_worker(process, threads=3):
    """The worker process of a running `gram bench`, once it is there.

    With one thread it is the first that is seen: it may only be asked for the engine's devices.
    """
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.Error):  # it may end at any moment
                if "--worker" in child.cmdline() and child.num_threads() >= threads:
                    return child
        time.sleep(0.02)
    raise AssertionError("no worker came")


@pytest.mark.engine
@pytest.mark.skipif(os.name == "nt", reason="signals as on POSIX")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopping_leaves_no_worker_and_no_result(gram, number, threads):
    with running(gram("bench", "--unsigned", "--repetitions", "500", start=True)) as process:
        worker = wait_for_worker(process, threads)
        asked = time.monotonic()
        process.send_signal(number)
        process.communicate(timeout=10)
        assert time.monotonic() - asked < 5
    assert process.returncode == 130
    assert gone(worker)


@pytest.mark.engine
@pytest.mark.skipif(os.name == "nt", reason="signals as on POSIX")
def test_kill_9_of_the_app_takes_the_worker_with_it(gram):
    with running(gram("bench", "--unsigned", "--repetitions", "500", start=True)) as process:
        worker = wait_for_worker(process)
        process.kill()
        process.wait(timeout=10)
        deadline = time.monotonic() + 10
        while not gone(worker) and time.monotonic() < deadline:
            time.sleep(0.02)
    assert gone(worker)


@pytest.mark.engine
def test_two_at_once_the_second_says_why_not_or_waits(gram):
    with running(gram("bench", "--unsigned", "--repetitions", "500", start=True)) as first:
        wait_for_worker(first)
        second = gram("bench", "--unsigned", *SHORT)
        assert second.returncode == 1
        assert "Another measurement is running" in second.stderr
        assert "a terminal" in second.stderr
        waiting = gram("bench", "--unsigned", "--wait", *SHORT, start=True)
        with running(waiting) as third:
            assert "Waiting" in third.stderr.readline()
            first.send_signal(signal.SIGTERM)
            first.wait(timeout=10)
            assert third.wait(timeout=60) == 0


@pytest.mark.engine
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("crash", "ended unexpectedly"),
        ("garbage", "not a message"),
        ("memory", "not enough memory"),
    ],
)
def test_faults_of_the_worker_are_told_and_nothing_is_kept(gram, tmp_path, fault, words):
    key = str(tmp_path / "k")
    done = gram("bench", "--key-file", key, "--fault", fault, *SHORT)
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(gram("results", "--json").stdout) == []


FILES = {
    "not a gguf.gguf": (b"PK\x03\x04" + bytes(100), "not a GGUF"),
    "empty.gguf": (b"", "GGUF"),
    "absurd.gguf": (b"GGUF\x03\x00\x00\x00" + b"\xff" * 16, "damaged"),
}


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_no_builds(gram, tmp_path, name):
    content, words = FILES[name]
    (tmp_path / name).write_bytes(content)
    done = gram("bench", str(tmp_path / name), "--unsigned")
    assert done.returncode == 1
    assert words in done.stderr
    assert str(tmp_path) not in done.stderr


def test_a_cut_build_says_how_much_is_missing(gram, tmp_path, reference_file):
    cut = tmp_path / "cut.gguf"
    with reference_file.open("rb") as whole:
        cut.write_bytes(whole.read(10_000_000))
    done = gram("bench", str(cut), "--unsigned")
    assert done.returncode == 1
    assert "cut short" in done.stderr


def test_a_file_that_is_not_there(gram, tmp_path):
    done = gram("bench", str(tmp_path / "nowhere.gguf"), "--unsigned")
    assert done.returncode == 1
    assert "no file" in done.stderr


@pytest.mark.engine
def test_a_build_with_spaces_and_non_latin_letters(gram, tmp_path, reference_file):
    folder = tmp_path / "mes modèles 模型"
    folder.mkdir()
    link = folder / "мой smol.gguf"
    link.symlink_to(reference_file)
    done = gram("bench", str(link), "--unsigned", "--json", *SHORT)
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) not in done.stdout


def test_a_data_folder_that_may_not_be_written(gram, tmp_path):
    file = tmp_path / "a file"
    file.write_text("x")
    done = gram("bench", "--unsigned", *SHORT, env={"GRAM_HOME": str(file / "home")})
    assert done.returncode == 1
    assert "a file of that name" in done.stderr
    assert "GRAM_HOME" in done.stderr


def test_doctor_finds_and_misses(gram, home):
    done = gram("doctor", "--json")
    findings = {f["what"]: f for f in json.loads(done.stdout)}
    assert findings["Engine"]["state"] == "ok"
    assert findings["Reference build"]["state"] == "ok"
    assert findings["Keychain"]["state"] == "optional"
    assert findings["Log"]["detail"] == str(home.log)
    assert done.returncode == 0


def test_machine_lists_the_engines_devices(gram):
    facts = json.loads(gram("machine", "--json").stdout)
    assert facts["machine"]["cpu"]["logical_cores"] >= 1
    assert any(d["kind"] == "cpu" for d in facts["engine"]["devices"])
    assert facts["meter"]["source"] in {"sensor", "modelled"}


@pytest.mark.engine
def test_folders_with_markup_in_their_name_are_only_names(gram, tmp_path):
    done = gram(
        "bench", "--allow-key-file", *SHORT, env={"GRAM_HOME": str(tmp_path / "[red]h" / "[/x]")}
    )
    assert done.returncode == 0, done.stderr
    assert "[red]h/[/x]" in done.stderr


def test_control_characters_of_strangers_never_reach_the_terminal(gram, tmp_path):
    (tmp_path / "n\x1b]0;x\x07.json").write_text("{}")
    done = gram("verify", str(tmp_path / "n\x1b]0;x\x07.json"))
    assert done.returncode == 1
    assert "\x1b" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_output_that_cannot_be_written_is_told_in_words(gram):
    with Path("/dev/full").open("w") as full:
        done = gram("results", stdout=full)
    assert done.returncode == 1
    assert "disk is full" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_terminal_without_unicode_is_no_error(gram):
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert gram("machine", env=ascii_only).returncode == 0


def test_errors_are_objects_for_programs(gram, tmp_path):
    done = gram("verify", str(tmp_path / "nowhere.json"), "--json")
    assert json.loads(done.stdout)["error"]["code"] == "file_not_found"


@pytest.mark.engine
def test_the_file_is_looked_at_before_the_keychain(gram, tmp_path):
    (tmp_path / "no.gguf").write_bytes(b"nothing")
    done = gram("bench", str(tmp_path / "no.gguf"))
    assert "not a GGUF" in done.stderr
