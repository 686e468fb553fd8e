"""A file that grows is a live session: every state of it leads to the very session that the whole file gives."""

import asyncio
import json
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.eventually import eventually

from core.cli import follow_files
from core.cli.follow_files import FileFollower, _File
from core.cli.import_paths import import_all
from core.cli.log_access import reading, trajectory, writing
from core.formats import json_text
from core.formats.live_source import LiveSource, stamp
from core.formats.new_files import NewFiles
from core.protocol.operations import GiveVerdict
from core.server import lifecycle
from core.store import log
from core.store.home import Home
from core.store.writer import Writer

FOREIGN = Path(__file__).parents[1] / "formats" / "foreign"
LINES = ["claude.jsonl", "codex.jsonl", "codex_exec.jsonl", "sdk.jsonl"]
WHOLE = {"mini.traj.json": "messages", "openhands.json": "", "gemini.json": "messages", "cline.json": ""}


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """No pauses between two readings."""
    monkeypatch.setattr(follow_files, "SHARE", 0)


def events_of(home, session):
    """All that is said of a session but for when and by which event."""
    with reading(home) as conn:
        seen = trajectory(conn, session)
    row = seen.row
    return ([(e.head.number, e.body, e.head.usage, e.head.is_error, e.completion) for e in seen.steps],
            [seen.context(e.head.number) for e in seen.steps], (row.steps, row.errors, row.tokens, row.cost_usd),
            [(g.text, g.state, g.delivered_step) for g in seen.guidance.values()],
            [(s.first, s.last, s.text) for s in seen.summaries.values()])


def states(name):
    """The growing states of a file, as its program writes it."""
    data = (FOREIGN / name).read_bytes()
    if name in LINES:
        return [data[:n] for n in (*range(150, len(data), 211), len(data))]
    value, key = json.loads(data), WHOLE[name]
    items = value[key] if key else value
    young = {k: v for k, v in value.items() if k != "info"} if key else {}
    return [json.dumps({**young, key: items[:n]} if key else items[:n]).encode() for n in range(2, len(items) + 1)]


def append(path, data):
    """Write at the end of a file."""
    with path.open("ab") as file:
        file.write(data)


