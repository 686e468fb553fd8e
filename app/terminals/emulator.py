"""A terminal's screen from its raw bytes: pyte for the emulation, with history, a fast path and snapshots.

Nothing in the stream can act outside the grid: strings to the terminal (OSC titles, links and clipboard, DCS,
APC) are dropped before the emulator sees them, and it never answers.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Any

import pyte

from app.kit.terminal_cells import HistoryRow, Row, compact, plain_lines
from app.terminals.grid import Grid

_PENDING_LIMIT = 65_536

_STRINGS = re.compile(r"\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)")
_STRING_START = re.compile(r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])")
_COMPLETE = re.compile(r"\x1b(?:\[[0-?]{0,256}[ -/]*[@-~]|[ -/]+[0-~]|[^\[ -/])")
_ODD_CSI = re.compile(r"\x1b\[(?:[0-?]{257,}[ -/]*[@-~]?|[<=>!][0-?]*[ -/]*[@-~]|\?[0-?]*[ -/]*[@-gi-km-~])")
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[ -/]+[0-~]|[^\[ -/])")
_SWITCH = re.compile(r"\x1b\[\?(?:1049|1047|47)([hl])")
_UNSHOWN = re.compile("[\u00ad\u200b-\u200d\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_TRICKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\u0080-\u008f\u0091-\u0097\u0099\u009a\u009c]")


class Emulator:
    """Feeds bytes to a screen of fixed size. A faulty sequence never raises; it is dropped."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self._screen = Grid(columns, rows)
        self._stream = pyte.Stream(self._screen)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""

    @property
    def history(self) -> list[HistoryRow]:
        """Lines that scrolled off the top, oldest first."""
        return self._screen.history

    @property
    def dropped(self) -> int:
        """How many lines went from the top of the history for good; line numbers count on."""
        return self._screen.dropped

    @property
    def alternate(self) -> bool:
        """Whether a full-screen program holds the screen."""
        return self._screen.main_buffer is not None

    @property
    def cursor(self) -> tuple[int, int, bool]:
        """Column, row, and whether it shows."""
        c = self._screen.cursor
        return min(c.x, self.columns - 1), c.y, not c.hidden

    def screen_rows(self) -> list[Row]:
        """The screen's lines down to the last one in use."""
        rows = [compact(self._screen.buffer[y]) for y in range(self.rows)]
        used = max((y for y, row in enumerate(rows) if row), default=0)
        return rows[: max(used, self._screen.cursor.y) + 1]

    def feed(self, data: bytes) -> None:
        """Emulate the next bytes of the stream."""
        text = self._whole(self._decoder.decode(data))
        if not text:
            return
        text = _UNSHOWN.sub("", _TRICKS.sub("\ufffd", text))
        for piece in _pieces(text):
            self._feed(piece)

    def skip(self, data: bytes) -> None:
        """Take bytes that nobody will see drawn: their lines enter the history as plain text, quickly."""
        raw = self._whole(self._decoder.decode(data))
        switch = next(iter(reversed(_SWITCH.findall(raw))), None)
        if not self.alternate:
            for row in self.screen_rows():
                self._screen.keep(row)
            for line in _ESCAPES.sub("", raw).removesuffix("\n").split("\n"):
                for part in plain_lines(line, self.columns):
                    self._screen.keep(part)
        if switch is not None:
            self._feed(f"\x1b[?1049{switch}")
        self._feed("\x1b[H\x1b[2J\x1b[m\x1b[r")

    def snapshot(self) -> dict[str, Any]:
        """What is needed to go back to this state; small, for screens are."""
        return self._screen.state() | {"pending": self._pending, "decoder": self._decoder.getstate()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to an earlier state of this same stream."""
        self._screen.go_back(state)
        self._pending = state["pending"]
        self._decoder.setstate(state["decoder"])

    def _whole(self, text: str) -> str:
        """Only whole sequences: what is cut off waits for the next bytes; strings to the terminal go."""
        text = _ODD_CSI.sub("", _STRINGS.sub("", self._pending + text))
        start = _STRING_START.search(text)
        cut = start.start() if start else len(text)
        last = text.rfind("\x1b", 0, cut)
        if last >= 0 and not _COMPLETE.match(text, last, cut):
            cut = last
        self._pending = text[cut:]
        if len(self._pending) > _PENDING_LIMIT:
            rest, self._pending = self._pending[2:], ""
            return text[:cut] + rest
        return text[:cut]

    def _feed(self, text: str) -> None:
        try:
            self._stream.feed(text)
        except (AssertionError, AttributeError, IndexError, KeyError, NameError, TypeError, ValueError):
            # pyte's parser ends at parameters that it did not expect; the sequence is dropped.
            self._stream = pyte.Stream(self._screen)


def _pieces(text: str) -> Iterator[str]:
    """A text in short pieces that begin with an escape, so that a fault drops little."""
    if "\x1b" not in text:
        yield text
        return
    at = 0
    while at < len(text):
        end = text.find("\x1b", min(at + 512, len(text)))
        end = len(text) if end < 0 else end
        yield text[at:end]
        at = end
