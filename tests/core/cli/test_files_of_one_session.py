"""Two files with one session's name: one that has grown, a later part, a fork, or another run; and opinions between."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from support.identity import Library

from core.cli import follow_files, imported_session
from core.cli.follow_files import FileFollower, _File
from core.cli.log_access import reading, trajectory
from core.cli.merge import opinions_of
from core.domain.events import Branched, VerdictGiven, decode_event
from core.formats import registry
from core.store import log

NAME, OTHER = "2f154f30-1320-4033-9298-457ccf4cd72a", "568f68ac-7f31-4b00-9b63-49d38cc4f538"
FOREIGN = Path(__file__).parents[1] / "formats" / "foreign"


def claude(*numbers, name=NAME, stream=False, words="Words"):
    """Lines of a session file, or of `claude -p --output-format stream-json`: a text and a call for each number."""
    lines = []
    for n in numbers:
        at = f"2026-01-02T03:{n:02}:0"
        own = {"session_id": name} if stream else {"sessionId": name}
        if not stream:
            lines.append({**own, "type": "user", "uuid": f"u{n}", "timestamp": at + "0Z",
                          "message": {"role": "user", "content": f"Prompt {n}."}})
        blocks = ({"type": "text", "text": f"{words} {n}."},
                  {"type": "tool_use", "id": f"toolu_{n}", "name": "Bash", "input": {"command": f"echo {n}"}})
        lines += [{**own, "type": "assistant", "uuid": f"a{n}{block['type']}",
                   **({} if stream else {"timestamp": at + "1Z"}),
                   "message": {"id": f"msg_{n}", "role": "assistant", "content": [block]}} for block in blocks]
        lines.append({**own, "type": "user", "uuid": f"r{n}", "timestamp": at + "2Z", "message": {
            "role": "user", "content": [{"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": f"{n}\n"}]}})
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def codex_exec(*numbers, used, name=NAME):
    """What one call of `codex exec` prints: the tokens are those of the whole thread."""
    lines = [{"type": "thread.started", "thread_id": name}, {"type": "turn.started"}]
    for place, n in enumerate(numbers):
        lines += [{"type": "item.completed", "item": {"id": f"item_{2 * place}", "type": "agent_message",
                                                      "text": f"Words {n}."}},
                  {"type": "item.completed", "item": {"id": f"item_{2 * place + 1}", "type": "command_execution",
                                                      "command": f"echo {n}", "exit_code": 0, "status": "completed"}}]
    lines.append({"type": "turn.completed", "usage": {"input_tokens": used, "output_tokens": 1}})
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def atif(*messages, name="redacted"):
    """A run of one step a message, without times."""
    steps = [{"step_id": n, "source": "agent", "message": text} for n, text in enumerate(messages, 1)]
    return json.dumps({"schema_version": "ATIF-v1.5", "session_id": name, "agent": {"name": "a"},
                       "steps": steps}).encode()


@pytest.fixture
def library(tmp_path):
    """An empty home."""
    return Library(tmp_path)


def shown(library):
    """Of each session: title, thoughts by number, notes on the whole, and what it goes on from."""
    with reading(library.home) as conn:
        found = {}
        for row in log.rows(conn):
            seen = trajectory(conn, row.session)
            parents = [f for p in log.read_all(conn, row.session) if isinstance(f := p.event.fact, Branched)]
            found[row.session] = (row, library.thoughts(row.session), [note.text for note in seen.notes], parents)
            assert [seen.context(n) for n in library.thoughts(row.session)], "every context can be told"
        return found


def numbers(library, session):
    """The numbers in a session's thoughts, in order."""
    return [int(text.split()[1].rstrip(".")) for _, text in sorted(library.thoughts(session).items())]


STREAMS = [(claude(1, 2, stream=True), claude(3, stream=True), claude(4, 5, stream=True)),
           (claude(1, 2), claude(3), claude(4, 5)),
           (codex_exec(1, 2, used=10), codex_exec(3, used=20), codex_exec(4, 5, used=50))]


@pytest.mark.parametrize("parts", STREAMS, ids=["stream-json", "session files", "codex exec"])
def test_what_each_call_of_a_resumed_session_wrote_is_one_session(library, parts) -> None:
    sessions = {s for part in parts for s in library.take(part)}
    (session,) = sessions
    assert numbers(library, session) == [1, 2, 3, 4, 5]
    assert sorted(library.thoughts(session)) == [1, 2, 3, 4, 5]
    for part in parts:
        assert library.take(part) == [session]
    assert numbers(library, session) == [1, 2, 3, 4, 5], "a second import changes nothing"


