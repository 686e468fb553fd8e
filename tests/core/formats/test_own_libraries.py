"""The formats' own libraries as oracles: what they read out of files is what we read, value by value.

`make libraries` brings them (packaging/setup/libraries.sh); each is asked in a process of its own, as none of them is a
part of this program. A test without its library is skipped and says so.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.imported import trajectory
from support.oracle import Step, differences, plain
from support.real_data import real
from support.tally import tally

from core.domain.message import Message, decode_message
from core.domain.step import StepBody, Usage
from core.formats import imported, registry
from core.formats.imported import Imported
from core.formats.readers import inspect_sample

ROOT = Path(__file__).parents[3]
FOLDER = Path(os.environ.get("TIPHYS_LIBRARIES") or ROOT / "build/libraries")
HERE, OWN = Path(__file__).parent / "own_libraries", Path(__file__).parent / "foreign"


def there(path: str) -> Path:
    """A part of what `make libraries` brings; without it the test is skipped."""
    found = FOLDER / path
    if not found.exists():
        pytest.skip(f"{path.split('/')[0]} is not in {FOLDER}: make libraries brings it")
    return found


def asked(command: Sequence[str | Path], **environment: str) -> list[Any]:
    """What a program prints, a value a line. It sees none of our settings and nothing of our code."""
    told = subprocess.run([str(part) for part in command], capture_output=True, check=False, timeout=300, text=True,
                          env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **environment})
    assert told.returncode == 0, told.stderr[-3000:]
    return [json.loads(line) for line in told.stdout.splitlines()]


def node(script: str, *arguments: str | Path) -> list[Any]:
    """What a script prints that Node runs."""
    program = shutil.which("node") or pytest.skip("Node is not installed")
    return asked([program, HERE / script, *arguments])


def harm(path: Path, expected: list[dict[str, Any]], got: list[Imported]) -> list[str]:
    """Each difference between a file's sessions as its library reads them and as we do."""
    if len(got) != len(expected):
        return [f"{path.name}: {len(got)} sessions, not {len(expected)}"]
    if "name" in expected[0]:  # a library may have an order of its own
        titles = {next(one["name"] for one in expected if s.title.endswith(f" {one['name']}")): s for s in got}
        got = [titles[one["name"]] for one in expected]
    found = []
    for session, one in zip(got, expected, strict=True):
        steps = msgspec.convert(one["steps"], list[Step], strict=False)
        found += [f"{path.name}: {line}" for line in differences(session, steps)]
        found += [] if "scores" not in one else scored(session, one["scores"])
    return found


def scored(session: Imported, expected: list[tuple[str, Any, float | None]]) -> list[str]:
    """How the scores of a session differ from those that a library reads: name, value, and what that is as a number."""
    got = [(fact.message, fact.total) for fact in trajectory(session).scores]
    wanted = [(f"{name}: {value if isinstance(value, str) else json.dumps(value)}",
               100 * number if number is not None and 0 <= number <= 1 else None) for name, value, number in expected]
    return [] if got == wanted else [f"scores {got}, not {wanted}"]


Read = tuple[list[Path], list[list[dict[str, Any]]]]
"""Files, and what a library reads of each."""


@cache
def by_inspect() -> Read:
    """Real logs, and our own."""
    python = there("inspect/bin/python")
    paths = [*sorted(real("inspect").iterdir()), OWN / "inspect.json"]
    return paths, asked([python, "-P", HERE / "read_inspect.py", *paths])


@cache
def by_harbor() -> Read:
    """Real trajectories, and our own; a continuation is read with what it continues."""
    paths = [*(path for path in sorted(real("atif").iterdir()) if not path.stem.endswith("_cont1")),
             OWN / "atif.json", OWN / "harbor/agent/trajectory.json"]
    environment = {"PYTHONPATH": str(there("harbor"))}
    return paths, asked([sys.executable, "-P", HERE / "read_harbor.py", *paths], **environment)


@cache
def by_gemini(written: Path) -> Read:
    """A session that the program's own service records, and our own; what it sends when it goes on with them."""
    core = there("node/node_modules/@google/gemini-cli-core")
    node("read_gemini.mjs", core, "write", written.parent, written)
    paths = [written, OWN / "gemini.json"]
    return paths, node("read_gemini.mjs", core, "read", *paths)


