"""Programs whose input and output are streams of any length: a piece is taken or given only when it is asked for."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
import time
from typing import Any

from .terminal import Refused

STREAMS = 8
"""The most of them that one client has at a time."""
DRAWN = 1 << 20
WAIT_S = 10.0
"""How long one request waits for the program, in seconds; who asks then asks again."""
ERRORS = 2000
_SET_PIPE_SIZE = 1031


class PipedProgram:
    """One program. Its error output is held back in a file, whose end tells why it failed."""

    def __init__(self, m: dict[str, Any], workspace: str) -> None:
        argv = [str(a) for a in m["argv"]]
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the stream
        self.process = subprocess.Popen(argv, cwd=m.get("cwd") or workspace, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self._errors, start_new_session=True, bufsize=0)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            _widen(pipe.fileno())

    def feed(self, data: bytes, is_last: bool) -> int:
        """Give it bytes; how many it took. The end of its input follows the last ones."""
        pipe, taken, until = self.process.stdin, 0, time.monotonic() + WAIT_S
        if pipe is None or pipe.closed:
            raise Refused("bad_request", "The input of this stream has ended.")
        view = memoryview(data)
        try:
            while taken < len(data) and (left := until - time.monotonic()) > 0:
                if select.select([], [pipe], [], left)[1]:
                    taken += os.write(pipe.fileno(), view[taken:])
        except (BrokenPipeError, ConnectionError):
            taken = len(data)  # it wants no more; how it ends tells why
        if is_last and taken == len(data):
            pipe.close()
        return taken

    def draw(self) -> tuple[dict[str, Any], bytes]:
        """What it has printed since; with how it ended, once it did."""
        assert self.process.stdout is not None
        fd, data, until = self.process.stdout.fileno(), bytearray(), time.monotonic() + WAIT_S
        while len(data) < DRAWN:
            if not select.select([fd], [], [], 0.0 if data else max(0.0, until - time.monotonic()))[0]:
                return {"type": "drawn"}, bytes(data)
            piece = os.read(fd, DRAWN - len(data))
            if not piece:
                return self._ended(), bytes(data)
            data += piece
        return {"type": "drawn"}, bytes(data)

    def _ended(self) -> dict[str, Any]:
        try:
            code = self.process.wait(WAIT_S)
        except subprocess.TimeoutExpired:  # it closed its output and goes on
            code = None
        self.drop()
        if code is None:
            code = self.process.wait()
        return {"type": "drawn", "exit_code": code if code >= 0 else 128 - code, "text": self._error_text()}

    def _error_text(self) -> str:
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - ERRORS))
        return self._errors.read().decode("utf-8", "replace").strip()

    def drop(self) -> None:
        """End the program with all of its group."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass

    def close(self) -> None:
        """End it, and let go of its pipes."""
        self.drop()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self._errors):
            try:
                pipe and pipe.close()
            except OSError:
                pass


class PipedPrograms:
    """The streams of one client, by number; they end with its connection."""

    def __init__(self, workspace: str) -> None:
        self._workspace = workspace
        self._streams: dict[int, PipedProgram] = {}
        self._number = 0

    def answer(self, m: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
        """Begin, feed, draw or drop a stream."""
        if m["op"] == "stream":
            return {"type": "stream", "number": self._begin(m)}, b""
        stream = self._streams.get(int(m["number"]))
        if stream is None:
            raise Refused("no_stream", "There is no such stream.")
        if m["op"] == "feed":
            return {"type": "fed", "size": stream.feed(data, bool(m.get("last")))}, b""
        if m["op"] == "draw":
            return stream.draw()
        self._streams.pop(int(m["number"])).close()
        return {"type": "done"}, b""

    def close(self) -> None:
        """End them all."""
        while self._streams:
            self._streams.popitem()[1].close()

    def _begin(self, m: dict[str, Any]) -> int:
        if len(self._streams) >= STREAMS:
            raise Refused("too_many", f"There are {STREAMS} streams already.")
        stream = PipedProgram(m, self._workspace)
        self._number += 1
        self._streams[self._number] = stream
        return self._number


OPS = frozenset({"stream", "feed", "draw", "drop"})


def _widen(fd: int) -> None:
    """A pipe of 1 MiB, where the system has such: fewer turns for each piece."""
    try:
        import fcntl

        fcntl.fcntl(fd, _SET_PIPE_SIZE, DRAWN)
    except (ImportError, OSError):
        pass
