"""`tiphys rescore`: what was handed in is scored by an evaluator that changed, or by a judge; old scores stay."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from support.logs import fill
from support.sandboxes import need_engine
from support.served_model import Reader, served
from support.tasks import write_folder

from core.cli.log_access import reading, trajectory
from core.domain.blob import blob_hash
from core.domain.events import ScoreGiven, SessionCreated, SubmissionMade, encode_event, make_event
from core.domain.task import Task
from core.domain.verdict import Author
from core.store.home import Home
from core.store.schema import open_log
from core.store.sqlite import transaction
from core.tasks.submission import pack

SCRIPT = """
import json, pathlib, sys
wanted = pathlib.Path(sys.argv[2], "truth.txt").read_text().split()
got = pathlib.Path(sys.argv[1], "out/answer.txt").read_text().split()
print(json.dumps({"total": 100 * len(set(wanted) & set(got)) / len(wanted), "parts": {"found": len(got)}}))
"""
TOML = """
id = "words"
title = "Words"
description = "Find the words."
[evaluator]
script = "evaluate.py"
submission = ["out"]
references = "references"
"""


def put_task(home: Path, truth: str, *, script: str = SCRIPT, more: str = "", toml: str = TOML) -> None:
    write_folder(home / "tasks" / "words", {"task.toml": toml + more, "evaluate.py": script,
                                            "references/truth.txt": truth})


def hand_in(home: Path, session: str, answer: str, total: float | None, *, keeps: bool = True, reason: str = "") -> str:
    """A session that handed in an answer, as its log holds it."""
    packed = pack({"out/answer.txt": answer.encode()}) if keeps else b""
    name = blob_hash(packed) if packed else ""
    facts = [SessionCreated(task=Task(id="words", title="Words", description="Find the words.")),
             SubmissionMade(ordinal=1, step=1, blob=name),
             ScoreGiven(ordinal=1, step=1, total=total, failed=total is None, reason=reason)]
    author = Author(kind="agent", name=session)
    home.mkdir(exist_ok=True)
    with contextlib.closing(open_log(home / "server.db")) as conn, transaction(conn):
        fill(conn, session, [encode_event(make_event(fact, author)) for fact in facts], {name: packed} if name else {})
    return name


@pytest.fixture
def filled(home: Path) -> Path:
    put_task(home, "red green")
    hand_in(home, "s1", "red blue", 50.0)
    hand_in(home, "s2", "green red", 100.0)
    return home


LOCAL = '[agent]\nsandbox = "local"\n'


def test_a_changed_truth_scores_all_sessions_again_and_leaves_what_was_given(tiphys, filled: Path) -> None:
    put_task(filled, "red green", more=LOCAL)
    assert "[task_not_allowed]" in tiphys("rescore", "--task", "words").err
    assert tiphys("allow", "task", "words").status == 0
    first = {line["session"]: line for line in tiphys("rescore", "--task", "words", "--json").lines}
    assert {name: (one["before"], one["after"]) for name, one in first.items()} == {"s1": (50, 50), "s2": (100, 100)}
    put_task(filled, "red blue", more=LOCAL)
    assert "[task_not_allowed]" in tiphys("rescore", "s1").err, "a changed evaluator is asked about again"
    assert tiphys("allow", "task", "words").status == 0
    ran = tiphys("rescore", "--task", "words")
    assert ran.status == 0, ran.err
    assert "2 submissions: 2 with another score, 0 not scored." in ran.out
    with reading(Home(filled)) as conn:
        held = {name: trajectory(conn, name) for name in ("s1", "s2")}
    assert [score.total for score in held["s1"].scores] == [50.0] and held["s1"].row.score == 50.0
    assert [one.total for one in held["s1"].rescored] == [50.0, 100.0]
    assert [one.total for one in held["s2"].rescored] == [100.0, 50.0]
    old, new = held["s1"].rescored
    assert old.evaluator == new.evaluator == "evaluate.py" and old.version != new.version and new.parts == {"found": 2}
    third = tiphys("rescore", "s1", "--json").one
    assert third["passed_over"] == "scored by this version already"
    assert tiphys("rescore", "s1", "--again", "--dry-run", "--json").one["after"] == 100.0
    shown = tiphys("show", "s1", "--json").one["scores"][0]
    assert shown["total"] == 50.0 and shown["rescored"][-1]["total"] == 100.0
    assert "scored again by evaluate.py" in tiphys("show", "s1").out


@pytest.mark.docker
def test_a_changed_evaluator_runs_in_a_container_of_its_own(tiphys, filled: Path) -> None:
    need_engine()
    script = SCRIPT.replace("import json,", "import os, socket, json,").replace(
        '"found": len(got)', '"root": int(os.getuid() == 0), "links": len(socket.if_nameindex())')
    put_task(filled, "blue", script=script)
    ran = tiphys("rescore", "s1", "--json")
    assert ran.status == 0 and (ran.one["before"], ran.one["after"]) == (50.0, 100.0), ran.out + ran.err
    with reading(Home(filled)) as conn:
        (one,) = trajectory(conn, "s1").rescored
    assert one.parts["root"] == 0 and one.parts["links"] <= 1, "a plain user without network"


def test_a_broken_evaluator_is_named_and_tried_again(tiphys, filled: Path) -> None:
    put_task(filled, "red", script="raise SystemExit(3)", more=LOCAL)
    assert tiphys("allow", "task", "words").status == 0
    ran = tiphys("rescore", "s1", "--json")
    assert ran.status == 1 and ran.one["code"] == "evaluator_failed" and "exit code 3" in ran.one["problem"]
    again = tiphys("rescore", "s1", "--json")
    assert again.status == 1 and not again.one["passed_over"]


def test_what_is_not_in_the_log_or_is_another_is_refused_by_name(tiphys, home: Path) -> None:
    put_task(home, "red")
    hand_in(home, "s1", "red", 100.0, keeps=False)
    hand_in(home, "s2", "red", 0.0, keeps=False, reason="not_handed_in")
    ran = tiphys("rescore", "s1", "--json")
    assert ran.status == 1 and ran.one["code"] == "submission_not_stored"
    assert tiphys("rescore", "s2", "--json").one["passed_over"] == "nothing was handed in"
    name = hand_in(home, "s3", "blue", 0.0)
    with contextlib.closing(open_log(home / "server.db")) as conn, transaction(conn):
        other = conn.execute("SELECT data FROM blob WHERE hash != ? LIMIT 1", (bytes.fromhex(name),)).fetchone()
        data = other[0] if other else b"\0"
        conn.execute("UPDATE blob SET data = ? WHERE hash = ?", (data, bytes.fromhex(name)))
    ran = tiphys("rescore", "s3", "--json")
    assert ran.status == 1 and ran.one["code"] == "submission_changed"


def test_files_that_the_new_evaluator_asks_for_and_nobody_handed_in_are_named(tiphys, filled: Path) -> None:
    put_task(filled, "red", toml=TOML.replace('["out"]', '["out", "notes.md"]'))
    ran = tiphys("rescore", "s1", "--dry-run", "--json")
    assert ran.status == 1 and ran.one["code"] == "submission_lacks_files" and "notes.md" in ran.one["problem"]


def test_a_task_scored_on_a_containers_state_cannot_be_scored_again(tiphys, home: Path) -> None:
    put_task(home, "red", toml=TOML.replace("[evaluator]", '[[hosts]]\nname = "main"\nworkdir = "/app"\n[evaluator]'
                                            '\nkind = "tests"').replace('submission = ["out"]\n', "")
             .replace("evaluate.py", "references/truth.txt"))
    hand_in(home, "s1", "red", 100.0)
    ran = tiphys("rescore", "s1")
    assert ran.status == 2 and "[not_rescorable]" in ran.err
    ran = tiphys("rescore", "--task", "nothing")
    assert ran.status == 2 and "[no_submission]" in ran.err
    assert tiphys("rescore").status == 2


class Grader(Reader):
    """Gives points for a word, and once an answer that is none."""

    name = "grader"

    def answer(self) -> str:
        return "Let me think." if len(self.shown) == 1 else json.dumps(
            {"total": 40 if "blue" in self.shown[-1].partition("<submission>")[2] else 90, "message": "By the rubric."})


def test_a_judge_scores_by_a_rubric(tiphys, filled: Path, tmp_path: Path) -> None:
    grader, rubric = Grader(), tmp_path / "rubric.md"
    rubric.write_text("Points for red, none for blue.")
    with served(grader) as url:
        asked = ("rescore", "s1", "s2", "--judge", "grader", "--base-url", url, "--rubric", str(rubric), "--json")
        ran = tiphys(*asked)
        assert ran.status == 0, ran.err
        assert [(one["before"], one["after"]) for one in ran.lines] == [(50.0, 40.0), (100.0, 90.0)]
        assert len(grader.shown) == 3 and "Points for red" in grader.shown[0] and "Find the words." in grader.shown[0]
        assert all(one["passed_over"] for one in tiphys(*asked).lines)
        rubric.write_text("Points for blue.")
        assert not any(one["passed_over"] for one in tiphys(*asked, "--dry-run").lines)
