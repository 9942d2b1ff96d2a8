"""What a frozen Gram must do, one function each."""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from smoke_program import Done, Frozen, SmokeError, execute, must, refuse_strange_lines
from smoke_screen import screen, start_window

MEASURE_LIMIT_S = 600.0
HUB_LIMIT_S = 120.0
TESTS = 2  # pp512 and tg128


def check_version(frozen: Frozen) -> None:
    """It says its name and version in one line."""
    done = frozen.run("--version")
    must(done.status == 0, "--version failed", done)
    must(re.fullmatch(r"gram, version \d+\.\d+\.\d+\S*\s*", done.out), "no version", done)


def check_help(frozen: Frozen) -> None:
    """A newcomer finds the commands."""
    done = frozen.run("--help")
    must(done.status == 0, "--help failed", done)
    for word in ("machine", "bench", "results", "verify", "doctor"):
        must(word in done.out, f"--help does not speak of {word}", done)


def check_doctor(frozen: Frozen) -> None:
    """It finds the engine and says where the log is; having no keychain here is no failure."""
    done = frozen.run("doctor", "--json")
    must(done.status == 0, "doctor failed", done)
    found = {str(one["what"]): one for one in objects(parse(done))}
    for what in ("Data folder", "Engine", "Machine", "Ledger", "Log"):
        must(found.get(what, {}).get("state") == "ok", f"doctor: {what} is not well", done)


def check_machine(frozen: Frozen) -> None:
    """Detection works without the source tree's files, and the engine lists its devices."""
    done = frozen.run("machine", "--json")
    must(done.status == 0, "machine failed", done)
    must(numbers(parse(done), "logical_cores"), "no processor was found", done)
    must("llama.cpp" in done.out, "the engine did not say its devices", done)


def check_builds(frozen: Frozen) -> None:
    """What is shipped of builds is found, what is here is listed, and a hub's silence is told."""
    done = frozen.run("builds", "search", "smollm2-135m", "--offline", "--json")
    must(done.status == 0, "builds search failed", done)
    must('"name": "hf.co/' in done.out, "no build of the catalogue was found", done)
    done = frozen.run("builds", "--json")
    must(done.status == 0, "builds cannot be listed", done)
    must('"held"' in done.out, "builds are not listed", done)
    words = [frozen.program(), "builds", "get", "owner/repo", "--json"]
    done = execute(words, frozen.environment(HF_ENDPOINT="http://127.0.0.1:9"), HUB_LIMIT_S)
    must(done.status == 1, "a hub that is not there is no error", done)
    must('"hub_unreachable"' in done.out, "its silence is not told", done)


def check_unsigned(frozen: Frozen) -> None:
    """The worker runs; nothing is kept without a key."""
    done = bench(frozen, "--unsigned")
    must(len(numbers(parse(done), "median_tok_s")) == TESTS, "a rate is missing", done)
    must(listed(frozen) == [], "an unsigned result was kept")


def check_signed(frozen: Frozen) -> None:
    """A result is signed with a key file, kept, listed, exported; a changed one is refused."""
    key = frozen.home / "smoke.key"
    done = bench(frozen, "--key-file", str(key))
    must(len(numbers(parse(done), "median_tok_s")) == TESTS, "a rate is missing", done)
    must(key.is_file(), "no key file was made", done)
    rows = listed(frozen)
    must(len(rows) == 1, f"{len(rows)} results are listed instead of 1")
    check_statement(frozen, str(rows[0]["id"]))


def check_statement(frozen: Frozen, statement: str) -> None:
    """The exported statement verifies; with one letter of its signature changed it does not."""
    exported = frozen.run("results", "--export", statement)
    must(exported.status == 0, "results --export failed", exported)
    file = frozen.home / "statement.json"
    file.write_text(exported.out, encoding="utf-8")
    done = frozen.run("verify", str(file))
    must(done.status == 0, "the statement does not verify", done)
    file.write_text(with_changed_signature(exported.out), encoding="utf-8")
    done = execute([frozen.program(), "verify", str(file)], frozen.environment(), 60.0)
    must(done.status == 1, "a changed statement is not refused", done)
    must(done.err.startswith("gram: ") and "Traceback" not in done.err, "verify broke", done)


def check_nothing_left(frozen: Frozen) -> None:
    """No process of the folder under test is still there (Linux: looked up in /proc)."""
    left = [name for name in running_programs() if name.startswith(f"{frozen.folder}{os.sep}")]
    must(not left, f"still running: {left}")


def check_window(frozen: Frozen) -> None:
    """The windowed program paints its window and ends by itself."""
    with screen() as display:
        if display is None:
            print("      no screen and no Xvfb here: the window was not tried")
            return
        done = start_window(frozen, display)
    must(done.status == 0, "the window did not end well", done)
    must(not done.out.strip(), "the windowed program wrote to stdout", done)
    refuse_strange_lines(done.err)


CHECKS: tuple[Callable[[Frozen], None], ...] = (
    check_version,
    check_help,
    check_doctor,
    check_machine,
    check_builds,
    check_unsigned,
    check_signed,
    check_window,
    check_nothing_left,
)


def bench(frozen: Frozen, *words: str) -> Done:
    """Measure the reference build once.

    Raises:
        SmokeError: it fails.
    """
    words = ("bench", "reference", "--repetitions", "1", "--json", *words)
    done = frozen.run(*words, timeout_s=MEASURE_LIMIT_S)
    must(done.status == 0, " ".join(words) + " failed", done)
    return done


def listed(frozen: Frozen) -> list[dict[str, object]]:
    """The results that the profile holds."""
    done = frozen.run("results", "--json")
    must(done.status == 0, "results failed", done)
    return objects(parse(done))


def objects(value: object) -> list[dict[str, object]]:
    """A list of JSON objects.

    Raises:
        SmokeError: it is something else.
    """
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise SmokeError(f"not a list of objects: {value!r:.300}")
    return value


def parse(done: Done) -> object:
    """All of stdout as one JSON document.

    Raises:
        SmokeError: it is none, or something else was printed beside it.
    """
    try:
        return json.loads(done.out)
    except ValueError as e:
        raise SmokeError(f"stdout is not one JSON document: {e}\n{done.out[:1500]}") from e


def numbers(value: object, name: str) -> list[float]:
    """The positive numbers under `name` anywhere in a JSON document."""
    if isinstance(value, list):
        return [n for item in value for n in numbers(item, name)]
    if not isinstance(value, dict):
        return []
    own = value.get(name)
    found = [float(own)] if isinstance(own, int | float) and own > 0 else []
    return found + [n for item in value.values() for n in numbers(item, name)]


def with_changed_signature(text: str) -> str:
    """The envelope with another first letter of its first signature."""
    envelope = json.loads(text)
    first = envelope["signatures"][0]
    first["sig"] = ("B" if first["sig"].startswith("A") else "A") + first["sig"][1:]
    return json.dumps(envelope)


def running_programs() -> Iterator[str]:
    """The program files of all processes that may be looked at; none but on Linux."""
    for entry in Path("/proc").glob("[0-9]*/exe"):
        try:
            yield str(entry.readlink())
        except OSError:  # it ended meanwhile, or belongs to someone else
            continue
