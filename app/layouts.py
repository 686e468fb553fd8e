"""Where the docks stand: three layouts as nested rows and columns, each with a small way, and their arranging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow


@dataclass(frozen=True)
class Tabs:
    """Panels in one place, the first in front; `size` is the share of the room, in pixels of a 1600 × 1000 window."""

    keys: tuple[str, ...]
    size: int


@dataclass(frozen=True)
class Split:
    """Places side by side (`across`) or one below the other."""

    across: bool
    parts: tuple[Tabs | Split, ...]
    size: int = 0


LIVE = Split(True, (
    Split(False, (
        Split(True, (
            Tabs(("sessions", "attention"), 270),
            Split(False, (Tabs(("trajectory",), 430), Tabs(("step",), 400)), 720),
        ), 740),
        Tabs(("guidance",), 190),
    ), 990),
    Split(False, (Tabs(("files", "searches", "find"), 300), Tabs(("terminals",), 300),
                  Tabs(("review", "disagreements", "charts", "compare", "export"), 330)), 610),
))
"""Watching and guiding a running session."""

REVIEW = Split(True, (
    Split(False, (Tabs(("sessions", "attention"), 190), Tabs(("trajectory",), 740)), 480),
    Tabs(("step",), 640),
    Split(False, (Tabs(("review", "disagreements", "export", "charts", "compare"), 480),
                  Tabs(("files", "terminals", "searches", "find", "guidance"), 450)), 480),
))
"""Judging steps: Step and Review large."""

COMPARE = Split(True, (
    Tabs(("sessions", "attention"), 250),
    Split(False, (Tabs(("compare", "trajectory"), 560), Tabs(("charts", "review", "disagreements"), 340)), 760),
    Split(False, (Tabs(("step", "guidance"), 480), Tabs(("files", "terminals", "searches", "find", "export"), 420)),
          590),
))
"""Two sessions side by side."""

SMALL_LIVE = Split(True, (
    Split(False, (Tabs(("trajectory",), 250), Tabs(("guidance", "charts", "compare"), 230)), 500),
    Split(False, (Tabs(("sessions", "attention", "files", "terminals", "searches", "find"), 210),
                  Tabs(("step", "review", "disagreements", "export"), 270)), 460),
))
"""The same with fewer places, for a window that has no room for more."""

SMALL_REVIEW = Split(True, (
    Split(False, (Tabs(("trajectory", "sessions", "attention"), 125),
                  Tabs(("review", "disagreements", "export", "charts", "compare"), 325)), 480),
    Tabs(("step", "files", "terminals", "searches", "find", "guidance"), 480),
))

SMALL_COMPARE = Split(True, (
    Split(False, (Tabs(("compare", "trajectory", "sessions", "attention"), 290),
                  Tabs(("charts", "review", "disagreements", "export"), 190)), 500),
    Tabs(("step", "guidance", "files", "terminals", "searches", "find"), 460),
))

LAYOUTS = {"live": (LIVE, SMALL_LIVE), "review": (REVIEW, SMALL_REVIEW), "compare": (COMPARE, SMALL_COMPARE)}
"""Each layout, and what stands for it where the window has no room for what its panels need."""

BAR = 30
"""The height of a dock's title or tabs, and of menu and status bar each, in pixels; nothing rests on it exactly."""

GAP = 6
"""Between two docks."""

Docks = dict[str, QDockWidget]


def arrange(window: QMainWindow, docks: Docks, layouts: tuple[Split, Split]) -> None:
    """Put every dock into its place of a layout, or of its small way; docks that it does not name are closed."""
    for dock in docks.values():
        dock.setFloating(False)
        window.removeDockWidget(dock)
    room = window.size() - QSize(0, 2 * BAR)
    need = QSize(*(_need(docks, layouts[0], across=across) for across in (True, False)))
    layout = layouts[0] if need.boundedTo(room) == need else layouts[1]
    first = _first(layout, docks)
    if first is None:
        return
    window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, first)
    _place(window, docks, layout)
    _size(window, docks, layout, room)


def shares(room: int, wanted: Sequence[int], needed: Sequence[int]) -> list[int]:
    """The room divided as wanted, where it is large enough with nobody below what is needed."""
    scale = room / max(1, sum(wanted))
    told = [round(w * scale) for w in wanted]
    short = sum(max(0, n - t) for t, n in zip(told, needed, strict=True))
    spare = sum(max(0, t - n) for t, n in zip(told, needed, strict=True))
    if not short or spare < short:
        return told
    return [n if t < n else t - round((t - n) * short / spare) for t, n in zip(told, needed, strict=True)]


def _size(window: QMainWindow, docks: Docks, node: Tabs | Split, room: QSize) -> None:
    """Give the parts of each split their sizes, the outermost first."""
    if not isinstance(node, Split):
        return
    parts = [(p, d) for p in node.parts if (d := _first(p, docks)) is not None]
    total = (room.width() if node.across else room.height()) - GAP * (len(parts) - 1)
    sizes = shares(total, [p.size for p, _ in parts], [_need(docks, p, across=node.across) for p, _ in parts])
    way = Qt.Orientation.Horizontal if node.across else Qt.Orientation.Vertical
    window.resizeDocks([d for _, d in parts], sizes, way)
    for (part, _), size in zip(parts, sizes, strict=True):
        _size(window, docks, part, QSize(size, room.height()) if node.across else QSize(room.width(), size))


def _need(docks: Docks, node: Tabs | Split, *, across: bool) -> int:
    """The width or the height that the panels of a place need to be seen whole."""
    if isinstance(node, Split):
        each = [_need(docks, part, across=across) for part in node.parts]
        return sum(each) + GAP * (len(each) - 1) if node.across == across else max(each)
    hints = [docks[key].widget().minimumSizeHint() for key in node.keys if key in docks]
    return max((h.width() if across else h.height() + BAR for h in hints), default=0)


def _place(window: QMainWindow, docks: Docks, node: Tabs | Split) -> None:
    if isinstance(node, Tabs):
        shown = [docks[k] for k in node.keys if k in docks]
        for before, dock in pairwise(shown):
            window.tabifyDockWidget(before, dock)
        for dock in shown:
            dock.show()
        if shown:
            shown[0].raise_()
        return
    parts = [(p, d) for p in node.parts if (d := _first(p, docks)) is not None]
    way = Qt.Orientation.Horizontal if node.across else Qt.Orientation.Vertical
    for (_, before), (_, dock) in pairwise(parts):
        window.splitDockWidget(before, dock, way)
    for part, _ in parts:
        _place(window, docks, part)


def _first(node: Tabs | Split, docks: Docks) -> QDockWidget | None:
    if isinstance(node, Tabs):
        return next((docks[k] for k in node.keys if k in docks), None)
    return next((d for p in node.parts if (d := _first(p, docks)) is not None), None)
