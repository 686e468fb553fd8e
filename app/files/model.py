"""The files that a session touched, as of a step, newest or most changed first; and the states of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec
from PySide6.QtCore import QObject, Qt, Signal

from app.kit.flat_model import FlatModel, Index
from app.kit.safe_text import visible
from core.domain.events import FileChanged
from core.domain.path_parts import name_of, separator_of

Key = tuple[str, str]
"""Host and path."""

COUNTED_BYTES = 400_000
"""Changes of larger files are shown by size instead of by lines."""

MOST_COUNTED = 40
"""Of a file with more changes only their number is told, and not their lines."""


class State(msgspec.Struct, frozen=True):
    """The content of a file at a time. `hash` "" with `too_large` False: the file is absent.

    `outside` marks a state that the agent's file actions did not make, `is_part` one of which only what was changed is
    known.
    """

    step: int
    hash: str
    too_large: bool = False
    outside: bool = False
    size: int = 0
    is_part: bool = False


class TouchedFile(msgspec.Struct, frozen=True):
    """A file with its changes and the numbers of the steps that read it, oldest first; at least one of either."""

    host: str
    path: str
    changes: tuple[FileChanged, ...]
    reads: tuple[int, ...] = ()

    @property
    def key(self) -> Key:
        """What names the file in its session."""
        return self.host, self.path

    @property
    def last(self) -> FileChanged:
        """The newest change."""
        return self.changes[-1]

    @property
    def is_only_read(self) -> bool:
        """Whether no step changed it."""
        return not self.changes

    @property
    def name(self) -> str:
        """The last part of the path."""
        return name_of(self.path)

    @property
    def folder(self) -> str:
        """The path without the name."""
        return self.path[: -len(self.name)].rstrip(separator_of(self.path)) if self.path.endswith(self.name) else ""

    def states(self) -> list[State]:
        """Every content in order; the first is the one before the first change. None of what was only read."""
        if not self.changes:
            return []
        first = self.changes[0]
        found = [State(0, first.before, is_part=first.is_partial)]
        for change in self.changes:
            if change.is_partial:
                if change is not first:
                    found.append(State(change.step, change.before, is_part=True))
            elif change.before != found[-1].hash and change.before and not found[-1].too_large:
                found.append(State(change.step, change.before, outside=True))
            found.append(State(change.step, change.after, too_large=change.too_large, size=change.size,
                               is_part=change.is_partial))
        return found


def touched(changes: Sequence[FileChanged], step: int | None, reads: Mapping[str, Sequence[int]] = MappingProxyType({}),
            *, most_first: bool = False) -> list[TouchedFile]:
    """The files touched up to a step (None: so far), the one with the newest change first, or the one with the most
    changes; at the end what was only read (`reads`: path → steps), the last one first."""
    found: dict[Key, list[FileChanged]] = {}
    for change in changes:
        if step is None or change.step <= step:
            held = found.pop((change.host, change.path), [])
            held.append(change)
            found[(change.host, change.path)] = held
    before = _reads_of([path for _, path in found], reads, step)
    files = [TouchedFile(host, path, tuple(held), before.pop(path, ())) for (host, path), held in
             reversed(found.items())]
    if most_first:
        files.sort(key=lambda file: -len(file.changes))
    read = sorted(((steps[-1], path) for path, steps in before.items() if steps), reverse=True)
    return files + [TouchedFile("", path, (), before[path]) for _, path in read]


def _reads_of(changed: Sequence[str], reads: Mapping[str, Sequence[int]], step: int | None
              ) -> dict[str, tuple[int, ...]]:
    """The reads up to a step. A path that begins in the agent's folder is that of the one changed file that ends so."""
    named, found, held = dict[str, list[str]](), dict[str, set[int]](), frozenset(changed)
    for path in changed:
        named.setdefault(name_of(path), []).append(path)
    for path, steps in reads.items():
        ending = "/" + path.removeprefix("./")
        whole = [path] if path in held else [one for one in named.get(name_of(path), ()) if one.endswith(ending)]
        found.setdefault(whole[0] if len(whole) == 1 else path, set()).update(
            n for n in steps if step is None or n <= step)
    return {path: tuple(sorted(steps)) for path, steps in found.items()}


class FilesModel(FlatModel[TouchedFile]):
    """The list of touched files. Counts of lines come later, from whoever fetches the contents."""

    FileRole = int(Qt.ItemDataRole.UserRole) + 1
    CountsRole = FileRole + 1

    counts_wanted = Signal(object)
    """A FileChanged whose counts a visible row lacks."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._counts: dict[tuple[str, str], tuple[int, int] | None] = {}
        self._asked: set[tuple[str, str]] = set()

    def show(self, files: list[TouchedFile]) -> None:
        """Show these files. Equal ones change nothing; the same files in the same order keep their rows."""
        if files != self.rows:
            self.put(files, same=[f.key for f in files] == [f.key for f in self.rows])

    def file(self, row: int) -> TouchedFile | None:
        """The file in a row."""
        return self.rows[row] if 0 <= row < len(self.rows) else None

    def row_of(self, key: Key) -> int:
        """The row of a file, -1 when it is not there."""
        return next((i for i, f in enumerate(self.rows) if f.key == key), -1)

    def put_counts(self, before: str, after: str, counts: tuple[int, int] | None) -> None:
        """The counts of a change are known."""
        self._counts[(before, after)] = counts
        self.draw_anew()

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """The file, its counts, or its path for those who read aloud."""
        file = self.row_at(index)
        if file is None:
            return None
        if role == self.FileRole:
            return file
        if role == self.CountsRole:
            return self._sum_of(file)
        if role == int(Qt.ItemDataRole.DisplayRole):
            return visible(f"{file.host}:{file.path}" if file.host else file.path)
        return None

    def _sum_of(self, file: TouchedFile) -> tuple[int, int] | None:
        """The lines that all changes of a file added and removed; None while some are not counted, or cannot be."""
        found = [self.counts_of(change) for change in file.changes[-MOST_COUNTED:]]
        if not found or len(file.changes) > MOST_COUNTED or None in found:
            return None
        return sum(one[0] for one in found if one), sum(one[1] for one in found if one)

    def counts_of(self, change: FileChanged) -> tuple[int, int] | None:
        """Lines added and removed, where they are known; else they are asked for."""
        key = (change.before, change.after)
        if key not in self._counts and key not in self._asked and not change.too_large and change.size < COUNTED_BYTES:
            self._asked.add(key)
            self.counts_wanted.emit(change)
        return self._counts.get(key)
