"""Worker processes that speak in lines: started, read, written to and ended without ever waiting for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
import shiboken6
from PySide6.QtCore import QCoreApplication, QObject, QProcess, QProcessEnvironment, Signal

from app.desk.session_key import is_local

if TYPE_CHECKING:
    from app.desk.workplace import Workplace

R = TypeVar("R")

_MAX_LINE = 64 * 1024 * 1024
_STDERR_BYTES = 4_000
GRACE_MS = 8_000
"""How long a process that was asked to stop may take before it is killed."""

LEAVE_MS = 8_000
"""How long the window's end waits for it."""


class Worker(QObject):
    """One process: `line` per line of its output, `ended` with its exit code and the last words on stderr."""

    line = Signal(object)  # bytes
    ended = Signal(int, str)

    def __init__(self, command: Sequence[str], parent: QObject, *, environment: Mapping[str, str] = {}) -> None:
        """`command` is what `core.program` gives for a part of this program."""
        super().__init__(parent)
        self._program, *self._arguments = command
        self._rest = b""
        self._errors = b""
        self._has_ended = False
        self._process = QProcess()  # outlives this object by the moment that a tidy end takes
        variables = QProcessEnvironment.systemEnvironment()
        for key, value in {"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8", **environment}.items():
            variables.insert(key, value)
        self._process.setProcessEnvironment(variables)
        self._process.readyReadStandardOutput.connect(self._read_lines)
        self._process.readyReadStandardError.connect(self._read_errors)
        self._process.finished.connect(self._on_finished)
        self._process.errorOccurred.connect(self._on_broken)
        leave = partial(_leave, self._process)
        self.destroyed.connect(leave)
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(leave)

    @property
    def is_running(self) -> bool:
        """Whether the process lives."""
        return self._process.state() != QProcess.ProcessState.NotRunning

    def start(self) -> None:
        """Start the process."""
        self._process.start(self._program, self._arguments)

    def send(self, line: bytes) -> None:
        """Write one line to the process, its end included."""
        self._process.write(line)

    def stop(self, grace_ms: int = GRACE_MS) -> None:
        """Ask the process to end tidily (SIGTERM), and kill it when it does not in time."""
        if self.is_running:
            self._process.terminate()
            self.startTimer(grace_ms)

    def kill(self) -> None:
        """End the process now, and wait the moment that takes."""
        self._process.blockSignals(True)
        self._process.kill()
        self._process.waitForFinished(1000)

    def timerEvent(self, event: object) -> None:
        """The grace is over."""
        self._process.kill()

    def _read_lines(self) -> None:
        *lines, self._rest = (self._rest + self._process.readAllStandardOutput().data()).split(b"\n")
        if len(self._rest) > _MAX_LINE:
            self._rest = b""
        for line in lines:
            self.line.emit(line)

    def _read_errors(self) -> None:
        self._errors = (self._errors + self._process.readAllStandardError().data())[-_STDERR_BYTES:]

    def _on_finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._read_lines()
        self._read_errors()
        if self._rest.strip():
            self.line.emit(self._rest)
        self._end(code if status == QProcess.ExitStatus.NormalExit else -1)

    def _on_broken(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._errors = self._process.errorString().encode()
            self._end(-1)

    def _end(self, code: int) -> None:
        if not self._has_ended:
            self._has_ended = True
            words = self._errors.decode("utf-8", "replace").strip().splitlines()
            self.ended.emit(code, words[-1] if words else "")


def _leave(process: QProcess, *_: object) -> None:
    """Nobody listens any more, the window closes: a training saves, anything else ends."""
    if shiboken6.isValid(process) and process.state() != QProcess.ProcessState.NotRunning:
        process.blockSignals(True)
        process.terminate()
        if not process.waitForFinished(LEAVE_MS):
            process.kill()
            process.waitForFinished(1000)


def log_of(place: Workplace, session: str = "") -> Path:
    """The file to read a session from ("": the cursor's): this computer's own server's log where it is there, which
    holds every payload; else the copy of the session's server, which holds what was fetched."""
    session = session or place.sight.session
    own = place.home.server_db
    return own if is_local(session) and own.exists() else place.desks.of(session).replica.path


def home_environment(home: os.PathLike[str] | str) -> dict[str, str]:
    """What tells a worker which home it works in."""
    return {"TIPHYS_HOME": os.fspath(home)}


def read_line(line: bytes, read: Callable[[bytes], R]) -> R | None:
    """What `read` finds in a line; None for anything else, such as a library's own words."""
    try:
        return read(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