@pytest.mark.parametrize("parts", STREAMS, ids=["stream-json", "session files", "codex exec"])
def test_what_came_before_what_is_here_is_a_session_of_its_own(library, parts) -> None:
    (last,), (first,) = library.take(parts[1]), library.take(parts[0])
    assert first != last and (numbers(library, first), numbers(library, last)) == ([1, 2], [3])
    assert "comes before it; no step is in both" in " ".join(shown(library)[first][2])
    assert library.take(parts[2]) == [last] and numbers(library, last) == [3, 4, 5]
    assert library.take(parts[0]) == [first]


def test_equal_words_of_another_turn_are_another_step(library) -> None:
    (session,) = {s for used in (10, 20, 30) for s in library.take(codex_exec(1, used=used))}
    assert numbers(library, session) == [1, 1, 1]


def test_runs_with_one_redacted_name_are_sessions_of_their_own(library) -> None:
    runs = [atif(f"Run {n} begins.", f"Run {n} ends.") for n in (1, 2, 3, 4)]
    sessions = [library.take(run)[0] for run in runs]
    assert len(set(sessions)) == 4
    found = shown(library)
    for n, session in enumerate(sessions, 1):
        assert found[session][1] == {1: f"Run {n} begins.", 2: f"Run {n} ends."}
        assert n == 1 or "no step is in both" in found[session][2][0]
    assert [library.take(run)[0] for run in runs] == sessions


def test_a_grown_file_is_the_same_session_and_keeps_its_title(library) -> None:
    (session,) = library.take(claude(1, 2))
    library.judge(session, random.Random(1))
    title = shown(library)[session][0].title
    assert library.take(claude(1, 2, 3)) == [session]
    assert (shown(library)[session][0].title, numbers(library, session)) == (title, [1, 2, 3])
    assert library.take(claude(1)) == library.take(claude(2)) == library.take(claude(2, 3)) == [session]
    assert numbers(library, session) == [1, 2, 3], "excerpts of it add nothing"
    assert library.take(claude(2, 3, 4)) == [session] and numbers(library, session) == [1, 2, 3, 4]
    assert not library.harm()


def test_a_log_of_which_an_excerpt_came_first_is_read_whole(library) -> None:
    (excerpt,) = library.take(claude(2))
    library.judge(excerpt, random.Random(1))
    (whole,) = library.take(claude(1, 2, 3))
    assert numbers(library, excerpt) == [2] and numbers(library, whole) == [1, 2, 3]
    assert f"Session {excerpt} is a part of this one" in shown(library)[whole][2][0]
    assert not library.harm()


@pytest.mark.parametrize("name", [NAME, OTHER], ids=["rolled back", "resumed under a new name"])
def test_a_fork_is_a_session_that_names_the_one_it_shares_its_past_with(library, name) -> None:
    (first,) = library.take(claude(1, 2, 3))
    library.judge(first, random.Random(1))
    (fork,) = library.take(claude(1, 2, 8, 9, name=name))
    assert fork != first and numbers(library, fork) == [1, 2, 8, 9] and numbers(library, first) == [1, 2, 3]
    (parent,) = shown(library)[fork][3]
    assert (parent.parent, parent.step) == (first, 2)
    assert library.take(claude(1, 2, 8, 9, 10, name=name)) == [fork] and numbers(library, fork)[-1] == 10
    assert library.take(claude(1, 2, 3, 4)) == [first]
    assert not library.harm()


def test_subagents_of_a_fork_name_the_fork(library) -> None:
    lines = (FOREIGN / "claude.jsonl").read_text()
    assert len(library.take(lines.encode())) == 2
    other = lines.replace('"Yes."', '"No."').replace('"m2"', '"m7"').replace('"ag1"', '"ag2"').replace('"m9"', '"m8"')
    fork, child = library.take(other.encode())
    found = shown(library)
    assert [p.parent for p in found[child][3]] == [fork] and found[fork][3][0].step == 1


