"""What a panel declares of itself: key, title, and where it docks in each layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from app.kit.i18n import translate

if TYPE_CHECKING:
    from types import ModuleType

    from PySide6.QtWidgets import QWidget

    from app.desk.workplace import Workplace


@dataclass(frozen=True)
class Panel:
    """One panel, declared as `PANEL` by its folder (`folder`, the package's name), where the window finds it.

    `build` of the folder's module `panel`, which is loaded when the panel is needed, makes the view, lets a controller
    wire it, and returns it. `docks` names for each layout (`app/window/layouts.py`) the place, and the panel's rank
    among the tabs of that place: 0 stands in front, `HIDDEN` and higher wait until they are asked for.
    """

    key: str
    title: str
    folder: str
    docks: Mapping[str, tuple[str, int]]
    is_headed: bool = False
    """The panel has a head of its own, so that its dock shows no title."""

    bar: Callable[[QWidget], QWidget] | None = None
    """Makes of the built view the bar that stands at the bottom of the window, where the panel has one."""

    is_leading: bool = False
    """It is there before a session is opened, also where another tab hides it: what it does then concerns others."""

    grows: bool = False
    """Its dock becomes higher when the panel needs more, and leaves the other panels most of the window."""

    def load(self) -> ModuleType:
        """What the panel is made by."""
        return import_module(f"{self.folder}.panel")

    def build(self, place: Workplace, parent: QWidget) -> QWidget:
        """The panel, wired. It shows what is in sight now, whenever it is built."""
        made: QWidget = self.load().build(place, parent)
        return made

    @property
    def shown_title(self) -> str:
        """The title in the reader's language."""
        return translate("Panel", self.title)
