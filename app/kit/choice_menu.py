"""A menu of which one entry is chosen, as an order of a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu


def offer_choices(menu: QMenu, choices: Sequence[tuple[str, str]], chosen: str, choose: Callable[[str], object]) -> str:
    """Offer choices (key, words) with the chosen one marked; gives its words, "" where none is chosen."""
    menu.clear()
    group = QActionGroup(menu)
    for key, words in choices:
        action = menu.addAction(words)
        action.setCheckable(True)
        action.setChecked(key == chosen)
        action.triggered.connect(partial(choose, key))
        group.addAction(action)
    return dict(choices).get(chosen, "")