@pytest.fixture(params=["Inspect", "Harbor", "Gemini CLI"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Read]:
    """The name of a library, and what it reads."""
    if request.param == "Gemini CLI":
        return request.param, by_gemini(tmp_path_factory.getbasetemp() / "gemini-session.jsonl")
    return request.param, by_inspect() if request.param == "Inspect" else by_harbor()


def differing(read: Read) -> list[str]:
    """Each difference between what a library reads and what we read."""
    paths, expected = read
    assert len(expected) == len(paths)
    return [line for path, one in zip(paths, expected, strict=True)
            for line in harm(path, one, list(registry.read(path)))]


def test_a_library_reads_what_we_read(library: tuple[str, Read]) -> None:
    name, read = library
    tally(f"{name}: steps compared with what its own library reads",
          sum(len(session["steps"]) for expected in read[1] for session in expected), differing(read))


change = msgspec.structs.replace
BROKEN: dict[str, Callable[[StepBody], StepBody]] = {
    "text": lambda body: change(body, thought=body.thought[1:]),
    "arguments": lambda body: change(body, actions=tuple(
        change(a, arguments={**a.arguments, "a": 1}) for a in body.actions)),
    "a call": lambda body: change(body, actions=body.actions[1:]),
    "output": lambda body: change(body, observations=tuple(
        change(o, output=change(o.output, text=o.output.text[:-1])) for o in body.observations))}


@pytest.mark.parametrize("what", BROKEN)
def test_a_library_notices_a_step_that_is_read_wrongly(what: str, library: tuple[str, Read], monkeypatch) -> None:
    whole = imported.encode_body
    monkeypatch.setattr(imported, "encode_body", lambda body: whole(BROKEN[what](body)))
    assert differing(library[1])


def test_a_library_notices_what_lies_beside_steps(library: tuple[str, Read], monkeypatch) -> None:
    name, read = library
    whole = imported.make_head
    with monkeypatch.context() as broken:
        broken.setattr(imported, "make_head", lambda body, **rest: whole(body, **rest | {"usage": Usage()}))
        assert any("tokens" in line for line in differing(read))
    if name != "Harbor":  # whose models say nothing of contexts, nor of scores
        before = imported.encode_message
        with monkeypatch.context() as broken:
            broken.setattr(imported, "encode_message", lambda one: before(change(one, content=one.content[:-1])))
            assert any("context" in line for line in differing(read))
    if name == "Inspect":
        with monkeypatch.context() as broken:
            broken.setitem(inspect_sample._LETTERS, "C", 0.0)
            assert any("scores" in line for line in differing(read))


def test_claude_codes_sdk_reads_the_conversation_that_we_read(tmp_path: Path) -> None:
    """The SDK gives the branch that the session ended on: what it holds is our last context, no answer more, none less.

    Left out: a compaction, before which the SDK gives what the model no longer saw, and excerpts without the parents.
    """
    sdk = there("node/node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs")
    names = ("ccviewer_5c0375b4-57a5-4f26-b12d-d022ee4e51b7", "scout_agent_session", "scout_simple_conversation",
             "scout_tool_call_conversation")
    paths = [*(real("claude-code") / f"{name}.jsonl" for name in names), OWN / "claude_rewound.jsonl"]
    tried, found = 0, []
    for path, told in zip(paths, node("read_claude.mjs", sdk, tmp_path, *paths), strict=True):
        wanted = [(role, plain(text), tuple(calls)) for role, text, calls in told]
        while wanted[-1][0] != "assistant":
            wanted.pop()
        ours = [(m.role, plain(m.content), tuple(c.name for c in m.tool_calls)) for m in conversation(path)]
        rest = iter(ours)
        found += [f"{path.name}: lacks {one}" for one in wanted if one not in rest]
        found += [f"{path.name}: has {one}" for one in ours if one[0] != "user" and one not in wanted]
        tried += len(wanted)
    tally("Claude Code: messages compared with what its own SDK reads", tried, found)


def conversation(path: Path) -> list[Message]:
    """The context of the last step of a file's first session, and that step's answer."""
    session = next(iter(registry.read(path)))
    told = trajectory(session)
    last = told.steps[-1]
    assert last.completion is not None
    return [decode_message(session.blobs[ref.hash]) for ref in [*told.context(last.head.number), last.completion]]
