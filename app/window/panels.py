"""The panels of the window: every `PANEL` that a folder of the desktop declares, in the order of the live layout."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import app
from app.desk.panel import Panel
from app.window.layouts import PLACES


def declared() -> list[Panel]:
    """One for each folder that declares a `PANEL`. Raises TypeError for one that is none."""
    folders = [import_module(folder.name) for folder in iter_modules(app.__path__, "app.") if folder.ispkg]
    return [_panel_of(folder) for folder in folders if hasattr(folder, "PANEL")]


def _panel_of(folder: ModuleType) -> Panel:
    panel = folder.PANEL
    if not isinstance(panel, Panel):
        raise TypeError(f"{folder.__name__} declares no PANEL = Panel(key, title, __name__, docks), so the window "
                        "cannot show it.")
    return panel


def _place(panel: Panel) -> tuple[int, int]:
    place, rank = panel.docks["live"]
    return PLACES["live"].index(place), rank


PANELS: tuple[Panel, ...] = tuple(sorted(declared(), key=_place))
