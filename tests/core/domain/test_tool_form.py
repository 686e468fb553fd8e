"""Forms of tools, whatever a runner, or a server of an environment, said that there is to call."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.errors import InvalidInput
from core.domain.tool_form import MOST_CHOICES, MOST_FIELDS, MOST_TOOLS, forms_of

JSON = st.recursive(st.none() | st.booleans() | st.integers(-3, 10**30) | st.text(max_size=5), lambda inner: (
    st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["name", "parameters", "properties", "required", "enum", "type", "anyOf", "description"]), inner, max_size=4)),
    max_leaves=12)


@given(st.lists(JSON, max_size=3), JSON)
def test_anything_is_a_form_or_one_error(tools: list[Any], spec: Any) -> None:
    for whole in (tools, [{"name": "t", "parameters": {"properties": {"a": spec}}}]):
        with contextlib.suppress(InvalidInput):
            forms_of(json.dumps(whole).encode())


def test_no_form_is_longer_than_a_window_can_draw() -> None:
    def tool(fields: int, choices: int) -> dict[str, Any]:
        spec = {"type": "string", "enum": [f"c{n}" for n in range(choices)]}
        return {"name": "t", "parameters": {"properties": {f"a{n}": spec for n in range(fields)}}}

    (form,) = forms_of(json.dumps([tool(MOST_FIELDS, MOST_CHOICES)]).encode())
    assert len(form.fields) == MOST_FIELDS and len(form.fields[0].choices) == MOST_CHOICES
    (form,) = forms_of(json.dumps([tool(1, MOST_CHOICES + 1)]).encode())
    assert form.fields[0].choices == (), "it is written instead"
    for tools in ([tool(MOST_FIELDS + 1, 0)], [tool(1, 1)] * (MOST_TOOLS + 1)):
        with pytest.raises(InvalidInput):
            forms_of(json.dumps(tools).encode())
