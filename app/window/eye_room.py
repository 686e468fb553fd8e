"""What the model saw is read beside a narrow list: open in Read, it has the room of the files and much of the list's.

A message's first words are what is read of it; between the list and the files at their usual sizes two or three words
of six messages were to be seen.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, QTimer

from app.desk.workplace import Workplace
from app.kit import theme
from app.window.window import Window

LIST = 360
"""The width of the list of steps beside it, in pixels, until the reader drags the border: number, tool and title."""


class EyeRoom(QObject):
    """Gives and takes back the room; what is stored of a layout is how it stands without."""

    def __init__(self, place: Workplace, window: Window) -> None:
        super().__init__(window)
        self._window, self._docks, self._thin, self._layouts = window, window.docks, window.thin, window.layouts
        self._eye = place.actions["view.eye"]
        self._list = LIST
        self._before: list[int] = []
        """The widths of list and step as they were; none while nothing is given."""
        self._folded, self._hand = False, dict[str, bool]()
        """Whether the files were folded, and whether they were opened by hand before."""
        self._eye.toggled.connect(self._on_eye)
        self._layouts.left.connect(self._on_left)
        self._layouts.asked.connect(self._on_asked)

    def _on_left(self, *_: object) -> None:
        if self._before:
            self.take_back()
            self._window.save_state()

    def _on_asked(self, *_: object) -> None:
        """Another layout, or the same one put back: there is nothing to take back."""
        self._before, self._folded = [], False
        QTimer.singleShot(0, self, self.give)  # when the docks stand

    def _on_eye(self, on: bool) -> None:
        if on:
            self.give()
        else:
            self.take_back()

    def give(self) -> None:
        """Widen the step while it shows what was seen, where it stands at the right of the list."""
        steps, step, files = (self._docks[key] for key in ("trajectory", "step", "files"))
        if self._layouts.current != "read" or self._before or not (self._eye.isChecked() and step.is_seen):
            return
        beside = steps.is_seen and steps.geometry().right() < step.geometry().left()
        whole = steps.width() + step.width()
        narrow = min(theme.px(self._list), whole // 2)
        if not beside or narrow >= steps.width():
            return
        self._before = [steps.width(), step.width()]
        self._resize([narrow, whole - narrow])
        self._folded = files.is_seen and not files.is_thin and not files.isFloating()
        if self._folded:
            self._hand = {key: on for key, on in self._thin.by_hand.items() if key == "files"}
            self._thin.toggle("files")

    def take_back(self) -> None:
        """Let everything stand where it stood; the border that the reader dragged is remembered for the next time."""
        if not self._before:
            return
        self._list = round(self._docks["trajectory"].width() / theme.px(100) * 100)
        before, self._before = self._before, []
        self._resize(before)
        if self._folded and self._thin.by_hand.get("files") is False:  # else the reader opened them meanwhile
            self._thin.by_hand.pop("files")
            self._thin.by_hand.update(self._hand)
            self._thin.fit()
        self._folded = False

    def _resize(self, widths: list[int]) -> None:
        docks = [self._docks["trajectory"], self._docks["step"]]
        self._window.resizeDocks(docks, widths, Qt.Orientation.Horizontal)
