"""One name, one meaning: public classes of the desktop and the core; and no words that say nothing."""

import ast
import re
from collections import defaultdict

import pytest
from support.sources import ROOT, files, syntax

TREES = {p.relative_to(ROOT).as_posix(): syntax(p) for p in files("app", "core")}

VERDICTS = {"app/review/verdict_book.py": {"kept"}, "core/workers/export.py": {"kept"},
            "core/export/samples.py": {"is_kept"}}
"""Steps whose verdict is keep: the one meaning of the word."""

SAYS_NOTHING = re.compile(
    r"(?:^|_)(?:told|said|kept|keeper|listed|standing|looked|later|world|surroundings|arrivals|"
    r"notifier|keeping|intake|carrying)(?:_|$)", re.IGNORECASE)
"""What was told, by whom, to whom? A name has the noun: `sentences`, `opinions`, `arguments`."""


def public_classes() -> dict[str, list[str]]:
    """The modules that define a public class, by its name."""
    found = defaultdict(list)
    for module, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(module)
    return found


def bound_names(tree: ast.AST) -> set[str]:
    """The names that a module gives: to values, arguments, attributes, functions, classes and imports."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.alias(asname=str(name)) | ast.MatchAs(name=str(name)):
                found.add(name)
    return found


def bare_slots(tree: ast.AST) -> set[str]:
    """Methods that a signal calls, itself or as a partial, and that are named by one word."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="connect") | ast.Name(id="partial"),
                          args=[ast.Attribute(value=ast.Name(id="self"), attr=name), *_]):
                found.add(name)
    return {name for name in found if re.fullmatch("_[a-z]+", name)} & {
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_a_class_name_means_one_thing():
    twice = {name: modules for name, modules in public_classes().items() if len(modules) > 1}
    assert twice == {}, "give the newer one a name of its own"


def test_names_say_what_they_hold():
    found = {module: names for module, tree in TREES.items()
             if (names := {n for n in bound_names(tree) if SAYS_NOTHING.search(n)} - VERDICTS.get(module, set()))}
    assert found == {}


def test_slots_say_what_they_do_to_what():
    """`_show_rows`, or `_on_folded` where a slot takes an event in."""
    found = {module: slots for module, tree in TREES.items()
             if module.startswith("app/") and (slots := bare_slots(tree))}
    assert found == {}


def test_controllers_call_their_widget_a_view():
    assert {module for module, tree in TREES.items() if module.endswith("/panel.py") and "_panel" in bound_names(tree)
           } == set()


@pytest.mark.parametrize(("slot", "bare"), [("self._moved", {"_moved"}), ("self._on_moved", set()),
                                            ("partial(self._moved, 1)", {"_moved"})])
def test_a_bare_slot_would_be_found(slot, bare):
    assert bare_slots(ast.parse(f"signal.connect({slot})\ndef _moved(): ...\ndef _on_moved(): ...")) == bare


@pytest.mark.parametrize("source", ["told = 1", "def said(): ...", "class Kept: ...", "x.standing = 1",
                                    "lambda later: 0", "import a as world", "for looked_at in y: ..."])
def test_a_name_that_says_nothing_would_be_found(source):
    assert any(SAYS_NOTHING.search(name) for name in bound_names(ast.parse(source)))
