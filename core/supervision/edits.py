"""Rules about changing files that were not looked at."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from core.domain.action_kinds import names_of
from core.domain.step import Action, StepBody
from core.supervision.rule import RULES, Evidence, Finding
from core.supervision.traces import EDITING, command_of, commands, runs

_INSPECTING = names_of(lambda kind: kind.shows == "file")
_MOVING = names_of(lambda kind: kind.shows == "open file")
_SHOWING_COMMAND = re.compile(r"(?:^|[\s;&|(])(?:cat|head|tail|less|more|nl|sed\s+-n|grep|rg|awk|diff|bat)\s")


@RULES.add("blind_edit", "3")
def blind_edit(evidence: Evidence, *, spare_runs: bool = True) -> Iterator[Finding]:
    """"Delete any actions that modifies a file at step i unless its current contents have been inspected at
    step i-1" (APOLLO App. E, priority 5).

    Steps that only think are passed over, for they change nothing and show nothing; a file that did not exist
    has no contents to inspect. So is one step between that ran something and wrote nothing to the file: to look, run
    and then change is debugging, which App. E keeps (`spare_runs` false takes the sentence by the letter).
    """
    known: set[tuple[str, str]] = set()
    created = {(f.step, posixpath.normpath(f.path)) for f in evidence.files if not (f.before or f.is_partial)}
    opened: tuple[str, str] | None = None
    before: StepBody | None = None
    earlier: tuple[set[tuple[str, str]], StepBody | None] = set(), None
    for body in evidence.steps:
        seen, opened = _inspected(before, opened)
        for place, action in enumerate(body.actions, 1):
            target = _target(action)
            if target is None:
                continue
            new = action.tool == "create_file" and (target not in known or (body.number, target[1]) in created)
            is_known = _shows(seen, before, target) or (
                spare_runs and _ran(before, target[1]) and _shows(*earlier, target))
            if not new and not is_known:
                tool = evidence.tool(body.number, place, action)
                why = f"{tool} changes {target[1]}, which the step before did not look at"
                yield Finding(body.number, why, place)
            known.add(target)
        known |= _named(body.actions)
        if any(a.tool != "think" for a in body.actions):
            before, earlier = body, (seen, before)


@RULES.add("second_edit", "3")
def second_edit(evidence: Evidence, *, any_file: bool = False) -> Iterator[Finding]:
    """"turn i: edit_file action, turn i+1: edit_file action, turn i+1's action should be filtered" (APOLLO App. E,
    priority 5): of two edits of one file in a row, or of whatever files with `any_file`.

    A second edit that puts right one which failed is debugging: the first changed nothing. An edit whose result
    shows the file (as in SWE-agent) is a look at it.
    """
    before: set[tuple[str, str]] = set()
    for body in evidence.steps:
        targets = {t for a in body.actions if a.tool == "edit_file" and (t := _target(a)) is not None}
        again = targets if any_file and before else targets & before
        for place, action in enumerate(body.actions, 1):
            if action.tool == "edit_file" and (target := _target(action)) in again:
                why = f"the second edit in a row of {target[1]}, without a look at the first one's result"
                yield Finding(body.number, why, place)
        if targets or any(a.tool != "think" for a in body.actions) or not body.actions:
            failed = {o.call_id for o in body.observations if o.is_error}
            before = {t for a in body.actions if a.tool == "edit_file" and a.call_id not in failed
                      and (t := _target(a)) is not None} - _named(body.actions)


def _target(action: Action) -> tuple[str, str] | None:
    """The host and file that an action changes."""
    if action.malformed or action.tool not in EDITING:
        return None
    return _place(action, action.arguments.get("path") or action.arguments.get("filename") or "")


def _place(action: Action, path: object) -> tuple[str, str] | None:
    text = str(path or "")
    return (str(action.arguments.get("computer_ip") or ""), posixpath.normpath(text)) if text else None


def _named(actions: Sequence[Action]) -> set[tuple[str, str]]:
    """The files that these actions looked at by name."""
    places = (_place(a, a.arguments.get("path") or a.arguments.get("file_path")) for a in actions
              if a.tool in _INSPECTING)
    return {p for p in places if p is not None}


def _inspected(
    body: StepBody | None, opened: tuple[str, str] | None
) -> tuple[set[tuple[str, str]], tuple[str, str] | None]:
    """The files that a step showed, and the file that stays open after it (scrolling acts on that one)."""
    seen: set[tuple[str, str]] = set()
    for action in body.actions if body else ():
        for place in _named([action]):
            seen.add(place)
            opened = place if action.tool == "open_file" else opened
        if action.tool in _MOVING and opened is not None:
            seen.add(opened)
    return seen, opened


def _ran(body: StepBody | None, path: str) -> bool:
    """Whether a step only ran commands, none of which names the file for anything but to run or read it."""
    name = posixpath.basename(path)
    ran = [a for a in (body.actions if body else ()) if a.tool == "run_command"]
    return bool(body and ran and len(ran) == len(body.actions)) and all(
        name not in c or runs(a, name) or _SHOWING_COMMAND.search(c) for a in ran for c in commands(command_of(a)))


def _shows(seen: set[tuple[str, str]], before: StepBody | None, target: tuple[str, str]) -> bool:
    host, path = target
    if any(h == host and (p == path or p.endswith(f"/{path}") or path.endswith(f"/{p}")) for h, p in seen):
        return True
    commands = [str(a.arguments.get("command") or "") for a in (before.actions if before else ())
                if a.tool == "run_command" and str(a.arguments.get("computer_ip") or "") == host]
    name = posixpath.basename(path)
    return any(_SHOWING_COMMAND.search(c) and name in c for c in commands)
