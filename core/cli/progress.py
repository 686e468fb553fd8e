"""How far an import is: a line on a terminal that is written over, or JSON objects for a program that shows it."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from core.cli.output import emit, visible
from core.domain.plural import counted
from core.workers.imports import ImportProgress, ImportProgressLine

EVERY_S = 0.1
PATIENCE_S = 0.5
"""Work that is done within so many seconds tells no progress."""


class ProgressDisplay:
    """Told which file is at work and how far in it; tells a person on stderr, or a program on stdout."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self._as_json = as_json
        self._quiet = quiet or not (as_json or sys.stderr.isatty())
        self._shown_at = time.monotonic() + PATIENCE_S - EVERY_S
        self._shown = False
        self._sizes: list[int] = []
        self._files: Sequence[Path] = ()
        self._number = 0
        self.sessions = 0

    def expect(self, files: Sequence[Path]) -> None:
        """These files are going to be read."""
        self._files, self._number = files, 0
        self._sizes = [_size(path) for path in files]

    def begin(self) -> None:
        """The next file is being read."""
        self._number += 1
        self.at(0)

    def at(self, position: int) -> None:
        """So many bytes of the file have been read."""
        now = time.monotonic()
        if self._quiet or not self._number or now < self._shown_at + EVERY_S:
            return
        self._shown_at = now
        whole = sum(self._sizes) or 1
        done = (sum(self._sizes[: self._number - 1]) + position) / whole
        name = self._files[self._number - 1].name
        self._tell(ImportProgress(file=name, number=self._number, of=len(self._files), done=round(min(1.0, done), 4),
                                  sessions=self.sessions))

    def clear(self) -> None:
        """Take the line away: something else is written, or the work is over."""
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)
            self._shown = False

    def _tell(self, how_far: ImportProgress) -> None:
        if self._as_json:
            emit(ImportProgressLine(how_far))
            return
        line = (f"{how_far.done:4.0%}  file {how_far.number:,} of {how_far.of:,}, "
                f"{counted(how_far.sessions, 'session')}  {how_far.file}")
        click.echo(f"\r\x1b[K{visible(line)[:100]}", err=True, nl=False)
        self._shown = True


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
