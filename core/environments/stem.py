"""Workers that begin with what they need already imported: one process imports it, and each worker is its fork.

What a package's import takes in time and memory is so taken once, not once a worker. Only the stem may end or bury a
worker: it is the parent, so a number that it has not buried is nobody else's.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import select
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Sequence
from typing import BinaryIO, cast

from core import program

_NUMBER = struct.Struct("!q")
"""What is asked of a stem: 0, with the end of a socket, for a worker that answers there; its number, for its end. The
answer is the worker's number."""

_log = logging.getLogger("workers")


class Forked:
    """A worker, as who asks it sees it."""

    def __init__(self, stem: Stem, number: int, end: socket.socket) -> None:
        self._stem, self._number, self._end = stem, number, end
        self.stdin = cast(BinaryIO, end.makefile("wb"))
        self.stdout = cast(BinaryIO, end.makefile("rb"))

    @property
    def is_over(self) -> bool:
        """Whether it ended by itself. Between two questions it says nothing but that."""
        return bool(select.select([self._end], [], [], 0)[0])

    def kill(self) -> None:
        """End it with the programs that it started; a second time nothing."""
        number, self._number = self._number, 0
        if number:
            self._stem.end(number)

    def close(self) -> None:
        """End it, and let go of its ends."""
        self.kill()
        for one in (self.stdin, self.stdout, self._end):
            with contextlib.suppress(OSError):
                one.close()


class Stem:
    """A process that imports `modules` when the first worker is asked for, within `within_s`."""

    def __init__(self, modules: Sequence[str], within_s: float) -> None:
        self._modules, self._within_s = modules, within_s
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._door: socket.socket | None = None

    def worker(self) -> Forked:
        """A new one. Raises TimeoutError where the imports do not end, EOFError where they ended the process."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                return Forked(self, self._ask(0, theirs), ours)
            except BaseException:
                ours.close()
                raise

    def end(self, number: int) -> None:
        """End a worker with what it started."""
        with contextlib.suppress(EOFError, TimeoutError):  # its workers end with a stem
            self._ask(number)

    def close(self) -> None:
        """End it, and all its workers."""
        door, self._door = self._door, None
        process, self._process = self._process, None
        if door is not None and process is not None:
            door.close()
            process.kill()
            process.wait()

    def _ask(self, number: int, *ends: socket.socket) -> int:
        with self._lock:
            try:
                door = self._door or (self._begun() if not number else None)
                if door is None:
                    raise EOFError
                socket.send_fds(door, [_NUMBER.pack(number)], [end.fileno() for end in ends])
                found = door.recv(_NUMBER.size, socket.MSG_WAITALL)
                if len(found) < _NUMBER.size:
                    raise EOFError
                return int(_NUMBER.unpack(found)[0])
            except (EOFError, OSError) as error:
                self.close()
                raise error if isinstance(error, TimeoutError) else EOFError from error

    def _begun(self) -> socket.socket:
        self._door, theirs = socket.socketpair()
        self._door.settimeout(self._within_s)
        with theirs:
            self._process = subprocess.Popen(
                program.command("environments", str(theirs.fileno()), *self._modules), pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
        return self._door


def be_stem(door: socket.socket, modules: Sequence[str]) -> None:
    """Import, and fork whenever a worker is asked for. Comes back in each worker alone, whose input and output are then
    its end; the stem itself ends with whoever asks it."""
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception:  # noqa: BLE001 - foreign code; a worker that needs it meets the same, and says so
            _log.info("%s cannot be imported", name, exc_info=True)
    while True:
        asked, ends, _, _ = socket.recv_fds(door, _NUMBER.size, 1)
        if len(asked) < _NUMBER.size:
            os._exit(0)
        number = _NUMBER.unpack(asked)[0]
        if number:
            _bury(number)
        elif not (number := os.fork()):
            door.close()
            _take_place(ends[0])
            return
        for end in ends:
            os.close(end)
        door.sendall(_NUMBER.pack(number))


def _bury(number: int) -> None:
    os.kill(number, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):  # it had no group of its own yet, or its group has ended
        os.killpg(number, signal.SIGKILL)
    os.waitpid(number, 0)


def _take_place(end: int) -> None:
    os.setsid()
    for number in (0, 1):
        os.dup2(end, number)
    os.close(end)
