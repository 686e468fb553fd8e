"""The layouts as nested rows and columns of places, and how docks are put there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QMainWindow

from app.desk.panel import Panel
from app.kit import theme, tokens
from app.window.panel_dock import BAR, PanelDock


@dataclass(frozen=True)
class Tabs:
    """A place: the panels that declare it stand there as tabs.

    `size` is the share of the room, in pixels of a window of 1440 × 900.
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
        Tabs("left", 248),
        Split(False, (Tabs("middle", 560), Tabs("middle_below", 220)), 692),
        Split(False, (Tabs("right", 500), Tabs("right_below", 252), Tabs("right_line", 28)), 500),
    )),
    "read": Split(True, (
        Tabs("left", 220),
        Tabs("middle", 584),
        Split(False, (Tabs("right", 458), Tabs("right_below", 302)), 636),
    )),
    "compare": Split(True, (
        Tabs("left", 220),
        Split(False, (Tabs("middle", 460), Tabs("middle_below", 320)), 720),
        Split(False, (Tabs("right", 458), Tabs("right_below", 302)), 500),
    )),
    "export": Split(True, (Tabs("left", 220), Tabs("middle", 760), Tabs("right", 460))),
    "queue": Split(True, (Tabs("left", 220), Tabs("middle", 912), Tabs("right", 308))),
}
"""Watching and guiding a running session; reading and judging a saved one; two side by side; what is handed to
training; working through many. A panel declares its place in each. Sizes are those of a window of 1440 × 900."""

HIDDEN = 10
"""A panel of this rank or a higher one waits behind the tabs of its place until it is asked for."""

NARROW, FLAT = 1340, 600
"""Below these sizes of the window the left side waits until it is asked for, and what stands below joins what stands
above."""

LINES = {"live": ("files",), "read": (), "compare": (), "export": (), "queue": ()}
"""The panels that each layout begins with as a thin line; in a small window also `LINE_IN_SMALL`."""

LINE_IN_SMALL = "files"
"""The panel that keeps its place below the step in a small window, as a thin line."""

FIRST_IN_SMALL = "step"
"""The panel in front where the places of the right are one."""


def _places(node: Tabs | Split) -> tuple[str, ...]:
    return (node.place,) if isinstance(node, Tabs) else tuple(p for part in node.parts for p in _places(part))


PLACES = {name: _places(layout) for name, layout in LAYOUTS.items()}
"""The places of each layout, from left to right and from top to bottom."""

GAP = 6
"""Between two docks."""

CHROME = ("menu", "head", "review", "status")
"""What stands above and below the docks."""

Seats = dict[str, list[PanelDock]]
"""The docks of each place of a layout, the one in front first."""


def arrange(window: QMainWindow, panels: Sequence[Panel], docks: Mapping[str, PanelDock], name: str) -> None:
    """Put every panel's dock into its place of a layout; in a small window the left side waits."""
    for dock in docks.values():
        dock.setFloating(False)
        window.removeDockWidget(dock)
    room = window.size() - QSize(0, sum(theme.px(tokens.HEIGHTS[bar]) for bar in CHROME))
    seats = _seats(panels, docks, name, _joined(name, window.size()))
    first = _first(LAYOUTS[name], seats)
    if first is None:
        return
    window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, first)
    _place(window, seats, LAYOUTS[name])
    waiting = {docks[p.key] for p in panels if p.docks[name][1] >= HIDDEN}
    if is_narrow(window.size()) and "middle" in seats:
        waiting |= {*seats.get("left", ())}
    for dock in waiting:
        dock.hide()
    shown = {place: [d for d in seat if d not in waiting] for place, seat in seats.items()}
    _size(window, {place: seat for place, seat in shown.items() if seat}, LAYOUTS[name], room)


def with_lists(panels: Sequence[Panel], name: str) -> list[str]:
    """The keys of the panels of a layout's middle, then of its left side, each place from its front to its back."""
    sides = ("middle", "left")
    seats = ((sides.index(place), rank, panel.key) for panel in panels
             for place, rank in [panel.docks[name]] if place in sides)
    return [key for *_, key in sorted(seats)]


def is_narrow(size: QSize) -> bool:
    """Whether the left side of a window of this size is a rail of icons."""
    return size.width() < theme.px(NARROW)


def is_small(size: QSize) -> bool:
    """Whether a window of this size has fewer places."""
    return is_narrow(size) or size.height() < theme.px(FLAT)


def folded_at_first(name: str, size: QSize) -> dict[str, bool]:
    """The panels that a layout begins with as thin lines, each with False: not open."""
    return dict.fromkeys((*LINES[name], *((LINE_IN_SMALL,) if is_small(size) else ())), False)


def _joined(name: str, size: QSize) -> dict[str, str]:
    """Which places of a layout are one with another in a window of this size."""
    if not is_small(size):
        return {}
    return {place: "right" for place in PLACES[name] if place.startswith("right_")}


def _seats(panels: Sequence[Panel], docks: Mapping[str, PanelDock], name: str, joined: Mapping[str, str]) -> Seats:
    seats: Seats = {}
    for panel in sorted(panels, key=lambda p: (p.docks[name][1], not (joined and p.key == FIRST_IN_SMALL))):
        place = panel.docks[name][0]
        seat = place if panel.key == LINE_IN_SMALL else joined.get(place, place)
        seats.setdefault(seat, []).append(docks[panel.key])
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
    panels = (dock.panel for dock in seats.get(node.place, ()))
    hints = [panel.minimumSizeHint() for panel in panels if panel is not None]
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


def _first(node: Tabs | Split, seats: Seats) -> PanelDock | None:
    if isinstance(node, Tabs):
        return next(iter(seats.get(node.place, ())), None)
    return next((d for p in node.parts if (d := _first(p, seats)) is not None), None)
