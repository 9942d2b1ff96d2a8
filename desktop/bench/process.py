"""Start a worker, stream its messages, and end it for sure."""

import contextlib
import logging
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from desktop.bench import protocol
from desktop.bench.engine_log import says_out_of_memory
from desktop.bench.protocol import AnyJob, Failed, Finished, Message
from desktop.errors import BenchError
from desktop.own_files import never_a_pipe

log = logging.getLogger(__name__)

GRACE_S: Final = 0.7
"""After each of closing stdin, terminate and kill, so that a Stop takes 2 s at the very most."""
SILENCE_S: Final = 600.0
"""A large build may load for minutes on a slow disk before it says anything (llm-speed 0.0.8)."""
_TAIL_BYTES: Final = 20_000
_END: Final = b""
_KILLED: Final = -9


@dataclass(slots=True)
class WorkerProcess:
    """One worker process for one job, as a context manager: whatever happens, it is ended.

    `messages` blocks; call it from the run thread. `cancel` is safe from any thread.
    """

    job: AnyJob
    log: Path
    """Where the worker's stderr goes: the engine's own words."""
    fault: str | None = None
    silence_s: float = SILENCE_S
    _cancelled: threading.Event = field(default_factory=threading.Event)
    _process: "subprocess.Popen[bytes] | None" = None
    _reader: threading.Thread | None = None
    _lines: "queue.Queue[bytes]" = field(default_factory=lambda: queue.Queue(maxsize=1000))

    def __enter__(self) -> Self:
        """Start the process.

        Raises:
            BenchError: `worker_start` when the system refuses.
        """
        try:
            self._process = self._start()
        except OSError as e:
            where = f" ({Path(e.filename).name})" if isinstance(e.filename, str) else ""
            raise BenchError("worker_start", detail=f"{e.strerror or e}{where}") from e
        self._reader = threading.Thread(target=self._read, name="worker-reader", daemon=True)
        self._reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None
    ) -> None:
        self._end()

    @property
    def pid(self) -> int | None:
        """The process id while it exists."""
        return self._process.pid if self._process else None

    @property
    def our_pids(self) -> list[int]:
        """This process and the worker, while it exists: what they use is no other program's."""
        return [os.getpid(), *([self.pid] if self.pid else [])]

    def cancel(self) -> None:
        """Ask the worker to stop. Any thread, any time, any number of times."""
        self._cancelled.set()
        self._close_stdin()
        # a worker that is stuck or stopped says nothing: whoever waits for its next line is woken
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait(_END)

    def messages(self) -> Iterator[Message]:
        """Every message up to `Finished`, which is the last.

        Raises:
            BenchError: cancelled, crashed, hung, garbage, or a failure that the worker told.
        """
        while True:
            line = self._next_line()
            if line == _END:
                raise self._ended()
            message = protocol.decode(line)
            if isinstance(message, Failed):
                raise self._failure(message)
            yield message
            if isinstance(message, Finished):
                return

    def _next_line(self) -> bytes:
        try:
            line = self._lines.get(timeout=self.silence_s)
        except queue.Empty as e:
            raise BenchError("worker_hung", seconds=round(self.silence_s)) from e
        if self._cancelled.is_set():
            raise BenchError("cancelled")
        if line != _END and not line.endswith(b"\n"):
            raise BenchError("worker_garbage", line=repr(line[:60]))
        return line

    def _start(self) -> "subprocess.Popen[bytes]":
        if self._cancelled.is_set():
            raise BenchError("cancelled")
        with open(self.log, "wb", opener=never_a_pipe) as stderr:
            process = subprocess.Popen(
                [*worker_command(), *(("--fault", self.fault) if self.fault else ())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=_environment(),
                # a Ctrl+C in the terminal is the app's to handle; the worker ends with its stdin
                start_new_session=sys.platform != "win32",
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        _write(process.stdin, protocol.encode(self.job))
        return process

    def _read(self) -> None:
        """The reader thread: lines into the queue until the worker's end."""
        assert self._process is not None  # noqa: S101 - set before the thread starts
        out = self._process.stdout
        assert out is not None  # noqa: S101 - a pipe was asked for
        try:
            while line := out.readline(protocol.MAX_LINE_BYTES):
                self._lines.put(line, timeout=self.silence_s)
                if not line.endswith(b"\n"):
                    break
        except (OSError, ValueError, queue.Full):
            pass
        self._lines.put(_END)

    def _ended(self) -> BenchError:
        """Why the worker ended before it was finished."""
        assert self._process is not None  # noqa: S101 - `messages` runs inside the context
        if self._cancelled.is_set():
            return BenchError("cancelled")
        try:
            status = self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            return BenchError("worker_crashed", outcome="it fell silent and did not end")
        if says_out_of_memory(self.tail()):
            return BenchError("out_of_memory", name=self.job.name)
        if status == _KILLED:
            return BenchError("worker_killed")
        return BenchError("worker_crashed", outcome=outcome(status))

    def _failure(self, message: Failed) -> BenchError:
        told = message.detail
        return BenchError(
            message.code,
            name=self.job.name,
            detail=told or "no reason given",
            status=told or "unknown",
        )

    def tail(self) -> str:
        """The last words on the worker's stderr."""
        try:
            with open(self.log, "rb", opener=never_a_pipe) as log:
                log.seek(max(0, self.log.stat().st_size - _TAIL_BYTES))
                return log.read().decode(errors="replace")
        except OSError:
            return ""

    def _close_stdin(self) -> None:
        process = self._process
        if process is not None and process.stdin is not None:
            # refused when the worker is gone already
            with contextlib.suppress(OSError):
                process.stdin.close()

    def _end(self) -> None:
        """Close stdin, then terminate, then kill: never leave a worker behind."""
        process = self._process
        if process is None:
            return
        self._close_stdin()
        for act in (None, process.terminate, process.kill):
            if act is not None:
                act()
            try:
                process.wait(GRACE_S)
                break
            except subprocess.TimeoutExpired:
                continue
        self._drain(process)

    def _drain(self, process: "subprocess.Popen[bytes]") -> None:
        """Let the reader reach its end, then close the pipe.

        A worker that not even a kill ends (stuck in a driver) is left behind with its reader.
        """
        limit = time.monotonic() + GRACE_S
        while self._reader is not None and self._reader.is_alive():
            if time.monotonic() > limit:
                log.error("worker %s cannot be ended; it is left behind", process.pid)
                return
            try:
                self._lines.get(timeout=0.05)
            except queue.Empty:
                continue
        if process.stdout is not None:
            process.stdout.close()


def worker_command() -> list[str]:
    """How to start the worker: the console program beside this one when frozen."""
    if getattr(sys, "frozen", False):
        suffix = ".exe" if sys.platform == "win32" else ""
        return [str(Path(sys.executable).with_name("gram" + suffix)), "--worker"]
    return [sys.executable, "-m", "desktop", "--worker"]


def outcome(status: int) -> str:
    """How a process ended, in words: `exit status 3`, `signal SIGABRT`."""
    if status >= 0:
        return f"exit status {status}"
    import signal  # noqa: PLC0415 - for the rare case only

    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"


def _environment() -> dict[str, str]:
    """The app's environment, with this package found wherever it was started from."""
    root = str(Path(__file__).resolve().parents[2])
    inherited = os.environ.get("PYTHONPATH")
    path = root if not inherited else f"{root}{os.pathsep}{inherited}"
    # safe path: `-m` would look for modules in the current folder first, which may hold anything
    return {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def _write(stdin: IO[bytes] | None, data: bytes) -> None:
    assert stdin is not None  # noqa: S101 - a pipe was asked for
    # broken when it ended at once; `messages` says how
    with contextlib.suppress(BrokenPipeError):
        stdin.write(data)
        stdin.flush()
