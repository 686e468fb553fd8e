"""Worker processes that speak JSON lines: started, read, asked and ended without ever waiting for them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import shiboken6
from PySide6.QtCore import QCoreApplication, QObject, QProcess, QProcessEnvironment, Signal

from app.desk.session_key import is_local

if TYPE_CHECKING:
    from app.desk.workplace import Workplace

_MAX_LINE = 64 * 1024 * 1024
_STDERR_KEPT = 4_000
GRACE_MS = 8_000
"""How long a process that was asked to stop may take before it is killed."""

LEAVE_MS = 8_000
"""How long the window's end waits for it."""


class Worker(QObject):
    """One process: `said` per JSON line, `ended` with its exit code and the last words on stderr."""

    said = Signal(object)  # a dict: as Signal(dict) Qt would copy it, 40 ms for 40,000 hits
    ended = Signal(int, str)

    def __init__(self, arguments: Sequence[str], parent: QObject, *, environment: Mapping[str, str] = {}) -> None:
        """`arguments` are those of this same Python, such as -m core.cli judge …"""
        super().__init__(parent)
        self._arguments = list(arguments)
        self._rest = b""
        self._errors = b""
        self._told = False
        self._process = QProcess()  # outlives this object by the moment that a tidy end takes
        told = QProcessEnvironment.systemEnvironment()
        for key, value in {"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8", **environment}.items():
            told.insert(key, value)
        self._process.setProcessEnvironment(told)
        self._process.readyReadStandardOutput.connect(self._read)
        self._process.readyReadStandardError.connect(self._read_errors)
        self._process.finished.connect(self._finished)
        self._process.errorOccurred.connect(self._broken)
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
        self._process.start(sys.executable, self._arguments)

    def ask(self, message: Mapping[str, Any]) -> None:
        """Write one line to the process."""
        self._process.write(msgspec.json.encode(dict(message)) + b"\n")

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

    def _read(self) -> None:
        data = self._rest + self._process.readAllStandardOutput().data()
        *lines, self._rest = data.split(b"\n")
        if len(self._rest) > _MAX_LINE:
            self._rest = b""
        for line in lines:
            self._say(line)

    def _say(self, line: bytes) -> None:
        try:
            told = msgspec.json.decode(line)
        except msgspec.DecodeError:
            return
        if isinstance(told, dict):
            self.said.emit(told)

    def _read_errors(self) -> None:
        self._errors = (self._errors + self._process.readAllStandardError().data())[-_STDERR_KEPT:]

    def _finished(self, code: int, status: QProcess.ExitStatus) -> None:
        self._read()
        self._read_errors()
        if self._rest.strip():
            self._say(self._rest)
        self._end(code if status == QProcess.ExitStatus.NormalExit else -1)

    def _broken(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._errors = self._process.errorString().encode()
            self._end(-1)

    def _end(self, code: int) -> None:
        if not self._told:
            self._told = True
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


def read_answer(kind: type[Any], told: object) -> Any:
    """A worker's answer as a value of `kind`. Raises msgspec.ValidationError for anything else."""
    return msgspec.convert(told, kind, strict=False)
