"""Sessions in one list of steps: which is open below which step of which, and where the rows of each stand."""

from __future__ import annotations

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
        for segment in laid_out(child, nested, start):
            yield segment
            start = segment.start + segment.count
    yield RowSpan(start, node, own, count - own)
