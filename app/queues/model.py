"""What there is to work through as a Qt model: headings, and entries with how much each holds."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import Qt

from app.desk.queue_book import Shown
from app.kit.flat_model import SPOKEN, FlatModel, Index

SourceRole = int(Qt.ItemDataRole.UserRole) + 1


class QueueSource(msgspec.Struct, frozen=True):
    """A line: a heading, or (with `shown`) what the middle lists when it is chosen. `right` is how much it holds;
    `is_query`: its title is a filter as it is typed."""

    title: str
    shown: Shown | None = None
    icon: str = ""
    meaning: str = "muted"
    right: str = ""
    is_query: bool = False
    is_done: bool = False

    @property
    def spoken(self) -> str:
        """The line as one text."""
        return ", ".join(part for part in (self.title, self.right) if part)


class SourcesModel(FlatModel[QueueSource]):
    """The lines from top to bottom. Headings cannot be chosen."""

    def show(self, lines: Sequence[QueueSource]) -> None:
        """Show these lines; where only words changed, what is chosen stays chosen."""
        self.put(lines, same=[(x.shown, x.icon) for x in lines] == [(x.shown, x.icon) for x in self.rows])

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """The line (SourceRole), or its text for assistive technology."""
        line = self.row_at(index)
        if role == SourceRole:
            return line
        return line.spoken if line is not None and role in SPOKEN else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """A heading is passed over."""
        line = self.row_at(index)
        return Qt.ItemFlag.NoItemFlags if line is not None and line.shown is None else super().flags(index)
