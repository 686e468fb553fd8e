"""The layouts as nested rows and columns of places, each with a small way, and how docks are put there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow

from app.desk.panel import Panel


@dataclass(frozen=True)
class Tabs:
    """A place: the panels that declare it stand there as tabs.

    `size` is the share of the room, in pixels of a 1600 × 1000 window.
    """

    place: str
    size: int


@dataclass(frozen=True)
class Split:
    """Places side by side (`across`) or one below the other."""

    across: bool
    parts: tuple[Tabs | Split, ...]
    size: int = 0


LAYOUTS: dict[str, Split] = {
    "live": Split(True, (
        Split(False, (
            Split(True, (
                Tabs("left", 270),
                Split(False, (Tabs("middle", 430), Tabs("middle_below", 400)), 720),
            ), 740),
            Tabs("left_below", 190),
        ), 990),
        Split(False, (Tabs("right", 300), Tabs("right_middle", 300), Tabs("right_below", 330)), 610),
    )),
    "review": Split(True, (
        Split(False, (Tabs("left", 190), Tabs("left_below", 740)), 480),
        Tabs("middle", 640),
        Split(False, (Tabs("right", 480), Tabs("right_below", 450)), 480),
    )),
    "compare": Split(True, (
        Tabs("left", 250),
        Split(False, (Tabs("middle", 560), Tabs("middle_below", 340)), 760),
        Split(False, (Tabs("right", 480), Tabs("right_below", 420)), 590),
    )),
    "small_live": Split(True, (
        Split(False, (Tabs("left", 250), Tabs("left_below", 230)), 500),
        Split(False, (Tabs("right", 210), Tabs("right_below", 270)), 460),
    )),
    "small_review": Split(True, (
        Split(False, (Tabs("left", 125), Tabs("left_below", 325)), 480),
        Tabs("right", 480),
    )),
    "small_compare": Split(True, (
        Split(False, (Tabs("left", 290), Tabs("left_below", 190)), 500),
        Tabs("right", 460),
    )),
}
"""Watching and guiding a running session; judging steps, with Step and Review large; two sessions side by side. Each
also with fewer places, for a window that has no room for what its panels need. A panel declares its place in each."""


def _places(node: Tabs | Split) -> tuple[str, ...]:
    return (node.place,) if isinstance(node, Tabs) else tuple(p for part in node.parts for p in _places(part))


PLACES = {name: tuple(sorted(_places(layout), key=("left", "left_below", "middle", "middle_below", "right",
                                                   "right_middle", "right_below").index))
          for name, layout in LAYOUTS.items()}
"""The places of each layout, from left to right."""

BAR = 30
"""The height of a dock's title or tabs, and of menu and status bar each, in pixels; nothing rests on it exactly."""

GAP = 6
"""Between two docks."""

Seats = dict[str, list[QDockWidget]]
"""The docks of each place of a layout, the one in front first."""


def arrange(window: QMainWindow, panels: Sequence[Panel], docks: Mapping[str, QDockWidget], name: str) -> None:
    """Put every panel's dock into its place of a layout, or of its small way where the window lacks the room."""
    for dock in docks.values():
        dock.setFloating(False)
        window.removeDockWidget(dock)
    room = window.size() - QSize(0, 2 * BAR)
    seats = _seats(panels, docks, name)
    need = QSize(*(_need(seats, LAYOUTS[name], across=across) for across in (True, False)))
    if need.boundedTo(room) != need:
        name = f"small_{name}"
        seats = _seats(panels, docks, name)
    first = _first(LAYOUTS[name], seats)
    if first is None:
        return
    window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, first)
    _place(window, seats, LAYOUTS[name])
    _size(window, seats, LAYOUTS[name], room)


def _seats(panels: Sequence[Panel], docks: Mapping[str, QDockWidget], name: str) -> Seats:
    seats: Seats = {}
    for panel in sorted(panels, key=lambda p: p.docks[name][1]):
        seats.setdefault(panel.docks[name][0], []).append(docks[panel.key])
    return seats


def shares(room: int, wanted: Sequence[int], needed: Sequence[int]) -> list[int]:
    """The room divided as wanted, where it is large enough with nobody below what is needed."""
    scale = room / max(1, sum(wanted))
    scaled = [round(w * scale) for w in wanted]
    short = sum(max(0, n - t) for t, n in zip(scaled, needed, strict=True))
    spare = sum(max(0, t - n) for t, n in zip(scaled, needed, strict=True))
    if not short or spare < short:
        return scaled
    return [n if t < n else t - round((t - n) * short / spare) for t, n in zip(scaled, needed, strict=True)]


def _size(window: QMainWindow, seats: Seats, node: Tabs | Split, room: QSize) -> None:
    """Give the parts of each split their sizes, the outermost first."""
    if not isinstance(node, Split):
        return
    parts = [(p, d) for p in node.parts if (d := _first(p, seats)) is not None]
    total = (room.width() if node.across else room.height()) - GAP * (len(parts) - 1)
    sizes = shares(total, [p.size for p, _ in parts], [_need(seats, p, across=node.across) for p, _ in parts])
    way = Qt.Orientation.Horizontal if node.across else Qt.Orientation.Vertical
    window.resizeDocks([d for _, d in parts], sizes, way)
    for (part, _), size in zip(parts, sizes, strict=True):
        _size(window, seats, part, QSize(size, room.height()) if node.across else QSize(room.width(), size))


def _need(seats: Seats, node: Tabs | Split, *, across: bool) -> int:
    """The width or the height that the panels of a place need to be seen whole."""
    if isinstance(node, Split):
        each = [_need(seats, part, across=across) for part in node.parts]
        return sum(each) + GAP * (len(each) - 1) if node.across == across else max(each)
    hints = [dock.widget().minimumSizeHint() for dock in seats.get(node.place, ())]
    return max((h.width() if across else h.height() + BAR for h in hints), default=0)


def _place(window: QMainWindow, seats: Seats, node: Tabs | Split) -> None:
    if isinstance(node, Tabs):
        shown = seats.get(node.place, [])
        for before, dock in pairwise(shown):
            window.tabifyDockWidget(before, dock)
        for dock in shown:
            dock.show()
        if shown:
            shown[0].raise_()
        return
    parts = [(p, d) for p in node.parts if (d := _first(p, seats)) is not None]
    way = Qt.Orientation.Horizontal if node.across else Qt.Orientation.Vertical
    for (_, before), (_, dock) in pairwise(parts):
        window.splitDockWidget(before, dock, way)
    for part, _ in parts:
        _place(window, seats, part)


def _first(node: Tabs | Split, seats: Seats) -> QDockWidget | None:
    if isinstance(node, Tabs):
        return next(iter(seats.get(node.place, ())), None)
    return next((d for p in node.parts if (d := _first(p, seats)) is not None), None)
