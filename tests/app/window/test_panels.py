"""What a panel declares: the window finds it, and each layout has one place for it that no other panel takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

import app
from app.desk.panel import Panel
from app.window.layouts import PLACES
from app.window.panels import PANELS, declared

FEATURE = '"""A feature."""\nPANEL = "lookout"\n'


def faults(panels: Sequence[Panel], places: Mapping[str, Sequence[str]]) -> list[str]:
    """What is wrong with the declarations, a sentence each; `places` are those of each layout."""
    found = []
    for panel in panels:
        found += [f"Panel {panel.key!r} has no place in the layout {name!r}." for name in places
                  if name not in panel.docks]
        found += [f"Panel {panel.key!r} docks in the layout {name!r}, which there is not." for name in panel.docks
                  if name not in places]
        found += [f"Panel {panel.key!r} docks at {place!r}, which the layout {name!r} lacks."
                  for name, (place, _) in panel.docks.items() if place not in places.get(name, (place,))]
    for name in places:
        taken: dict[tuple[str, int], str] = {}
        for panel in panels:
            if name in panel.docks and (other := taken.setdefault(panel.docks[name], panel.key)) != panel.key:
                found.append(f"Panels {other!r} and {panel.key!r} both have rank {panel.docks[name][1]} at "
                             f"{panel.docks[name][0]!r} of the layout {name!r}.")
    keys = [panel.key for panel in panels]
    return found + [f"Two panels are called {key!r}." for key in sorted({k for k in keys if keys.count(k) > 1})]


def test_every_panel_has_a_place_of_its_own_in_every_layout():
    assert not (found := faults(PANELS, PLACES)), "\n".join(found)


def test_every_folder_with_a_panel_is_found():
    folders = {path.parent.name for path in Path(app.__path__[0]).glob("*/panel.py")} - {"desk"}
    assert {panel.folder for panel in PANELS} == {f"app.{folder}" for folder in folders}
    assert all(callable(import_module(f"{panel.folder}.panel").build) for panel in PANELS)


def changed(key: str, **docks: tuple[str, int] | None) -> list[Panel]:
    """The panels, of which one docks otherwise; None: nowhere."""
    [panel] = [p for p in PANELS if p.key == key]
    held = {name: at for name, at in {**panel.docks, **docks}.items() if at is not None}
    return [replace(p, docks=held) if p is panel else p for p in PANELS]


@pytest.mark.parametrize(("panels", "sentence"), [
    (changed("files", live=("cellar", 0)), "Panel 'files' docks at 'cellar', which the layout 'live' lacks."),
    (changed("files", read=None), "Panel 'files' has no place in the layout 'read'."),
    (changed("files", night=("left", 0)), "Panel 'files' docks in the layout 'night', which there is not."),
    (changed("files", live=("left", 0)),
     "Panels 'sessions' and 'files' both have rank 0 at 'left' of the layout 'live'."),
    ([*PANELS, next(p for p in PANELS if p.key == "files")], "Two panels are called 'files'."),
])
def test_a_faulty_declaration_is_named(panels, sentence):
    assert faults(panels, PLACES) == [sentence]


def test_a_panel_without_its_place_in_a_new_layout_is_named():
    assert faults(PANELS[:1], {**PLACES, "wide": ("left",)}) == [
        f"Panel {PANELS[0].key!r} has no place in the layout 'wide'."]


def test_a_folder_whose_declaration_is_none_is_named(monkeypatch, tmp_path: Path):
    folder = tmp_path / "lookout"
    folder.mkdir()
    (folder / "__init__.py").write_text(FEATURE)
    monkeypatch.setattr(app, "__path__", [*app.__path__, str(tmp_path)])
    with pytest.raises(TypeError, match=r"app\.lookout declares no PANEL = Panel\(key, title, __name__, docks\)"):
        declared()
