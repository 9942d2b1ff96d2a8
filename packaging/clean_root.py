"""Try this clone's two commands on a Debian that has git, python3, gcc, g++ and nothing else.

Makes the system with debootstrap, clones the committed state into it, and runs there
`python3 dev.py run`, the same again, and `python3 dev.py test`, each timed. Linux, as root.
The package indexes that pip and apt use on this machine are used inside too.
"""

import argparse
import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from devtools.places import cache_dir  # noqa: E402 - found by the line above
from devtools.steps import StepError, say, show_s  # noqa: E402

PACKAGES = "git,python3,gcc,g++"
INSIDE_CLONE = Path("/root/gram")
INSIDE_CACHE = Path("/root/.cache/gram-dev")
UNSHARED = "GRAM_CLEAN_ROOT_UNSHARED"
PASSED_ON = re.compile(
    r"PIP_\w+|\w*(CA_BUNDLE|CERT_FILE|CERT_DIR)|(https?|no|all)_proxy", re.IGNORECASE
)
LOCAL_PATH = re.compile(r"(?:(file://)|(?<![\w/:]))(/[\w./+-]+)")


@dataclass(frozen=True)
class Trial:
    """One command in the clean system, its exit code and seconds."""

    command: str
    code: int
    wall_s: float


def main(argv: Sequence[str]) -> int:
    """Run the trial; 0 when every command ended with 0."""
    args = _parser().parse_args(argv)
    if sys.platform != "linux" or os.geteuid() != 0:
        say("This needs Linux and root: it makes a system of its own and mounts things in it.")
        return 2
    if absent := [tool for tool in ("debootstrap", "unshare", "git") if not shutil.which(tool)]:
        say(f"Not installed: apt-get install --no-install-recommends {' '.join(absent)}")
        return 2
    if UNSHARED not in os.environ:
        return _again_unshared(argv)
    try:
        return _report(_trials(args))
    except (StepError, subprocess.CalledProcessError) as error:
        say(str(error))
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--suite", choices=("bookworm", "trixie"), default="bookworm")
    parser.add_argument("--only", choices=("run", "test"), help="one of the two commands")
    parser.add_argument("--keep", action="store_true", help="leave the system and say where it is")
    parser.add_argument(
        "--share-cache", action="store_true", help="use this machine's built engine and model"
    )
    return parser


def _again_unshared(argv: Sequence[str]) -> int:
    """Start this script anew where its mounts and processes end with it, however it ends."""
    unshare = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"]
    # The first process inside inherits all orphans; a shell takes leave of them, Python does not,
    # and tests that wait for a killed worker to be gone would wait forever.
    shell = ["/bin/sh", "-c", '"$@"; exit $?', "sh"]
    command = [*unshare, *shell, sys.executable, __file__, *argv]
    env = {**os.environ, UNSHARED: "1"}
    return subprocess.run(command, env=env, check=False).returncode


def _trials(args: argparse.Namespace) -> list[Trial]:
    base = _base_system(args.suite)
    with _copy(base, keep=args.keep) as system:
        subprocess.run(
            ["git", "clone", "--quiet", "--no-hardlinks", ROOT, f"{system}{INSIDE_CLONE}"],
            check=True,
        )
        _mount_system(system)
        env = _share_settings(system)
        if args.share_cache:
            _bind(cache_dir(), system, INSIDE_CACHE, read_only=False)
        return [_trial(system, command, env) for command in _commands(args.only)]


def _commands(only: str | None) -> list[str]:
    run, test = "python3 dev.py run", "python3 dev.py test"
    return {"run": [run, run], "test": [test]}.get(only or "", [run, run, test])


def _base_system(suite: str) -> Path:
    """The system as debootstrap makes it, kept between trials; a few minutes the first time."""
    base = cache_dir() / "roots" / suite
    if not base.exists():
        scratch = base.with_name(f"{suite}.new")
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.parent.mkdir(parents=True, exist_ok=True)
        say(f"... debootstrap {suite} with {PACKAGES}")
        options = ["--variant=minbase", f"--include={PACKAGES}"]
        with (cache_dir() / "debootstrap.log").open("w") as log:
            argv = ["debootstrap", *options, suite, str(scratch), *_mirror()]
            subprocess.run(argv, check=True, stdout=log, stderr=subprocess.STDOUT)
        scratch.rename(base)
    return base


def _mirror() -> list[str]:
    """Where this machine's apt takes Debian from, if that can be told; else debootstrap's own."""
    if not shutil.which("apt-get"):
        return []
    argv = ["apt-get", "indextargets", "--format", "$(SITE)", "Origin: Debian", "Label: Debian"]
    told = subprocess.run(argv, capture_output=True, text=True, check=False).stdout.split()
    return told[:1]


@contextlib.contextmanager
def _copy(base: Path, *, keep: bool) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="gram-clean-root-"))
    system = folder / "system"
    try:
        subprocess.run(["cp", "--archive", "--reflink=auto", base, system], check=True)
        yield system
    finally:
        if keep:
            say(f"Kept: {system} (its mounts end with this program)")
        else:
            _unmount_all(system)
            shutil.rmtree(folder)