def test_an_opinion_on_half_a_step_does_not_stand_on_the_whole_one(library) -> None:
    """While a file is followed, an answer may come in pieces, and a person be quicker than the rest of it."""
    lines = claude(1, 2).splitlines(keepends=True)
    (session,) = library.take(b"".join(lines[:-2]))
    library.judge_step(session, 2, "too early")
    assert library.take(b"".join(lines)) == [session]
    with reading(library.home) as conn:
        seen = trajectory(conn, session)
    assert not seen.step(2).verdicts and not seen.step(2).notes
    (note,) = [note.text for note in seen.notes]
    assert note.startswith("Step 2 goes on in its file") and "(too early)" in note and "note-too early" in note
    library.judge_step(session, 2, "in time")
    assert library.take(b"".join(lines)) == library.take(b"".join(lines[:-2])) == [session]
    with reading(library.home) as conn:
        again = trajectory(conn, session)
    assert [v.reason for v in again.step(2).verdicts.values()] == ["in time"] and again.notes == seen.notes


def test_a_late_result_leaves_the_opinion_where_it_is(library) -> None:
    lines = claude(1, 2).splitlines(keepends=True)
    (session,) = library.take(b"".join(lines[:-1]))
    library.judge_step(session, 2, "bad call")
    assert library.take(b"".join(lines)) == [session] == library.take(b"".join(lines[:-1]))
    with reading(library.home) as conn:
        seen = trajectory(conn, session)
    assert [v.reason for v in seen.step(2).verdicts.values()] == ["bad call"]
    assert seen.step(2).head.output_chars == 2, "the result stays when the shorter file comes again"


def test_a_followed_file_that_is_rolled_back_and_written_anew_leaves_what_was_judged(library, tmp_path, monkeypatch
                                                                                     ) -> None:
    monkeypatch.setattr(follow_files, "SHARE", 0)
    path, home = tmp_path / "live.jsonl", library.home
    path.write_bytes(claude(1, 2, 3))
    follower = FileFollower(home, [_File(path, "")], True, 0.0)
    follower.look()
    (session,) = shown(library)
    library.judge_step(session, 3, "wrong way")
    path.write_bytes(claude(1, 2, 8))
    follower.look()
    with path.open("ab") as file:
        file.write(claude(9))
    follower.look()
    follower.settle_all()
    (fork,) = set(shown(library)) - {session}
    assert numbers(library, session) == [1, 2, 3] and numbers(library, fork) == [1, 2, 8, 9]
    assert not library.harm() and {row.state for row, *_ in shown(library).values()} == {"finished"}


def test_opinions_go_over_to_the_same_steps_of_a_like_run_and_to_no_other(library) -> None:
    """Of two runs of one format nine steps are equal; the tenth does something else and prints the same."""
    texts = [f"Step {n} looks at the file number {n}." for n in range(10)]
    (first,) = library.take(atif(*texts, name="one"))
    for number in (3, 10):
        library.judge_step(first, number, f"because {number}")
    (second,) = library.take(atif(*texts[:9], "Step 9 deletes the file number 9.", name="two"))
    with reading(library.home) as conn:
        seen = trajectory(conn, second)
    assert [e.head.number for e in seen.steps if e.verdicts] == [3]
    assert not library.harm()


def test_many_runs_with_one_redacted_name_are_each_known_again(library, monkeypatch) -> None:
    """A file is compared with few of them, and finds the one that it is."""
    monkeypatch.setattr(imported_session, "MOST_ALIKE", 2)
    monkeypatch.setattr(imported_session, "MOST_OTHERS", 2)
    runs = [atif("All begin alike.", f"Run {n} goes on.", f"Run {n} ends.") for n in range(9)]
    runs += [atif(f"Run {n} begins.", f"Run {n} ends.") for n in range(9)]
    sessions = [library.take(run)[0] for run in runs]
    assert [library.take(run)[0] for run in runs] == sessions and len(set(sessions)) == len(runs)
    assert library.take(atif("Run 4 begins.", "Run 4 ends.", "Not yet.")) == [sessions[13]]
    assert not library.harm()


def test_what_was_said_of_half_a_step_is_not_merged_onto_the_whole(library) -> None:
    lines = claude(1, 2).splitlines(keepends=True)
    (session,) = library.take(b"".join(lines[:-2]))
    library.judge_step(session, 1, "in time")
    library.judge_step(session, 2, "too early")
    library.take(b"".join(lines))
    (archive,) = library.archives()
    (archived,) = registry.read(archive)
    facts = [decode_event(bytes(opinion.event)).fact for opinion in opinions_of(archived)]
    assert [f.reason for f in facts if isinstance(f, VerdictGiven)] == ["in time"]
