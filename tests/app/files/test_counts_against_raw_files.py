"""What Files tells of each file (its changes, their steps, lines added and removed) against the raw files themselves.

The readers here are a few lines each and share nothing with the importers: a patch that the program recorded is
counted as it stands, contents are compared by the longest common subsequence of their lines.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.imported import trajectory
from support.real_data import real

from app.files.diff import counts
from app.files.model import touched
from core.formats import registry

Told = dict[str, list[tuple[int, int, int]]]
"""By a file's name: the step, the lines added and those removed of each change."""


def shown(path: Path) -> list[Told]:
    """What the panel counts, of each session that changed files."""
    found = []
    for session in registry.read(path):
        told: Told = {}
        for file in touched(trajectory(session).files, None):
            pairs = [(c.step, *(session.blobs[h] if h else b"" for h in (c.before, c.after))) for c in file.changes]
            told[file.name] = [(step, *(counts(old, new) or (-1, -1))) for step, old, new in pairs]
        found.append(told)
    return [told for told in found if told]


def lines_of(text: str | None) -> list[str]:
    return (text or "").replace("\r", "").removesuffix("\n").split("\n") if text else []


def changed(old: list[str], new: list[str]) -> tuple[int, int]:
    """Lines added and removed."""
    row = [0] * (len(new) + 1)
    for one in old:
        before, row = row, [0]
        for at, other in enumerate(new, 1):
            row.append(before[at - 1] + 1 if one == other else max(before[at], row[-1]))
    return len(new) - row[-1], len(old) - row[-1]


def marked(patch: list[str]) -> tuple[int, int]:
    """Lines that a patch adds and removes."""
    return (sum(line.startswith("+") and not line.startswith("+++") for line in patch),
            sum(line.startswith("-") and not line.startswith("---") for line in patch))


# ---- readers of raw files ----------------------------------------------------------------------------


def claude_code(path: Path) -> Told:
    """Calls of Write, Edit and MultiEdit that did not fail: by the patch of the result, else by their own words."""
    told, answers, calls = defaultdict(list), list[str](), {}
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line) if line.startswith("{") and line.endswith("}") else {}
        message = entry.get("message") or {}
        blocks = message.get("content") if isinstance(message, dict) else None
        if entry.get("isSidechain") or not isinstance(blocks, list):
            continue
        answer = message.get("id") or entry["uuid"]
        if entry["type"] == "assistant" and answer not in answers:
            answers.append(answer)
        for block in (one for one in blocks if isinstance(one, dict)):
            if block["type"] == "tool_use" and block["name"] in ("Write", "Edit", "MultiEdit"):
                calls[block["id"]] = answers.index(answer) + 1, block["input"]
            elif block["type"] == "tool_result" and block["tool_use_id"] in calls and block.get("is_error"):
                del calls[block["tool_use_id"]]
            elif block["type"] == "tool_result" and block["tool_use_id"] in calls:
                result = entry.get("toolUseResult")
                calls[block["tool_use_id"]] += (result.get("structuredPatch"),) if isinstance(result, dict) else ()
    for step, given, *patch in calls.values():
        pairs = [(one.get("old_string"), one.get("new_string", given.get("content")))
                 for one in given.get("edits", [given])]
        sums = [marked([line for hunk in patch[0] for line in hunk["lines"]])] if patch and patch[0] else [
            changed(lines_of(old), lines_of(new)) for old, new in pairs]
        told[Path(given["file_path"]).name].append((step, *map(sum, zip(*sums, strict=True))))
    return dict(told)


def codex(path: Path) -> Told:
    """Patches that were applied, by their own lines."""
    told, step = defaultdict(list), 0
    for line in path.read_text(encoding="utf-8").splitlines():
        payload = json.loads(line)["payload"]
        step += payload.get("type") == "token_count"
        for name, patch in re.findall(r"\*\*\* (?:Add|Update) File: (\S+)\n(.*?)\*\*\* ", str(payload.get("arguments")),
                                      re.DOTALL):
            told[Path(name).name].append((step, *marked(patch.split("\n"))))
    return dict(told)


_WINDOW = re.compile(r"\[File: (\S+) \((\d+) lines total(?: after edit)?\)\]\s*\n")


def windows(steps: Iterator[tuple[str, str]]) -> Told:
    """Agents that look through windows of numbered lines: what stands in the window after an edit, beside what stood
    there before. A file that is removed was known whole."""
    told, held = defaultdict(list), dict[str, tuple[int, dict[int, str]]]()
    for step, (act, seen) in enumerate(steps, 1):
        if (gone := re.fullmatch(r"rm (\S+)\s*", act)) and gone[1] in held:
            told[gone[1]].append((step, 0, held.pop(gone[1])[0]))
        found = _WINDOW.search(seen)
        if found is None or "proposed edit" in seen:
            continue
        name, total = Path(found[1]).name, int(found[2])
        lines = {int(n): line for n, line in re.findall(r"^(\d+)[:|]([^\r\n]*)", seen[found.end():], re.MULTILINE)}
        count, old = held.get(name, (0, {}))
        if re.match(r"edit|insert|create", act):
            moved = total - count
            differ = (n for n in range(1, count + 1) if n in old and n in lines and old[n] != lines[n])
            top = next(differ, count + 1)
            end = next((n for n in range(count, 0, -1) if n in old and lines.get(n + moved, old[n]) != old[n]), 0)
            last = max(end, top - 1, top - 1 - moved)
            told[name].append((step, *changed([old[n] for n in range(top, last + 1)],
                                              [lines[n] for n in range(top, last + moved + 1)])))
        held[name] = total, {**(old if count == total else {}), **lines}
    return dict(told)


