"""One-off commands outside the terminals, with limits of time and output."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from typing import Any

LIMIT = 10 << 20
GRACE = 0.3
"""How long, in seconds, a left-over child may go on printing behind the program."""


def run(m: dict[str, Any], data: bytes, workspace: str) -> tuple[dict[str, Any], bytes]:
    """Run a program in a process group of its own; all of the group ends with it, at the time limit at latest."""
    argv = [str(a) for a in m["argv"]]
    try:
        process = subprocess.Popen(argv, cwd=m.get("cwd") or workspace, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
    except FileNotFoundError as error:
        return {"type": "ran", "exit_code": 127}, f"{error.filename}: {error.strerror}\n".encode()
    talk = _Talk(process, data, min(int(m["limit"]), LIMIT))
    try:
        timed_out = talk.until(time.monotonic() + float(m["timeout_s"]))
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        talk.close()
    code = process.wait()
    code = code if code >= 0 else 128 - code
    return {"type": "ran", "exit_code": code, "truncated": talk.truncated, "timed_out": timed_out}, bytes(talk.output)


class _Talk:
    """Feeds a program and keeps the first `limit` bytes that it prints."""

    def __init__(self, process: subprocess.Popen[bytes], data: bytes, limit: int) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self.stdin, self.stdout = process.stdin, process.stdout
        self.output = bytearray()
        self.truncated = False
        self._left = memoryview(data)
        self._limit = limit
        self._selector = selectors.DefaultSelector()
        for pipe, event in ((self.stdin, selectors.EVENT_WRITE), (self.stdout, selectors.EVENT_READ)):
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, event)

    def until(self, end: float) -> bool:
        """Talk until the program ends; True when the time was over first."""
        ended_at = None
        while self.stdout in [k.fileobj for k in self._selector.get_map().values()]:
            now = time.monotonic()
            if now >= end:
                return True
            if self.process.poll() is not None:
                ended_at = ended_at or now
                if now - ended_at > GRACE:
                    break
            for key, _ in self._selector.select(min(0.1, end - now)):
                (self._feed if key.fileobj is self.stdin else self._take)()
        try:
            self.process.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:  # it closed its output and goes on
            return True
        return False

    def close(self) -> None:
        """Close the pipes."""
        self._selector.close()
        self.stdout.close()
        try:
            self.stdin.close()
        except OSError:
            pass

    def _feed(self) -> None:
        try:
            self._left = self._left[os.write(self.stdin.fileno(), self._left[:65536]) :] if self._left else self._left
        except BlockingIOError:
            return
        except OSError:
            self._left = memoryview(b"")
        if not self._left:
            self._selector.unregister(self.stdin)
            self.stdin.close()

    def _take(self) -> None:
        piece = os.read(self.stdout.fileno(), 65536)
        if not piece:
            self._selector.unregister(self.stdout)
        self.truncated = self.truncated or len(self.output) + len(piece) > self._limit
        self.output += piece[: max(0, self._limit - len(self.output))]
