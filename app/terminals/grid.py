"""pyte's screen made fit for long recordings: history as compact rows, an alternate screen, a fast path, state."""

from __future__ import annotations

import copy
from typing import Any

import pyte
from pyte import modes
from pyte.screens import Char

from app.kit.terminal_cells import HistoryRow, compact

HISTORY_LINES = 10_000
_ALTERNATE = {47 << 5, 1047 << 5, 1049 << 5}
_IGNORED_MODES = {3}  # DECCOLM would resize the grid
_STATE = ("mode", "margins", "charset", "g0_charset", "g1_charset", "tabstops", "savepoints", "saved_columns")


class Grid(pyte.Screen):  # type: ignore[misc]  # pyte ships no types
    """pyte's screen, with scrolled-off lines kept, an alternate screen, and a fast path for plain ASCII."""

    def __init__(self, columns: int, lines: int) -> None:
        self.buffer: dict[int, Any]
        self.history: list[HistoryRow] = []
        self.dropped = 0
        self.main_buffer: dict[int, Any] | None = None
        self._cells: dict[Char, dict[str, Char]] = {}
        super().__init__(columns, lines)

    def keep(self, row: HistoryRow) -> None:
        """Put a line at the end of the history; the oldest ones go."""
        self.history.append(row)
        if len(self.history) > HISTORY_LINES + 2000:
            del self.history[:2000]
            self.dropped += 2000

    def index(self) -> None:
        """Scroll; the line that leaves a whole main screen goes into the history."""
        if self.margins is None and self.main_buffer is None and self.cursor.y == self.lines - 1:
            self.keep(compact(self.buffer[0]))
        super().index()

    def draw(self, data: str) -> None:
        """Write text at the cursor."""
        if not data.isascii() or self.charset or modes.IRM in self.mode or modes.DECAWM not in self.mode:
            super().draw(data)
            return
        at = 0
        while at < len(data):
            if self.cursor.x >= self.columns:
                self.dirty.add(self.cursor.y)
                self.carriage_return()
                self.linefeed()
            piece = data[at : at + self.columns - self.cursor.x]
            self._place(piece)
            at += len(piece)

    def _place(self, piece: str) -> None:
        style, x = self.cursor.attrs, self.cursor.x
        cells = self._cells.setdefault(style, {})
        line = self.buffer[self.cursor.y]
        for ch in piece:
            cell = cells.get(ch)
            if cell is None:
                cell = cells[ch] = style._replace(data=ch)
            line[x] = cell
            x += 1
        self.cursor.x = x
        self.dirty.add(self.cursor.y)
        if len(self._cells) > 512:
            self._cells.clear()

    def set_mode(self, *args: int, **kwargs: Any) -> None:
        """Set modes; the alternate screen is one."""
        if kwargs.get("private"):
            args = tuple(m for m in args if m not in _IGNORED_MODES)
        super().set_mode(*args, **kwargs)
        if kwargs.get("private") and {m << 5 for m in args} & _ALTERNATE and self.main_buffer is None:
            self.save_cursor()
            self.main_buffer, self.buffer = self.buffer, self._empty()

    def reset_mode(self, *args: int, **kwargs: Any) -> None:
        """Reset modes."""
        if kwargs.get("private"):
            args = tuple(m for m in args if m not in _IGNORED_MODES)
        super().reset_mode(*args, **kwargs)
        if kwargs.get("private") and {m << 5 for m in args} & _ALTERNATE and self.main_buffer is not None:
            self.buffer, self.main_buffer = self.main_buffer, None
            self.restore_cursor()

    def reset(self) -> None:
        """Begin anew; the history stays."""
        self.main_buffer = None
        super().reset()

    def set_title(self, param: str) -> None:
        """Titles are ignored."""

    def set_icon_name(self, param: str) -> None:
        """Icon names are ignored."""

    def state(self) -> dict[str, Any]:
        """A copy of everything but the history, whose length it tells."""
        fields = {k: copy.copy(getattr(self, k)) for k in _STATE}
        main = None if self.main_buffer is None else _copy_lines(self.main_buffer)
        return fields | {"cursor": _copy_cursor(self.cursor), "buffer": _copy_lines(self.buffer), "main": main,
                         "length": self.dropped + len(self.history)}

    def go_back(self, state: dict[str, Any]) -> None:
        """Take on an earlier state of the same stream; later lines leave the history."""
        for key in _STATE:
            setattr(self, key, copy.copy(state[key]))
        self.cursor = _copy_cursor(state["cursor"])
        self.buffer = self._filled(state["buffer"])
        self.main_buffer = None if state["main"] is None else self._filled(state["main"])
        del self.history[max(0, state["length"] - self.dropped) :]

    def _filled(self, lines: dict[int, Any]) -> dict[int, Any]:
        buffer = self._empty()
        buffer.update(_copy_lines(lines))
        return buffer

    def _empty(self) -> dict[int, Any]:
        buffer = copy.copy(self.buffer)
        buffer.clear()
        return buffer


def _copy_lines(buffer: dict[int, Any]) -> dict[int, Any]:
    copied = {}
    for y, line in buffer.items():
        copied[y] = type(line)(line.default)
        copied[y].update(line)
    return copied


def _copy_cursor(cursor: pyte.screens.Cursor) -> pyte.screens.Cursor:
    copied = pyte.screens.Cursor(cursor.x, cursor.y, cursor.attrs)
    copied.hidden = cursor.hidden
    return copied
