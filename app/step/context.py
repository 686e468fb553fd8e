"""The messages of a context with what entered and left since the step before: the model behind the eye."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QAbstractTableModel, QCoreApplication, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.kit import quantities, theme
from app.kit.i18n import plural
from app.kit.safe_text import one_line
from core.domain.context import MessageRef

Index = QModelIndex | QPersistentModelIndex
SHOWN = ("context", "changes", "entered", "left", "gone")


class ContextLine(msgspec.Struct, frozen=True):
    """One message: its place (0 for one that left), whether it entered, left, stayed, or is gone since a step."""

    place: int
    change: str
    ref: MessageRef
    since: int = 0


def lines_of(before: Sequence[MessageRef], after: Sequence[MessageRef]) -> list[ContextLine]:
    """The context, then what is in it no more."""
    spare = Counter(r.hash for r in before)
    lines = []
    for place, ref in enumerate(after, 1):
        stayed = spare[ref.hash] > 0
        spare[ref.hash] -= stayed
        lines.append(ContextLine(place, "" if stayed else "entered", ref))
    here = Counter(r.hash for r in after)
    for ref in before:
        if here[ref.hash] > 0:
            here[ref.hash] -= 1
        else:
            lines.append(ContextLine(0, "left", ref))
    return lines


class ContextModel(QAbstractTableModel):
    """Change, place, role, source and tokens of each message."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: list[ContextLine] = []
        self.lines: list[ContextLine] = []
        self._gone: list[ContextLine] = []
        self._holding: frozenset[str] = frozenset()
        self._shown = "context"

    @property
    def shown(self) -> str:
        """Which messages are listed: one of SHOWN."""
        return self._shown

    @property
    def refs(self) -> list[MessageRef]:
        """The messages of the context, in order."""
        return [line.ref for line in self._all if line.change != "left"]

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        """How many messages are listed."""
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        """Place, change, role, source, tokens."""
        return 0 if parent.isValid() else 5

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = int(Qt.ItemDataRole.DisplayRole)
    ) -> object:
        """The names of the columns."""
        if role != Qt.ItemDataRole.DisplayRole or orientation != Qt.Orientation.Horizontal:
            return None
        return ("#", self.tr("Change"), self.tr("Role"), self.tr("Source"), self.tr("Tokens"))[section]

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """Text, alignment and colour of a cell."""
        if not index.isValid() or index.row() >= len(self.lines):
            return None
        line = self.lines[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._cell(line, index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in (0, 4):
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.ForegroundRole and line.change:
            return theme.colour("keep" if line.change == "entered" else "error")
        if role == Qt.ItemDataRole.BackgroundRole and line.ref.hash in self._holding:
            return theme.tint("attention", 60)
        return None

    def show(self, before: Sequence[MessageRef], after: Sequence[MessageRef]) -> None:
        """Show a context beside the one of the step before."""
        self._all = lines_of(before, after)
        self._gone = []
        self._list()

    def show_gone(self, gone: Sequence[tuple[MessageRef, int]]) -> None:
        """The messages that earlier contexts held and this one does not, each with the step that lost it."""
        self._gone = [ContextLine(0, "gone", ref, since) for ref, since in gone]
        self._list()

    def mark_holding(self, hashes: frozenset[str]) -> None:
        """Mark the messages that hold the text which is looked for."""
        self._holding = hashes
        if self.lines:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.lines) - 1, 4))

    def first_holding(self) -> int:
        """The row of the first marked message, -1 where none is."""
        return next((row for row, line in enumerate(self.lines) if line.ref.hash in self._holding), -1)

    def set_shown(self, shown: str) -> None:
        """List the context, the changes, what entered, what left, or all that is gone."""
        self._shown = shown
        self._list()

    def summary(self) -> str:
        """Number of messages, tokens, and how many entered and left."""
        now = self.refs
        if self._shown == "gone":
            lost = sum(line.ref.tokens for line in self._gone)
            gone = self.tr("%n message(s) of earlier contexts are gone", None, plural(len(self._gone)))
            return f"{gone} · " + self.tr("{sign}{tokens} tokens").format(sign="≈ ", tokens=quantities.number(lost))
        sign = "≈ " if any(r.estimated for r in now) else ""
        entered = sum(line.change == "entered" for line in self._all)
        return " · ".join((
            self.tr("%n message(s)", None, plural(len(now))),
            self.tr("{sign}{tokens} tokens").format(sign=sign, tokens=quantities.number(sum(r.tokens for r in now))),
            self.tr("{n} entered").format(n=entered), self.tr("{n} left").format(n=len(self._all) - len(now))))

    def _list(self) -> None:
        wanted = {"context": ("", "entered"), "changes": ("entered", "left")}.get(self._shown, (self._shown,))
        self.beginResetModel()
        self.lines = self._gone if self._shown == "gone" else [x for x in self._all if x.change in wanted]
        self.endResetModel()

    def _cell(self, line: ContextLine, column: int) -> str:
        if column == 0:
            return str(line.place) if line.place else "–"
        if column == 1:
            mark = "◆ " if line.ref.hash in self._holding else ""
            return f"{mark}{self._change(line)}".rstrip()
        if column == 2:
            return line.ref.role
        if column == 3:
            return source_words(line.ref.source)
        return ("≈ " if line.ref.estimated else "") + quantities.number(line.ref.tokens)

    def _change(self, line: ContextLine) -> str:
        if line.change == "gone":
            return self.tr("− since step {n}").format(n=line.since)
        return {"entered": "+ " + self.tr("entered"), "left": "− " + self.tr("left")}.get(line.change, "")


def source_words(source: str) -> str:
    """What made a message, in words."""
    kind, _, name = source.partition(":")
    known = {
        "task": QCoreApplication.translate("EyeView", "task"),
        "note": QCoreApplication.translate("EyeView", "note of the program"),
        "step": QCoreApplication.translate("EyeView", "step {name}"),
        "guidance": QCoreApplication.translate("EyeView", "guidance"),
        "summary": QCoreApplication.translate("EyeView", "summary"),
        "system": QCoreApplication.translate("EyeView", "instructions"),
    }.get(kind)
    return known.format(name=one_line(name, 20)) if known is not None else one_line(source, 60)
