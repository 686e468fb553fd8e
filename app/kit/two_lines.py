"""What one entry of a two-line list says."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import Qt

TwoLinesRole = int(Qt.ItemDataRole.UserRole) + 1


class TwoLines(msgspec.Struct, frozen=True):
    """One entry. `meaning` colours `sign`; `spans` are (start, stop) of `below` that are marked."""

    title: str
    below: str
    sign: str = ""
    meaning: str = "muted"
    right: str = ""
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def spoken(self) -> str:
        """The entry as one text."""
        return ", ".join(t for t in (self.title, self.right, self.below) if t)
