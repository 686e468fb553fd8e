"""Every action says what it does, in one place, and nobody lists actions by name anywhere else."""

import ast
from pathlib import Path

import pytest

from core.actions.declare import Arguments, Declared
from core.actions.registry import ACTIONS
from core.domain.action_kinds import ACTION_KINDS, ActionKind

ROOT = Path(__file__).parents[3]
FOREIGN = ("core/formats/", "core/supervision/foreign_tools.py", "core/environments/adapters/reasoning_gym.py")
"""These speak of the tools of other programs, or of functions of other libraries, some of which are named as ours."""


def names_in(literal: ast.expr) -> set[str]:
    elements = literal.elts if isinstance(literal, ast.Set | ast.Tuple | ast.List) else []
    return {e.value for e in elements if isinstance(e, ast.Constant) and e.value in ACTION_KINDS}


def sets_of_names(source: str) -> list[set[str]]:
    """The literals that list two actions or more."""
    return [found for node in ast.walk(ast.parse(source)) if isinstance(node, ast.expr)
            and len(found := names_in(node)) > 1]


def test_every_action_is_declared_with_what_it_does_and_carried_out():
    assert list(ACTIONS) == list(ACTION_KINDS)
    assert all(declared.kind.name == name for name, declared in ACTIONS.items())


def test_an_action_cannot_be_declared_without_its_effect():
    with pytest.raises(TypeError, match="effect"):
        ActionKind("new_action", "file")  # type: ignore[call-arg]
    with pytest.raises(LookupError, match="says what the action new_action does"):
        Declared("new_action", Arguments, ACTIONS["think"].carry)


def test_nobody_lists_actions_by_name():
    sources = {p.relative_to(ROOT).as_posix(): p.read_text() for folder in ("app", "core")
               for p in (ROOT / folder).rglob("*.py")}
    found = {name: sets for name, source in sources.items()
             if not name.startswith(FOREIGN) and (sets := sets_of_names(source))}
    assert found == {}, "derive the names from core/domain/action_kinds.py (names_of)"


@pytest.mark.parametrize("source", ["X = {'sleep', 'eval'}",
                                    "X = frozenset(['sleep', 'eval'])", "a in ('sleep', 'eval')"])
def test_a_list_of_actions_would_be_found(source):
    assert sets_of_names(source) == [{"sleep", "eval"}]


def test_what_the_kinds_say_is_what_the_rules_and_the_agent_go_by():
    def names(**wanted: object) -> set[str]:
        return {k.name for k in ACTION_KINDS.values() if all(getattr(k, f) == v for f, v in wanted.items())}

    assert names(effect="waits") == names(reports_jobs=True) | {"list_sessions"}
    assert names(effect="ends", family="command") == {"kill_session_processes", "close_session", "close_all_sessions"}
    assert names(effect="changes", family="file") == {"create_file", "edit_file"}
    assert names(is_inward=True) == {"think", "finish"}
    assert names(shows="file") == {"open_file", "search_file"}
