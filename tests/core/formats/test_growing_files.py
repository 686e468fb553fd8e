"""A file that grows: whatever it held at each reading, the last one gives what a single reading of the whole gives."""

from __future__ import annotations

import os
import random
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from benchmarks.grown import MADE
from support.real_data import real

from core.domain.errors import ReportableError
from core.formats import registry
from core.formats.conversation import Conversation
from core.formats.imported import Imported
from core.formats.live_source import LiveSource
from core.formats.source import Source

FOREIGN = Path(__file__).parent / "foreign"
OURS = sorted(path.name for path in FOREIGN.glob("*.jsonl"))
REAL = ("claude-code/cclog_edge_cases.jsonl", "claude-code/cclog_representative_messages.jsonl",
        "claude-code/ccviewer_5c0375b4-57a5-4f26-b12d-d022ee4e51b7.jsonl", "claude-code/scout_agent_session.jsonl",
        "claude-code/scout_compaction_session.jsonl", "claude-code/scout_tool_call_conversation.jsonl",
        "claude-code/simonw_sample_session.jsonl", "codex-cli/codex-rollout.sample.jsonl")
READINGS = 12


def given(sessions: list[Imported], since: str) -> list[object]:
    """All that readings give. A moment that the file does not tell is that of the reading."""
    found: list[object] = []
    for one in sessions:
        events = [msgspec.json.decode(body) for body in one.bodies]
        for event in events:
            if event["at"] >= since:
                event["at"] = "now"
        found.append((one.session, one.source, one.format, one.title, one.steps, one.errors, one.warnings, one.is_named,
                      one.size, events, {name: one.blobs[name] for name in one.blobs}))
    return found


def read(source: Source) -> list[Imported]:
    """What is in it so far; nothing where that is no session yet."""
    try:
        return list(registry.read(source))
    except ReportableError:
        return []


def grown(path: Path, data: bytes, cuts: list[int]) -> LiveSource:
    """The source of the last of some readings, one at each length."""
    path.write_bytes(b"")
    source = None
    with path.open("ab", buffering=0) as file:
        for start, stop in zip([0, *cuts], [*cuts, len(data)], strict=True):
            file.write(data[start:stop])
            source = LiveSource(path, source)
            if stop < len(data):
                read(source)
    assert source is not None
    return source


@pytest.mark.parametrize("name", [*OURS, *REAL])
def test_any_growth_gives_what_one_reading_gives(name: str, tmp_path: Path) -> None:
    data = (real(name) if "/" in name else FOREIGN / name).read_bytes()
    ends = [at + 1 for at, byte in enumerate(data) if byte == 10]
    path, since = tmp_path / Path(name).name, datetime.now(UTC).isoformat().replace("+00:00", "Z")
    dice = random.Random(name)
    for places in (ends, range(len(data))):
        cuts = sorted(dice.sample(places, min(READINGS, len(places))))
        source = grown(path, data, cuts)
        assert given(read(source), since) == given(read(Source(path)), since), cuts


@pytest.mark.parametrize("format", ["claude-code", "codex-cli", "codex-exec", "goose", "qwen-code", "copilot-cli",
                                    "kimi-cli", "langsmith"])
def test_only_what_came_is_read_into_the_conversation(format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                      ) -> None:
    MADE[format][1](tmp_path / "whole.jsonl", 200_000)
    lines = (tmp_path / "whole.jsonl").read_bytes().splitlines(keepends=True)
    path, added = tmp_path / "run.jsonl", []
    add_step = Conversation.add_step
    monkeypatch.setattr(Conversation, "add_step", lambda self, step: (added.append(step), add_step(self, step))[1])
    cuts = [len(b"".join(lines[:count])) for count in (len(lines) - 4, len(lines) - 2)]
    source = grown(path, b"".join(lines), cuts)
    first = len(added)
    added.clear()
    read(source)
    assert first > 10 and 0 < len(added) <= 5, "what is settled is not told again"


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("what", ["truncated", "rotated", "written over", "gone for a while"])
def test_a_file_that_changes_while_it_is_read_is_read_anew(what: str, name: str, tmp_path: Path) -> None:
    lines = (FOREIGN / name).read_bytes().splitlines(keepends=True)
    other = (FOREIGN / ("qwen.jsonl" if name != "qwen.jsonl" else "codex.jsonl")).read_bytes()
    path, since = tmp_path / name, datetime.now(UTC).isoformat().replace("+00:00", "Z")
    whole = b"".join(lines)
    before = grown(path, whole, [len(whole) // 3, len(whole) * 2 // 3])
    read(before)
    now = LiveSource(path, before)  # it is looked at, and changes before its lines are read
    if what == "truncated":
        os.truncate(path, len(b"".join(lines[: (len(lines) + 1) // 2])))
    elif what == "written over":
        path.write_bytes(other)
    else:
        path.rename(tmp_path / "old")
    if what == "rotated":
        path.write_bytes(other)
    read(now)  # nothing but a ReportableError may come of it
    if what == "gone for a while":
        with pytest.raises(ReportableError, match="is not a file"):
            LiveSource(path, now)
        path.write_bytes(other)
    after = LiveSource(path, now)
    assert given(read(after), since) == given(read(Source(path)), since)
    with path.open("ab") as file:
        file.write(b'{"type": "half a line')
    if after.shape == "lines":  # after a single line it is no JSON text any more, and not yet lines
        assert given(read(LiveSource(path, after)), since) == given(read(after), since)


@pytest.mark.parametrize("what", ["shrunk", "replaced", "begins otherwise"])
def test_a_file_that_was_written_anew_is_read_anew(what: str, tmp_path: Path) -> None:
    data, other = (real(name).read_bytes() for name in (REAL[2], REAL[1]))
    path, since = tmp_path / "run.jsonl", datetime.now(UTC).isoformat().replace("+00:00", "Z")
    before = grown(path, data, [len(data) // 2])
    read(before)
    if what == "replaced":
        (tmp_path / "new").write_bytes(other)
        (tmp_path / "new").replace(path)
    else:
        path.write_bytes(other if what == "shrunk" else data.replace(b"5c0375b4", b"00000000"))
    now = read(LiveSource(path, before))
    assert given(now, since) == given(read(Source(path)), since)
    assert now[0].session != read(before)[0].session or what == "shrunk"


@pytest.mark.parametrize("name", OURS)
def test_a_session_is_created_once(name: str) -> None:
    for one in registry.read(FOREIGN / name):
        kinds = [msgspec.json.decode(body)["fact"]["type"] for body in one.bodies]
        assert (kinds[0], kinds.count("session_created")) == ("session_created", 1)