def _unmount_all(system: Path) -> None:
    """Unmount before deleting: what is bound in belongs to this machine."""
    mounts = Path("/proc/mounts").read_text(encoding="utf-8").splitlines()
    inside = [line.split()[1] for line in mounts if line.split()[1].startswith(f"{system}/")]
    for mount in sorted(inside, key=len, reverse=True):
        subprocess.run(["umount", mount], check=True)


def _mount_system(system: Path) -> None:
    subprocess.run(["mount", "-t", "proc", "proc", system / "proc"], check=True)
    subprocess.run(["mount", "-t", "sysfs", "-o", "ro", "sysfs", system / "sys"], check=True)
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        _bind(Path("/dev") / name, system, Path("/dev") / name, read_only=False)
    for name in ("shm", "pts"):
        (system / "dev" / name).mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", system / "dev" / "shm"], check=True)
    options = ["-o", "newinstance,ptmxmode=0666"]
    subprocess.run(["mount", "-t", "devpts", *options, "devpts", system / "dev/pts"], check=True)


def _bind(source: Path, system: Path, inside: Path, *, read_only: bool = True) -> None:
    """Show a file or folder of this machine at `inside`."""
    target = Path(f"{system}{inside}")
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    subprocess.run(["mount", "--bind", source, target], check=True)
    if read_only:
        subprocess.run(["mount", "-o", "remount,bind,ro", target], check=True)


def _share_settings(system: Path) -> dict[str, str]:
    """Name servers, and where pip and apt fetch from, as here; returns variables to be set."""
    for name in ("resolv.conf", "hosts"):
        shutil.copyfile(f"/etc/{name}", system / "etc" / name)
    settings = pip_settings()
    paths = local_paths([*settings.values(), *_passed_on().values()])
    for path in paths:
        _bind(path, system, below_host(path))
    lines = [f"{key} = {moved(value, paths)}" for key, value in settings.items()]
    (system / "etc/pip.conf").write_text("\n".join(["[global]", *lines, ""]), encoding="utf-8")
    (system / "etc/apt/apt.conf.d/90host").write_text(apt_settings(_apt_dump()), encoding="utf-8")
    return {key: moved(value, paths) for key, value in _passed_on().items()}


def below_host(path: Path) -> Path:
    """Where a path of this machine is seen inside, clear of what packages install there."""
    return Path(f"/host{path}")


def moved(value: str, paths: Sequence[Path]) -> str:
    """The setting with the paths that it names as they are inside."""
    for path in paths:
        value = re.sub(
            rf"(^|\s|://){re.escape(str(path))}(?![\w.-])", rf"\g<1>{below_host(path)}", value
        )
    return value


def pip_settings() -> dict[str, str]:
    """What pip is told on this machine by files and variables, as keys of its [global] section."""
    argv = [sys.executable, "-m", "pip", "config", "list"]
    told = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    return parse_pip_settings(told)


def parse_pip_settings(told: str) -> dict[str, str]:
    """The settings in the text of `pip config list`; a variable is worth more than a file."""
    found: dict[str, str] = {}
    pairs = [line.partition("=") for line in told.splitlines() if "=" in line]
    for name, _, value in sorted(pairs, key=lambda pair: pair[0].startswith(":env:.")):
        found[name.rpartition(".")[2]] = value.strip().strip("'").replace("\\n", " ")
    return found


def _apt_dump() -> str:
    argv = ["apt-config", "dump"]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def apt_settings(dump: str) -> str:
    """Those lines of `apt-config dump` that say how to fetch: proxies, certificates, dates."""
    wanted = ("Acquire::http", "Acquire::https", "Acquire::Check-", "Acquire::Retries")
    lines = [line for line in dump.splitlines() if line.startswith(wanted)]
    return "\n".join([*lines, ""])


def local_paths(values: Sequence[str]) -> list[Path]:
    """Files and folders of this machine that are named in the values, none inside another.

    Of an index as a file address its parent, because its pages point to files beside it.
    """
    hits = [hit for value in values for hit in LOCAL_PATH.finditer(value)]
    named = {Path(hit[2]).parent if hit[1] else Path(hit[2]) for hit in hits}
    found = {path for path in named if path.exists() and path != Path("/")}
    return sorted(path for path in found if not found.intersection(path.parents))


def _passed_on() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if PASSED_ON.fullmatch(key)}


def _trial(system: Path, command: str, shared: dict[str, str]) -> Trial:
    say(f"\n== {command}")
    env = {
        "HOME": "/root",
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "LANG": "C.UTF-8",
        "TERM": os.environ.get("TERM", "dumb"),
        **shared,
    }
    inside = f"cd {shlex.quote(str(INSIDE_CLONE))} && exec {command}"
    start_s = time.monotonic()
    code = subprocess.run(
        ["chroot", system, "/bin/sh", "-c", inside], env=env, stdin=subprocess.DEVNULL, check=False
    ).returncode
    return Trial(command, code, time.monotonic() - start_s)


def _report(trials: Sequence[Trial]) -> int:
    say("")
    for trial in trials:
        word = "ok" if trial.code == 0 else f"code {trial.code}"
        say(f"{word:>8}  {trial.command:<24} {show_s(trial.wall_s):>12}")
    return max((trial.code for trial in trials), default=0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
