"""What a panel declares of itself: key, title, builder, and where it docks in each layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from app.desk.workplace import Workplace


@dataclass(frozen=True)
class Panel:
    """One panel, declared as `PANEL` in the `panel` module of its folder, where the window finds it.

    `build` makes the view, lets a controller wire it, and returns it. `docks` names for each layout
    (`app/window/layouts.py`) the place, and the panel's rank among the tabs of that place: 0 stands in front,
    `HIDDEN` and higher wait until they are asked for.
    """

    key: str
    title: str
    build: Callable[[Workplace, QWidget], QWidget]
    docks: Mapping[str, tuple[str, int]]
    is_headed: bool = False
    """The panel has a head of its own, so that its dock shows no title."""

    bar: Callable[[QWidget], QWidget] | None = None
    """Makes of the built view the bar that stands at the bottom of the window, where the panel has one."""

    @property
    def shown_title(self) -> str:
        """The title in the reader's language."""
        return QCoreApplication.translate("Panel", self.title)
