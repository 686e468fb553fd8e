"""Sessions in one list of steps: which is open below which step of which, and where the rows of each stand."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import msgspec
from PySide6.QtCore import QObject

from app.trajectory.model import TrajectoryModel


class Node(QObject):
    """A session in the list. `above` and `step` are the session and the step that called it; `prefix` stands before
    the numbers of its steps."""

    def __init__(self, session: str, above: Node | None, step: int, prefix: str, parent: QObject) -> None:
        super().__init__(parent)
        self.session, self.above, self.step, self.prefix = session, above, step, prefix
        self.depth: int = above.depth + 1 if above is not None else 0
        self.model = TrajectoryModel(self)
        self.below: list[Node] = []

    @property
    def anchor(self) -> int:
        """The row of the caller's own model below which this session stands; −1 where it is not (yet) there."""
        if self.above is None:
            return -1
        model = self.above.model
        return model.row_of(model.item_of_step(self.step))

    def walk(self) -> Iterator[Node]:
        """This one and all that are open in it."""
        yield self
        for node in self.below:
            yield from node.walk()


class RowSpan(msgspec.Struct):
    """Rows `first`… of a node's own model stand at row `start`… of the list."""

    start: int
    node: Node
    first: int
    count: int


def laid_out(node: Node, nested: bool, start: int = 0) -> Iterator[RowSpan]:
    """The rows of a session from a row of the list on; where `nested`, with those of all that is open in it."""
    own, count = 0, node.model.rowCount()
    below = sorted(((one.anchor, one) for one in node.below), key=lambda pair: pair[0])
    for anchor, child in below if nested else ():
        if anchor < 0:
            continue
        if anchor + 1 > own:
            yield RowSpan(start, node, own, anchor + 1 - own)
            start, own = start + anchor + 1 - own, anchor + 1
        for span in laid_out(child, nested, start):
            yield span
            start = span.start + span.count
    yield RowSpan(start, node, own, count - own)


class RowLayout:
    """The list as spans of rows, each of one session; laid out anew whenever a session's rows change."""

    def __init__(self, root: Node) -> None:
        self._spans, self._starts = [RowSpan(0, root, 0, 0)], [0]

    def lay_out(self, root: Node, nested: bool) -> None:
        """From the first session on; where `nested`, with all that is open in it."""
        self._spans = list(laid_out(root, nested))
        self._starts = [span.start for span in self._spans]

    @property
    def count(self) -> int:
        return self._spans[-1].start + self._spans[-1].count

    def holds(self, node: Node) -> bool:
        """Whether a session is in the list."""
        return any(span.node is node for span in self._spans)

    def at(self, row: int) -> tuple[Node, int]:
        """The session of a row, and the row in its own model."""
        span = self._spans[max(0, bisect_right(self._starts, row) - 1)]
        return span.node, span.first + row - span.start

    def row_in(self, node: Node, own: int) -> int:
        """The row of the list for a row of a session's own model; −1 where there is none."""
        found = (s.start + own - s.first for s in self._spans
                 if s.node is node and s.first <= own < s.first + s.count)
        return next(found, -1)

    def rows_of(self, node: Node) -> Iterator[int]:
        """The first and the last row of each span of a session."""
        for span in self._spans:
            if span.node is node and span.count:
                yield from (span.start, span.start + span.count - 1)

    def place_below(self, above: Node, node: Node) -> int:
        """Where a subagent that is opened now begins; −1 where its caller has no row."""
        row = self.row_in(above, node.anchor)
        inside = [one for one in above.below if one.anchor == node.anchor]
        return max([row, *self._within(inside)]) + 1 if row >= 0 else -1

    def insertion(self, node: Node, own: int) -> int:
        """The row at which rows come that a session's own model inserts at `own`."""
        if own == 0:
            return next((s.start for s in self._spans if s.node is node), 0)
        inside = [one for one in node.below if one.anchor == own - 1]
        return max([self.row_in(node, own - 1), *self._within(inside)]) + 1

    def _within(self, nodes: list[Node]) -> list[int]:
        return [row for one in nodes for each in one.walk() for row in self.rows_of(each)]

    def list_rows(self, node: Node, top: int, bottom: int) -> Iterator[tuple[int, int]]:
        """Where rows of a session's own model stand in the list, as (first, last)."""
        for span in self._spans:
            first, last = max(top, span.first), min(bottom, span.first + span.count - 1)
            if span.node is node and first <= last:
                yield first + span.start - span.first, last + span.start - span.first

    def own_rows(self, node: Node, top: int, bottom: int) -> Iterator[tuple[int, int]]:
        """Which rows of a session's own model stand in some rows of the list, as (first, last)."""
        for span in self._spans:
            first, last = max(top, span.start), min(bottom, span.start + span.count - 1)
            if span.node is node and first <= last:
                yield first + span.first - span.start, last + span.first - span.start
