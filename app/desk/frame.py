"""What the window offers to a feature, and what a panel offers to deep links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import msgspec
from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QDockWidget, QStatusBar, QWidget


class Frame(Protocol):
    """The window as a feature sees it."""

    @property
    def docks(self) -> Mapping[str, QDockWidget]:
        """The panels' docks by key."""

    @property
    def link_dropped(self) -> SignalInstance:
        """A deep link (its text) was dropped onto the window."""

    @property
    def servers_asked(self) -> SignalInstance:
        """The reader wants to see the servers."""

    @property
    def status(self) -> QStatusBar:
        """The status bar."""

    @property
    def widget(self) -> QWidget:
        """The window itself, as parent of dialogs and controllers."""

    def show_panel(self, key: str) -> None:
        """Bring a panel to the front, also one that was closed."""


class ListPlace(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a list of steps shows, and how: the session and item of its first row, and how far that is scrolled away;
    the folds of each session that are open (their first items), and the subagents that are."""

    session: str = ""
    item: int = -1
    offset: int = 0
    unfolded: dict[str, list[int]] = {}
    opened: list[str] = []


@runtime_checkable
class Filtered(Protocol):
    """A panel whose list a deep link can show filtered, and that finds its place again."""

    def shown_filters(self) -> dict[str, str]:
        """What is shown, as names and values; nothing for the whole list."""

    def show_filters(self, view: dict[str, str]) -> None:
        """Show exactly this; names that are not known are passed over."""

    def shown_place(self) -> ListPlace:
        """What is in sight now."""

    def show_place(self, place: ListPlace) -> None:
        """Bring that in sight again, as far as it is there."""


def list_of_steps(window: Frame) -> Filtered:
    """The list of steps, of which links and places tell."""
    panel = window.docks["trajectory"].widget()
    assert isinstance(panel, Filtered)
    return panel