def swe_agent(path: Path) -> Told:
    return windows((one["action"], one["observation"]) for one in json.loads(path.read_text("utf-8"))["trajectory"])


def openhands_output(path: Path) -> list[Told]:
    """One for each row that used the editor of its notebook."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        acts: list[tuple[str, str]] = []
        for event in json.loads(line)["history"][1:]:
            if "action" in event:
                acts.append((str(event.get("code", "")), ""))
            elif "observation" in event:
                acts[-1] = acts[-1][0], event["content"]
        found.append(windows(iter(acts)))
    return [told for told in found if told]


def openhands(path: Path) -> Told:
    """Observations of edits hold both contents; a step is an answer of the model."""
    told, answers = defaultdict(list), list[str]()
    for event in json.loads(path.read_text(encoding="utf-8")):
        answer = ((event.get("tool_call_metadata") or {}).get("model_response") or {}).get("id")
        if event.get("source") == "agent" and "action" in event and answer and answer not in answers:
            answers.append(answer)
        if event.get("observation") == "edit":
            extras = event["extras"]
            sums = changed(lines_of(extras["old_content"]), lines_of(extras["new_content"]))
            told[Path(extras["path"]).name].append((answers.index(answer) + 1, *sums))
    return dict(told)


# ---- what both say -----------------------------------------------------------------------------------

SWE = ("crypto__BabyEncryption", "default_sys-env_window100__install-1__marshmallow-code__marshmallow-1867",
       "function_calling_replace_from_source__marshmallow-code__marshmallow-1867",
       "gpt4__swe-agent-test-repo__default_from_url__t-0.0__6e44b9__sweagenttestrepo-1c2844",
       "human_thought__swe-bench-HumanEvalFix-python__lcb___humanevalfix-python-0")
CLAUDE = ("cclog_edge_cases", "cclog_representative_messages", "simonw_sample_session",
          "ccviewer_5c0375b4-57a5-4f26-b12d-d022ee4e51b7", "scout_tool_call_conversation")
FILES = [(claude_code, f"claude-code/{name}.jsonl") for name in CLAUDE] + [
    (codex, "codex-cli/codex-rollout.sample.jsonl")] + [(swe_agent, f"swe-agent/{name}.traj") for name in SWE] + [
    (openhands, f"openhands-events/{name}.json") for name in ("basic", "basic_gui_mode")] + [
    (openhands_output, "openhands-output-jsonl/resolver_mock_output.jsonl")]


@pytest.mark.parametrize(("read", "name"), FILES, ids=[name for _, name in FILES])
def test_files_tells_what_the_raw_file_does(read, name):
    path = real(name)
    wanted = read(path)
    assert shown(path) == [told for told in (wanted if isinstance(wanted, list) else [wanted]) if told]


@pytest.mark.parametrize("name", SWE[1:3])
def test_what_is_left_at_the_end_is_the_patch_that_was_handed_in(name):
    path = real(f"swe-agent/{name}.traj")
    handed_in = json.loads(path.read_text("utf-8"))["info"]["submission"].replace("\r", "").split("\n")
    [told] = shown(path)
    left = {file: (sum(a for _, a, _ in each), sum(r for _, _, r in each)) for file, each in told.items()}
    assert left["fields.py"] == marked(handed_in) and left["reproduce.py"][0] == left["reproduce.py"][1] > 0


def test_the_changes_of_an_openhands_row_sum_up_to_its_patch():
    path = real("openhands-output-jsonl/resolver_mock_output.jsonl")
    patch = json.loads(path.read_text("utf-8").splitlines()[1])["git_patch"].replace("\r", "").split("\n")
    [told] = shown(path)
    all_of = [one for each in told.values() for one in each]
    assert (sum(a for _, a, _ in all_of), sum(r for _, _, r in all_of)) == marked(patch) == (48, 2)


@pytest.mark.parametrize("name", [name for _, name in FILES])
def test_a_row_of_the_list_says_what_files_says(name):
    for session in registry.read(real(name)):
        told = trajectory(session)
        sums = defaultdict[int, list[int]](lambda: [0, 0])
        for change in told.files:
            added, removed = counts(*(session.blobs[h] if h else b"" for h in (change.before, change.after))) or (0, 0)
            sums[change.step] = [sums[change.step][0] + added, sums[change.step][1] + removed]
        heads = {entry.head.number: [entry.head.added, entry.head.removed] for entry in told.steps}
        assert {step: heads[step] for step in sums} == dict(sums)
