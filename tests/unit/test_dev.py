"""The parts of dev.py that decide something."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from devtools import locking
from devtools.backend import Backend, Machine, choose
from devtools.checks import Check, Outcome, run_all, summary_line
from devtools.cli import COMMANDS, main, split
from devtools.engine import Build, pinned_version
from devtools.environment import Environment, short_pip_line
from devtools.fingerprint import cpu_features, native_tag
from devtools.ninja import ninja_done, show_done
from devtools.places import REQUIREMENTS, ROOT, cache_dir
from devtools.stamp import base_stamp, holds, read_stamp, write_stamp
from devtools.steps import StepError, run_logged, show_s, tail
from devtools.system import installed_names, shown

# --- system packages


def test_a_package_that_was_removed_but_left_its_settings_is_not_installed() -> None:
    text = "installed\tlibegl1\t\nconfig-files\txvfb\t\nnot-installed\tdunst\t\n"
    assert installed_names(text) == {"libegl1"}


def test_a_renamed_package_is_found_by_what_it_provides() -> None:
    text = "installed\tlibglib2.0-0t64\tlibglib2.0-0 (= 2.84.1-1), libglib2.0-private\n"
    assert {"libglib2.0-0t64", "libglib2.0-0", "libglib2.0-private"} == installed_names(text)


def test_no_output_means_nothing_is_installed() -> None:
    assert installed_names("") == set()


def test_many_packages_are_counted_instead_of_named() -> None:
    assert shown(["a", "b"]) == "a, b"
    assert shown(["a"] * 26) == "26 of them"


# --- stamps


def test_a_stamp_is_read_back(tmp_path: Path) -> None:
    write_stamp(tmp_path / "stamp.json", {"app": "1"})
    assert read_stamp(tmp_path / "stamp.json") == {"app": "1"}


@pytest.mark.parametrize("content", ["", "{", "[1]", "\x00"])
def test_a_broken_stamp_counts_as_none(tmp_path: Path, content: str) -> None:
    path = tmp_path / "stamp.json"
    path.write_text(content)
    assert read_stamp(path) == {}


def test_a_stamp_holds_only_equal_values() -> None:
    assert holds({"a": "1", "b": "2"}, {"a": "1"})
    assert not holds({"a": "1"}, {"a": "2"})
    assert not holds({}, {"a": "1"})


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """An environment that is whole and holds the list `app`."""
    made = Environment(tmp_path / "env")
    made.python.parent.mkdir(parents=True)
    made.python.touch()
    write_stamp(made.folder / "gram-stamp.json", base_stamp() | {"app": "1"})
    return made


def test_an_environment_is_ready_for_what_its_stamp_tells(environment: Environment) -> None:
    assert environment.ready({"app": "1"})
    assert not environment.ready({"app": "2"})
    assert not environment.ready({"app": "1", "test": "1"})


def test_an_environment_whose_python_is_gone_is_not_ready(environment: Environment) -> None:
    environment.python.unlink()
    assert not environment.ready({"app": "1"})


def test_a_change_adds_to_the_stamp_when_it_is_done(environment: Environment) -> None:
    with environment.changing({"test": "2"}):
        assert environment.stamp == {}
    assert environment.ready({"app": "1", "test": "2"})


def test_an_interrupted_change_leaves_no_stamp(environment: Environment) -> None:
    with pytest.raises(KeyboardInterrupt), environment.changing({"test": "2"}):
        raise KeyboardInterrupt
    assert not environment.ready({})


# --- back ends


def machine(
    platform: str = "linux", programs: tuple[str, ...] = (), files: tuple[str, ...] = ()
) -> Machine:
    """A machine that has just these programs and files."""
    return Machine(
        platform,
        lambda name: f"/bin/{name}" if name in programs else None,
        lambda path: path.as_posix() in files,
        [Path("/usr/include"), Path("/sdk/include")],
    )


HEADERS = ("/usr/include/vulkan/vulkan.hpp", "/sdk/include/spirv/unified1/spirv.hpp")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (machine(), "cpu"),
        (machine("darwin", ("nvcc",)), "metal"),
        (machine(programs=("nvcc",), files=("/dev/nvidiactl",)), "cuda"),
        (machine(programs=("nvcc",), files=("/dev/dxg",)), "cuda"),
        (machine(programs=("nvcc",)), "cpu"),
        (machine(files=("/dev/nvidiactl",)), "cpu"),
        (machine("win32", ("nvcc", "nvidia-smi")), "cuda"),
        (machine("win32", ("nvidia-smi",)), "cpu"),
        (machine(programs=("glslc",), files=HEADERS), "vulkan"),
        (machine(programs=("glslc",), files=HEADERS[:1]), "cpu"),
        (machine(files=HEADERS), "cpu"),
    ],
)
def test_the_back_end_follows_what_the_machine_has(found: Machine, expected: str) -> None:
    chosen = choose("auto", found)
    assert chosen.name == expected
    assert chosen.why


def test_what_is_asked_for_is_taken() -> None:
    assert choose("vulkan", machine()).name == "vulkan"


# --- the engine's build


def build(backend: str = "cpu", hook: str = "1", tag: str = "linux-x86_64-1") -> Build:
    return Build("0.3.36", Backend(backend, "a test"), hook, tag)


def test_a_build_is_kept_under_a_name_that_changes_with_all_that_changes_it() -> None:
    names = {
        build().key,
        build("cuda").key,
        build(hook="2").key,
        build(tag="linux-x86_64-2").key,
    }
    assert len(names) == 4
    assert build().key == build().key


def test_why_a_back_end_was_chosen_does_not_change_the_build() -> None:
    other = Build("0.3.36", Backend("cpu", "another reason"), "1", "linux-x86_64-1")
    assert other.key == build().key


def test_flags_name_the_back_end_and_leave_the_machine_code_alone() -> None:
    assert "-DGGML_CUDA=ON" in build("cuda").flags
    assert "-DGGML_VULKAN=ON" in build("vulkan").flags
    for name in ("cpu", "metal", "cuda", "vulkan"):
        assert "-DLLAVA_BUILD=OFF" in build(name).flags
        assert not [flag for flag in build(name).flags if "NATIVE" in flag or "C_FLAGS" in flag]


def test_the_engines_version_is_read_from_its_list() -> None:
    text = (REQUIREMENTS / "engine.txt").read_text(encoding="utf-8")
    assert pinned_version(text) == "0.3.36"
    with pytest.raises(StepError):
        pinned_version("numpy==1\n")


CPUINFO = """\
processor\t: 0
vendor_id\t: AuthenticAMD
model\t\t: 17
flags\t\t: fpu avx2
cpu MHz\t\t: 2596.148