def test_following_ends_by_itself_where_it_was_asked_to(tmp_path) -> None:
    command = [sys.executable, "-m", "core.cli", "--home", str(tmp_path), "import", str(FOREIGN / "claude.jsonl"),
               "--follow", "--quiet-after", "0.1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0 and "Following 1 file;" in done.stderr


@pytest.mark.parametrize("name", [*LINES, *WHOLE])
def test_every_growth_leads_to_the_session_of_the_whole_file(tmp_path, name) -> None:
    home, other, path = Home(tmp_path / "home"), Home(tmp_path / "other"), tmp_path / f"run-{name}"
    path.write_bytes(b"")
    file = _File(path, stamp(path))
    follower = FileFollower(home, [file], True, 0.0)
    running, counts = [], []
    for data in states(name):
        append(path, data[path.stat().st_size :]) if name in LINES else path.write_bytes(data)
        follower.look()
        with reading(home) as conn:
            rows = log.rows(conn)
        running += [r.state for r in rows if r.steps][:1]
        counts.append(sum(r.steps for r in rows))
    follower.settle_all()
    path.write_bytes((FOREIGN / name).read_bytes())
    want = list(import_all(other, [path], []))
    assert counts == sorted(counts) and len(set(counts)) > 1, "steps came one after the other"
    assert "running" in running
    with reading(home) as conn:
        assert {r.session for r in log.rows(conn)} >= {w.session for w in want if w.result == "imported"}
        assert "running" not in {r.state for r in log.rows(conn)}
    for line in want:
        assert events_of(home, line.session) == events_of(other, line.session)
    assert {x.result for x in import_all(home, [path], [])} <= {"present", "grown"}
    assert {x.result for x in import_all(home, [path], [])} == {"present"}


def test_a_file_that_was_written_over_says_of_which_session_it_is_a_fork(tmp_path) -> None:
    home, path = Home(tmp_path / "home"), tmp_path / "run.jsonl"
    path.write_bytes((FOREIGN / "codex.jsonl").read_bytes())
    first = next(iter(import_all(home, [path], [])))
    follower = FileFollower(home, [_File(path, stamp(path))], True, 0.0)
    path.write_bytes(path.read_bytes().replace(b"\"Again.\"", b"\"Once more.\""))
    follower.look()
    with reading(home) as conn:
        (other,) = [row.session for row in log.rows(conn) if row.session != first.session]
        notes = [note.text for note in trajectory(conn, other).notes]
    assert any(text.endswith(f"of session {first.session} too.") for text in notes), notes


@pytest.mark.parametrize("name", [*LINES, "gemini.json", "cline.json"])
def test_what_was_compared_with_the_log_is_not_compared_again(tmp_path, name, monkeypatch) -> None:
    """All of it at the first growth alone, but where the end of the session is another than it was."""
    home, path = Home(tmp_path / "home"), tmp_path / f"run-{name}"
    path.write_bytes(b"")
    follower = FileFollower(home, [_File(path, stamp(path))], True, 0.0)
    whole, growths = [], []
    place = follow_files.placed
    monkeypatch.setattr(follow_files, "placed", lambda *given: whole.append(1) or place(*given))
    monkeypatch.setattr(FileFollower, "_say", lambda *_: growths.append(1))
    for data in states(name):
        path.write_bytes(data) if name in WHOLE else append(path, data[path.stat().st_size :])
        follower.look()
    assert len(whole) <= 2 and len(growths) > len(whole)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", [*LINES, *WHOLE])
def test_an_end_compared_alone_gives_what_a_whole_comparison_gives(tmp_path, name, seed, monkeypatch) -> None:
    """Also where the file loses its end, says other things, and people judge steps in between."""
    dice, found = random.Random(f"{name}{seed}"), states(name)
    readings = [found[n] for n in sorted(dice.sample(range(len(found)), min(6, len(found))))]
    readings[3:3] = [readings[1], readings[2].replace(b"e", b"i", 40)]
    held = []
    for is_whole in (False, True):
        home, path = Home(tmp_path / f"home{is_whole}"), tmp_path / f"run-{name}"
        path.write_bytes(b"")
        follower = FileFollower(home, [_File(path, "")], True, 0.0)
        if is_whole:
            monkeypatch.setattr(follow_files, "what_came", lambda *_: None)
        for place, data in enumerate(readings):
            path.write_bytes(data)
            follower.look()
            with reading(home) as conn:
                rows = [row.session for row in log.rows(conn) if row.steps]
            if place % 2 and rows:
                writing(home, lambda authority, row=rows[0], place=place: authority.do(
                    row, GiveVerdict(step=1, value="mask", reason=f"reason {place}")))
        follower.settle_all()
        with reading(home) as conn:
            held.append({row.session: (row.steps, row.state, [_timeless(one.body) for one in log.read_all(
                conn, row.session)]) for row in log.rows(conn)})
    assert held[0].keys() == held[1].keys()
    for name, one in held[0].items():
        assert one == held[1][name]


def _timeless(body):
    event = json.loads(body)
    by_chance = event["author"]["kind"] == "person" or event["fact"]["type"] == "session_state"
    return event["fact"], "" if by_chance or "-void-" in event["id"] else event["id"]


def test_only_what_is_new_is_read(tmp_path, monkeypatch) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes((FOREIGN / "codex.jsonl").read_bytes())
    first = LiveSource(path)
    whole = list(first.records())
    append(path, b'{"half": ')
    read = []
    monkeypatch.setattr("core.formats.live_source.parse", lambda data: read.append(data) or json_text.parse(data))
    second = LiveSource(path, first)
    assert len(list(second.records())) == len(whole)
    assert {bytes(d) for d in read} == {b'{"half": '}
    append(path, b"1}\n")
    third = list(LiveSource(path, second).records())
    assert [(line.number, parsed.value) for line, parsed in third[len(whole):]] == [(len(whole) + 1, {"half": 1})]
    path.write_bytes(b'{"other": 1}\n{"more": 2}\n')
    assert [p.value for _, p in LiveSource(path, second).records()] == [{"other": 1}, {"more": 2}]


def test_a_process_that_writes_and_one_that_follows(tmp_path) -> None:
    """The follower tells each growth, the session runs, and gets its end when nobody follows any more."""
    path, home = tmp_path / "rollout.jsonl", tmp_path / "home"
    lines = (FOREIGN / "claude.jsonl").read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4]))
    follower = subprocess.Popen([sys.executable, "-m", "core.cli", "--home", str(home), "import", "--follow", "--json",
                                 str(path)], stdout=subprocess.PIPE, text=True)
    imported = json.loads(follower.stdout.readline())
    writer = f"import sys; f = open({str(path)!r}, 'ab', 0)\nfor line in sys.stdin.buffer: f.write(line)"
    subprocess.run([sys.executable, "-c", writer], input=b"".join(lines[4:]), check=True)
    grown = json.loads(follower.stdout.readline())
    assert (grown["session"], grown["state"], grown["path"]) == (imported["session"], "running", str(path))
    asyncio.run(eventually(lambda: _row(home, imported["session"]).steps == 3))
    follower.send_signal(signal.SIGTERM)
    follower.communicate(timeout=60)
    row = _row(home, imported["session"])
    assert (row.steps, row.tokens, row.state, row.reason) == (3, 126, "finished", "end_not_recorded")


