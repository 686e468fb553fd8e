"""One terminal: a shell on a pseudo-terminal, its tape, the commands it was given, and those who follow it."""

from __future__ import annotations

import asyncio
import fcntl
import os
import secrets
import signal
import struct
import termios
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from .procs import Proc, below, is_shell
from .shell import MarkReader, ShellMark, split_exit, write_command, write_rc
from .tape import OutputTape

JOBS = 1000
QUEUE = 1 << 20
FIRST_PROMPT_S = 5.0
NEXT_PROMPT_S = 0.3
"""How long a command waits for a prompt that cannot be seen, in seconds."""

JobRecord = dict[str, Any]


class Refused(Exception):
    """A request that cannot be met: a code and a sentence."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


END_TRIES = 40
"""How often those below a shell are looked for until none is left; one that hangs in the kernel is left to itself."""


class Terminal:
    """A named terminal. The tape goes on when the shell ends and is started anew under the same name."""

    def __init__(self, name: str, folder: str, start: int, on_job: Callable[[JobRecord], None]) -> None:
        self.name = name
        self.folder = folder
        self.tape = OutputTape(os.path.join(folder, "spool"), start)
        self.jobs: OrderedDict[str, JobRecord] = OrderedDict()
        self.wakers: set[asyncio.Event] = set()
        self.alive = False
        self.closed = False
        self.exit_code: int | None = None
        self.pid = 0
        self.cwd = ""
        self._on_job = on_job
        self._fd = -1
        self._queue = bytearray()
        self._running = ""
        self._typed = False
        self._line = b""
        self._prompted = self._at_prompt = False
        self._printed_at = time.monotonic()

    def spawn(self, rows: int, cols: int, cwd: str, shell: str) -> None:
        """Start a shell. The size is set before it runs, so that no program ever sees 0 by 0."""
        nonce = secrets.token_hex(8)
        self._marks = MarkReader(nonce)
        rc = write_rc(self.folder, nonce)
        self._fd, inner = os.openpty()
        self.resize(rows, cols)
        self.pid = os.fork()
        if self.pid == 0:
            _become_shell(self._fd, inner, cwd, [shell, "--noprofile", "--rcfile", rc, "-i"])
        os.close(inner)
        os.set_blocking(self._fd, False)
        self.alive, self.exit_code, self.cwd, self._running, self._typed = True, None, cwd, "", False
        self._line, self._prompted, self._at_prompt = b"", False, False
        asyncio.get_running_loop().add_reader(self._fd, self._read)

    def resize(self, rows: int, cols: int) -> None:
        """Set the size of the screen, within 1..1000."""
        rows, cols = max(1, min(rows, 1000)), max(1, min(cols, 1000))
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def command(self, job: str, text: str) -> None:
        """Have the shell run a command. Refused while another one, or a typed program, runs."""
        self._must_live()
        if self.busy():
            raise Refused("busy", f"Terminal {self.name} is busy with {self._running or 'a program'}.")
        if job in self.jobs:
            raise Refused("job_exists", f"There is a job {job} already.")
        line = write_command(self.folder, job, text)
        self._running = job
        self.jobs[job] = {"id": job, "terminal": self.name, "start": self.tape.total, "end": self.tape.total,
                          "exit_code": None, "ended": False, "started_at": time.time(), "ended_at": 0.0}
        while len(self.jobs) > JOBS:
            self.jobs.popitem(last=False)
        if self._typed:  # somebody typed at the prompt: drop what may stand there half written
            self._at_prompt = self._typed = False
            os.killpg(self.pid, signal.SIGINT)
        self._line = line
        if self._at_prompt:
            self._type_line(line)
        else:  # wait for the prompt; but a program may have taken its mark away
            wait = NEXT_PROMPT_S if self._prompted else FIRST_PROMPT_S
            asyncio.get_running_loop().call_later(wait, self._type_line, line)

    def _type_line(self, line: bytes) -> None:
        if line and self.alive and self._line == line:
            self._line, self._at_prompt = b"", False
            self._send(line)

    def write(self, data: bytes) -> None:
        """Type bytes."""
        self._must_live()
        if len(self._queue) + len(data) > QUEUE:
            raise Refused("full", f"Terminal {self.name} does not read its input.")
        self._typed = True
        self._send(data)

    def interrupt(self) -> None:
        """SIGINT to the foreground process group."""
        self._must_live()
        self._interrupt(self._running, 5)

    def _interrupt(self, job: str, again: int) -> None:
        """Bash loses a SIGINT between two programs, or in a child that did not become its program yet: repeat it."""
        if not self.alive or self._running != job:
            return
        group = os.tcgetpgrp(self._fd)
        self._signal(group, signal.SIGINT, group=True)
        if again and job and is_shell(group):
            asyncio.get_running_loop().call_later(0.05, self._interrupt, job, again - 1)

    def kill(self, force: bool) -> list[Proc]:
        """SIGTERM or SIGKILL to everything below the shell."""
        found = self.processes()
        for proc in found:
            self._signal(proc.pid, signal.SIGKILL if force else signal.SIGTERM)
        return found

    def processes(self) -> list[Proc]:
        """Everything below the shell."""
        return below(self.pid) if self.alive else []

    def busy(self) -> bool:
        """Whether a command or program has the foreground."""
        if not self.alive:
            return False
        return bool(self._running) or os.tcgetpgrp(self._fd) not in (self.pid, 0)

    def info(self) -> dict[str, Any]:
        """What the host is told of this terminal."""
        return {"name": self.name, "pid": self.pid, "alive": self.alive, "busy": self.busy(), "job": self._running,
                "first": self.tape.first, "total": self.tape.total, "exit_code": self.exit_code,
                "quiet_s": time.monotonic() - self._printed_at, "cwd": self.cwd}

    def reap(self) -> None:
        """Take note of the shell's end, if it ended."""
        if not self.alive:
            return
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            while self._read():
                pass
            self._end(split_exit(status)[1])

    def close(self) -> None:
        """End the shell and all below it, for good."""
        self.closed = True
        self.end()
        self._wake()

    def end(self) -> None:
        """End the shell and all below it; the tape stays for the next shell."""
        if not self.alive:
            return
        self._signal(self.pid, signal.SIGSTOP)  # a shell that stands still starts nothing while the rest is ended
        for _ in range(END_TRIES):
            running = [proc for proc in below(self.pid) if proc.state not in "ZX"]
            for proc in running:
                self._signal(proc.pid, signal.SIGKILL)
            if not running:
                break
            time.sleep(0.005)
        self._signal(self.pid, signal.SIGKILL)
        status = os.waitpid(self.pid, 0)[1]
        self._end(split_exit(status)[1])

    def _must_live(self) -> None:
        if not self.alive:
            raise Refused("no_terminal", f"Terminal {self.name} has ended.")

    def _signal(self, pid: int, number: int, group: bool = False) -> None:
        try:
            (os.killpg if group else os.kill)(pid, number)
        except (ProcessLookupError, PermissionError):
            pass

    def _send(self, data: bytes) -> None:
        self._queue += data
        self._write()

    def _write(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            del self._queue[: os.write(self._fd, self._queue[:4096])]
        except BlockingIOError:
            pass
        except OSError:
            self._queue.clear()
        if self._queue:
            loop.add_writer(self._fd, self._write)
        else:
            loop.remove_writer(self._fd)

    def _read(self) -> bool:
        """Take what was printed; bounded, so that one flood leaves the loop to the others. False at the end."""
        pieces: list[bytes] = []
        try:
            while len(pieces) < 32:
                piece = os.read(self._fd, 65536)
                if not piece:
                    raise OSError("end of the terminal")
                pieces.append(piece)
        except BlockingIOError:
            pass
        except OSError:  # nobody holds the terminal any more; the end of the shell is told by SIGCHLD
            asyncio.get_running_loop().remove_reader(self._fd)
        if pieces:
            self._take(b"".join(pieces))
        return bool(pieces)

    def _take(self, data: bytes) -> None:
        self._printed_at = time.monotonic()
        offset = self.tape.total
        self.tape.append(data)
        for mark in self._marks.feed(data, offset):
            self._note(mark)
        self._wake()

    def _note(self, mark: ShellMark) -> None:
        if mark.kind == "prompt":
            self._prompted, self._at_prompt, self._typed = True, True, False
            self._type_line(self._line)
            return
        job = self.jobs.get(mark.job)
        if job is None or job["ended"]:
            return
        if mark.kind == "start":
            job["start"] = job["end"] = mark.end
            return
        self.cwd = mark.cwd
        self._end_job(job, mark.exit_code, mark.begin)

    def _end_job(self, job: JobRecord, code: int | None, end: int) -> None:
        job.update(end=max(end, job["start"]), exit_code=code, ended=True, ended_at=time.time())
        if self._running == job["id"]:
            self._running = ""
        try:
            os.unlink(os.path.join(self.folder, job["id"]))
        except OSError:
            pass
        self._on_job(job)

    def _end(self, code: int) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._fd)
        loop.remove_writer(self._fd)
        os.close(self._fd)
        self._queue.clear()
        self.alive, self.exit_code = False, code
        job = self.jobs.get(self._running)
        if job is not None:
            self._end_job(job, code, self.tape.total)
        self._wake()

    def _wake(self) -> None:
        for event in self.wakers:
            event.set()


def _prefer_for_oom() -> None:
    """When memory runs out, let the kernel end what runs in the terminals rather than the daemon."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("500")
    except OSError:
        pass


def _become_shell(outer: int, inner: int, cwd: str, argv: list[str]) -> None:
    """In the child: take the terminal and become the shell; never returns."""
    try:
        os.close(outer)
        os.setsid()
        fcntl.ioctl(inner, termios.TIOCSCTTY, 0)
        for fd in (0, 1, 2):
            os.dup2(inner, fd)
        os.closerange(3, 4096)
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        _prefer_for_oom()
        os.chdir(cwd)
        os.execvpe(argv[0], argv, {**os.environ, "TERM": "xterm-256color", "PAGER": "cat", "GIT_PAGER": "cat"})
    except OSError as error:
        os.write(2, f"{argv[0]}: {error}\n".encode())
    os._exit(127)
