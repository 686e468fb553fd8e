"""The panels of the window: every `PANEL` that a folder of the desktop declares, in the order of the live layout."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import app
from app.desk.panel import Panel
from app.window.layouts import PLACES


def declared() -> list[Panel]:
    """One for each folder that has a `panel` module. Raises TypeError for a module that declares none."""
    folders = [folder for folder in iter_modules(app.__path__, "app.") if folder.ispkg]
    modules = [f"{folder.name}.panel" for folder in folders
               if any(m.name == "panel" for m in iter_modules(import_module(folder.name).__path__))
               and folder.name != "app.desk"]
    return [_panel_of(name) for name in modules]


def _panel_of(module: str) -> Panel:
    panel = getattr(import_module(module), "PANEL", None)
    if not isinstance(panel, Panel):
        raise TypeError(f"{module} declares no PANEL = Panel(key, title, build, docks), so the window cannot show it.")
    return panel


def _place(panel: Panel) -> tuple[int, int]:
    place, rank = panel.docks["live"]
    return PLACES["live"].index(place), rank


PANELS: tuple[Panel, ...] = tuple(sorted(declared(), key=_place))