def _row(home, session):
    with reading(Home(home)) as conn:
        return log.row(conn, session)


def test_a_follower_that_was_killed_leaves_no_session_running(tmp_path) -> None:
    home, path = Home(tmp_path / "home"), tmp_path / "x.jsonl"
    path.write_bytes(states("codex.jsonl")[-3])
    FileFollower(home, [_File(path, "")], True, 9.0).look()
    with reading(home) as conn:
        (row,) = log.rows(conn)
        assert (row.state, row.reason) == ("running", "file_grows")
    with Writer(home.server_db) as writer:
        writer.do_blocking(lifecycle.settle_imports)
    assert (_row(home.path, row.session).state, path.exists()) == ("stopped", True)


def test_a_session_that_begins_in_a_followed_folder_is_followed(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(follow_files, "NEW_FILES_S", 0.0)
    home, folder = Home(tmp_path / "home"), tmp_path / "runs"
    folder.mkdir()
    (folder / "old.jsonl").write_bytes(states("codex.jsonl")[-1])
    follower = FileFollower(home, [], True, 0.0, NewFiles([folder]))
    follower.look()
    new, junk = folder / "deep" / "new.jsonl", folder / "notes.txt"
    new.parent.mkdir()
    junk.write_text("hello")
    lines = states("claude.jsonl")
    counts = []
    for data in (lines[0], *lines[::4], lines[-1]):
        new.write_bytes(data)
        follower.look()
        with reading(home) as conn:
            counts.append(sum(r.steps for r in log.rows(conn)))
    with reading(home) as conn:
        rows = log.rows(conn)
    assert {r.origin for r in rows} == {"claude-code"}, "what was there before, and what is no session, is left alone"
    assert counts[0] < counts[-1] == 4


def test_a_folder_of_events_is_followed_also_where_one_is_half_written(tmp_path) -> None:
    home, folder = Home(tmp_path / "home"), tmp_path / "run"
    parts = sorted((FOREIGN / "conversation" / "events").iterdir())
    (folder / "events").mkdir(parents=True)
    state = folder / "base_state.json"
    state.write_bytes((FOREIGN / "conversation" / "base_state.json").read_bytes())
    follower = FileFollower(home, [_File(state, "")], True, 0.0)
    for part in parts:
        data = part.read_bytes()
        for size in (len(data) // 2, len(data)):
            (folder / "events" / part.name).write_bytes(data[:size])
            follower.look()
    (line,) = import_all(Home(tmp_path / "other"), [FOREIGN / "conversation"], [])
    assert events_of(home, line.session) == events_of(Home(tmp_path / "other"), line.session)
    with reading(home) as conn:
        assert [(r.steps, r.state) for r in log.rows(conn)] == [(3, "finished")]
