"""Sessions in one list of steps: which is open below which step of which."""

from __future__ import annotations

from collections.abc import Iterator

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