processor\t: 1
flags\t\t: other
"""


def test_a_fingerprint_keeps_what_native_code_depends_on() -> None:
    assert cpu_features(CPUINFO) == "vendor_id=AuthenticAMD\nmodel=17\nflags=fpu avx2"
    assert cpu_features(CPUINFO.replace("2596", "3100")) == cpu_features(CPUINFO)


def test_the_native_tag_is_the_same_each_time() -> None:
    assert native_tag() == native_tag()
    assert native_tag().startswith(sys.platform)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[12/80] Building CXX object a.o\n", (12, 80)),
        ("  [3/4] /usr/bin/g++ -c a.cpp", (3, 4)),
        ("[100%] done", None),
        ("a[1/2] b", None),
        ("", None),
    ],
)
def test_ninjas_progress_is_read(line: str, expected: tuple[int, int] | None) -> None:
    assert ninja_done(line) == expected


def test_progress_tells_percent_and_time_left() -> None:
    assert show_done(20, 80, 30.0) == "25 %, about 1 min 30 s left"
    assert show_done(80, 80, 30.0) == "100 %, about 0.0 s left"
    assert show_done(0, 80, 1.0) == "0 %"


# --- words, logs, locks


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.04, "0.0 s"), (9.94, "9.9 s"), (39.4, "39 s"), (141, "2 min 21 s")]
)
def test_times_are_shown_for_people(seconds: float, expected: str) -> None:
    assert show_s(seconds) == expected


def test_a_failed_command_is_told_with_the_end_of_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("devtools.steps.LOGS", tmp_path)
    script = "import sys; print('the reason'); sys.exit(3)"
    with pytest.raises(StepError, match="the reason") as caught:
        run_logged([sys.executable, "-c", script], "try")
    assert "code 3" in str(caught.value)
    assert str(tmp_path / "try.log") in str(caught.value)


def test_a_command_that_is_not_there_is_an_error_for_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("devtools.steps.LOGS", tmp_path)
    with pytest.raises(StepError, match="Cannot start"):
        run_logged([tmp_path / "nothing"], "try")


def test_the_tail_is_short(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("\n".join([str(n) for n in range(100)] + ["x" * 1000]))
    assert len(tail(log, 3).splitlines()) == 3
    assert max(map(len, tail(log).splitlines())) == 300


def test_pips_lines_are_cut_to_what_it_does() -> None:
    assert (
        short_pip_line("Collecting numpy==2.4.6 (from -r app.txt)\n") == "Collecting numpy==2.4.6"
    )
    assert short_pip_line("  Using cached x.whl\n") == ""


def test_a_lock_is_free_again_after_its_holder(tmp_path: Path) -> None:
    for _ in range(2):
        with locking.held(tmp_path / "sub" / "lock", "a test"):
            pass


def test_a_held_lock_is_seen_by_another_opener(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locking.held(path, "a test"), path.open("a") as other:
        assert not locking.taken(other)


# --- the command line


@pytest.mark.parametrize(
    ("argv", "own", "passed"),
    [
        (["run"], ["run"], []),
        (["run", "--json"], ["run"], ["--json"]),
        (["run", "--backend", "cpu", "-x"], ["run", "--backend", "cpu"], ["-x"]),
        (["run", "--backend=cpu"], ["run", "--backend=cpu"], []),
        (["test", "-k", "a", "--help"], ["test"], ["-k", "a", "--help"]),
        (["test", "--", "--help"], ["test"], ["--help"]),
        (["test", "--help"], ["test", "--help"], []),
        ([], [], []),
    ],
)
def test_words_are_split_into_own_and_passed_on(
    argv: list[str], own: list[str], passed: list[str]
) -> None:
    assert split(argv) == (own, passed)


@pytest.mark.parametrize("name", [name for name, _, _ in COMMANDS])
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert name in capsys.readouterr().out


def test_without_a_command_the_usage_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert "usage" in capsys.readouterr().err


# --- checks


def test_all_checks_run_though_one_fails(capsys: pytest.CaptureFixture[str]) -> None:
    ran: list[str] = []

    def check(title: str, code: int) -> Check:
        return Check(title, lambda: ran.append(title) or code)

    assert run_all([check("one", 0), check("two", 1), check("three", 0)]) == 1
    assert ran == ["one", "two", "three"]
    assert "FAILED: two" in capsys.readouterr().out


def test_checks_that_pass_end_with_0() -> None:
    assert run_all([Check("one", lambda: 0)]) == 0


def test_a_line_of_the_table_names_the_outcome() -> None:
    assert summary_line(Outcome("mypy", 0, 12.0)).split() == ["ok", "mypy", "12", "s"]
    assert summary_line(Outcome("mypy", 1, 12.0)).split()[0] == "FAILED"


# --- what is committed


def test_the_cache_can_be_put_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAM_DEV_CACHE", str(tmp_path))
    assert cache_dir() == tmp_path.resolve()


@pytest.mark.parametrize("path", sorted(REQUIREMENTS.glob("*.txt")), ids=lambda path: path.name)
def test_every_pinned_package_has_a_hash_and_no_address(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    pins = [part for part in text.split("\n") if part and not part.startswith((" ", "#"))]
    assert pins
    assert all("==" in pin and pin.endswith("\\") for pin in pins)
    assert text.count("--hash=sha256:") >= len(pins)
    assert "://" not in text


def test_every_list_has_what_it_was_made_from() -> None:
    made = {path.stem for path in REQUIREMENTS.glob("*.txt")}
    asked = {path.stem for path in REQUIREMENTS.glob("*.in")}
    assert made == asked


def test_the_package_that_shadows_nvidias_is_in_no_list() -> None:
    for path in REQUIREMENTS.iterdir():
        assert "\npynvml" not in path.read_text(encoding="utf-8")


def test_ci_runs_the_test_command() -> None:
    assert (ROOT / ".ci" / "run").read_text().rstrip().endswith("python3 dev.py test")


# --- the clean system


@pytest.fixture(scope="module")
def clean_root() -> ModuleType:
    """The script, loaded by its path: packaging/ is no package."""
    path = ROOT / "packaging" / "clean_root.py"
    spec = importlib.util.spec_from_file_location("clean_root", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["clean_root"] = module
    spec.loader.exec_module(module)
    return module


def test_a_variable_is_worth_more_than_a_file_to_pip(clean_root: ModuleType) -> None:
    told = ":env:.timeout='9'\nglobal.timeout='5'\nglobal.find-links='/a\\n/b'\n"
    assert clean_root.parse_pip_settings(told) == {"timeout": "9", "find-links": "/a /b"}


def test_only_settings_about_fetching_are_taken_from_apt(clean_root: ModuleType) -> None:
    dump = 'APT::Architecture "amd64";\nAcquire::http::Proxy "x";\nAcquire::Languages "en";\n'
    assert clean_root.apt_settings(dump) == 'Acquire::http::Proxy "x";\n'


def test_local_folders_of_settings_are_found_and_moved(
    clean_root: ModuleType, tmp_path: Path
) -> None:
    wheels, index = tmp_path / "wheels", tmp_path / "index" / "simple"
    wheels.mkdir()
    index.mkdir(parents=True)
    values = [str(wheels), f"file://{index} {wheels / 'none'}", "no path"]
    paths = clean_root.local_paths(values)
    assert paths == [index.parent, wheels]
    assert clean_root.moved(values[0], paths) == f"/host{wheels}"
    assert clean_root.moved(values[1], paths).startswith(f"file:///host{index}")
    assert clean_root.moved(f"{wheels}-other", paths) == f"{wheels}-other"


def test_an_address_is_no_local_path(clean_root: ModuleType) -> None:
    assert clean_root.local_paths(["ftp://somewhere/tmp", "a/tmp"]) == []


def test_the_launcher_starts_this_clone_and_names_the_reference_build():
    from pathlib import PurePosixPath

    from devtools.launcher import launcher_text

    root, python = PurePosixPath("/a b/gram"), PurePosixPath("/a b/gram/.venv/bin/python")
    text = launcher_text(python, root, {"GRAM_REFERENCE_FILE": "/c d/r.gguf"}, windows=False)
    assert text.startswith("#!/bin/sh\n")
    assert "PYTHONPATH='/a b/gram'" in text
    assert "exec '/a b/gram/.venv/bin/python' -m desktop \"$@\"" in text
    windows = launcher_text(python, root, {"GRAM_REFERENCE_FILE": "r"}, windows=True)
    assert '@if not defined GRAM_REFERENCE_FILE set "GRAM_REFERENCE_FILE=r"\r\n' in windows
