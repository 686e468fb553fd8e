"""All terminals of one sandbox, their jobs, and how they are found."""

from __future__ import annotations

import asyncio
import os
import re
from typing import Any

from . import files
from .relay import PortRelay
from .terminal import JOBS, JobRecord, Refused, Terminal

TERMINALS = 200
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")


class Daemon:
    """All terminals of one sandbox."""

    def __init__(self, folder: str, workspace: str, shell: str = "bash") -> None:
        self.folder = folder
        self.workspace = workspace
        self.shell = shell
        self.terminals: dict[str, Terminal] = {}
        self.job_wakers: set[asyncio.Event] = set()
        self.ended: list[JobRecord] = []
        self.ended_before = 0
        self.watch = files.ChangeWatch(workspace)
        self.relay = PortRelay()
        self.stopped = asyncio.Event()
        self._ends: dict[str, int] = {}

    def open(self, m: dict[str, Any], recall: bytes = b"") -> Terminal:
        """The terminal of that name, started if it is new or had ended; `recall` is the end of what it printed."""
        name = str(m["name"])
        if not _NAME.match(name) or name in (".", ".."):
            raise Refused("bad_name", "A terminal's name is 1 to 64 letters, digits, dots, dashes or underscores.")
        terminal = self.terminals.get(name)
        if terminal is None:
            if len(self.terminals) >= TERMINALS:
                raise Refused("too_many", f"There are {TERMINALS} terminals already.")
            start = max(self._ends.get(name, 0), int(m.get("offset", 0)))
            terminal = Terminal(name, os.path.join(self.folder, name), max(0, start - len(recall)), self.job_ended)
            terminal.tape.append(recall[-start:] if start else b"")
        if not terminal.alive:
            cwd = m.get("cwd") or self.workspace
            terminal.spawn(int(m.get("rows", 32)), int(m.get("cols", 120)), cwd, self.shell)
        self.terminals[name] = terminal
        return terminal

    def named(self, m: dict[str, Any]) -> Terminal:
        """The terminal that a request names."""
        terminal = self.terminals.get(str(m["name"]))
        if terminal is None:
            raise Refused("no_terminal", f"There is no terminal {m['name']}.")
        return terminal

    def close(self, terminal: Terminal) -> None:
        """End a terminal and forget it, but not how long its stream was."""
        terminal.close()
        terminal.tape.discard()
        self._ends[terminal.name] = terminal.tape.total
        del self.terminals[terminal.name]

    def job_ended(self, job: JobRecord) -> None:
        """Keep it in the order of ends, and tell who waits."""
        self.ended.append(job)
        if len(self.ended) > 2 * JOBS:
            del self.ended[:JOBS]
            self.ended_before += JOBS
        for event in self.job_wakers:
            event.set()

    def ended_after(self, count: int) -> list[JobRecord]:
        """The jobs that ended after the first `count`."""
        return self.ended[max(0, count - self.ended_before) :][:JOBS]

    def job(self, name: str) -> JobRecord:
        """The job of that id."""
        for terminal in self.terminals.values():
            if name in terminal.jobs:
                return terminal.jobs[name]
        found = next((j for j in reversed(self.ended) if j["id"] == name), None)
        if found is None:
            raise Refused("no_job", f"There is no job {name}.")
        return found

    def jobs(self, name: str) -> list[JobRecord]:
        """The jobs of one terminal, or of all."""
        of = [t for t in self.terminals.values() if not name or t.name == name]
        return [job for t in of for job in t.jobs.values()][-1000:]

    def reap(self) -> None:
        """A child ended: see whose shell it was."""
        for terminal in self.terminals.values():
            terminal.reap()

    def shut_down(self) -> None:
        """End all terminals, then the daemon."""
        for terminal in list(self.terminals.values()):
            terminal.close()
        self.stopped.set()
