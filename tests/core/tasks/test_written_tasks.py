"""Tasks that a model writes, behind a real endpoint that sometimes errs; each draft and each attempt is a session."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.sandboxes import need_engine
from support.served_model import served

from core.cli.log_access import reading, trajectory
from core.cli.root import main
from core.domain.drafts import pass_at
from core.domain.message import Message, ToolCall
from core.domain.step import decode_body
from core.llm.model import Completion, EndpointError, Request, estimate_tokens
from core.store import blobs, log
from core.store.drafts import DraftRecords
from core.store.home import Home
from core.tasks.generation.generator import MOST_DRAFTS

IDEA = {"title": "Add two", "folder": "sums", "truth": "echo $(( $(cat sums/a) + $(cat sums/b) )) > sums/c\n",
        "description": "In the folder `sums` are two numbers, `a` and `b`. Write their sum into `sums/c`."}
INITIAL = {"tests": "import pathlib\n\n\ndef test_there():\n    assert pathlib.Path('sums/a').is_file()\n"}
IMAGE = {"setup": "echo 20 > a; echo 22 > b"}
FINAL = {"tests": "from pathlib import Path\n\n\ndef test_sum():\n"
                  "    assert int(Path('sums/c').read_text()) == 42\n", "cheats": {"empty": ": > sums/c\n"}}
WRONG = {**FINAL, "tests": FINAL["tests"].replace("42", "41")}
ANSWERS: list[tuple[str, dict] | str] = [
    "unreachable", ("description", IDEA), ("final_tests", FINAL), ("initial_tests", {"test": "x"}),
    ("initial_tests", INITIAL), "What shall I do next?", ("image", IMAGE), ("final_tests", WRONG),
    ("final_tests", FINAL)]
"""What the endpoint answers: it fails once, takes a wrong tool, wrong arguments, none, and errs about the end."""


class Recorded:
    """Gives recorded answers in their order."""

    name = "recorded"

    def __init__(self, answers: list[tuple[str, dict] | str]) -> None:
        self._answers = iter(answers)
        self.asked: list[Request] = []

    async def complete(self, request: Request, on_text: object = None) -> Completion:
        answer = next(self._answers)
        if answer == "unreachable":
            raise EndpointError("endpoint_failed", "The endpoint is busy.")
        self.asked.append(request)
        calls = () if isinstance(answer, str) else (
            ToolCall(id=f"c{len(self.asked)}", name=answer[0], arguments=json.dumps(answer[1])),)
        now = datetime.now(UTC)
        return Completion(message=Message(role="assistant", content=answer if isinstance(answer, str) else "Next.",
                                          tool_calls=calls), model=self.name, finish_reason="stop",
                          started_at=now, ended_at=now)

    def count(self, message: Message) -> tuple[int, bool]:
        return estimate_tokens(message)

    async def close(self) -> None:
        return


SOLVES = '[[turn]]\n[[turn.calls]]\ntool = "act"\narguments = { command = "echo 42 > sums/c" }\n'
ENDS = '[[turn]]\n[[turn.calls]]\ntool = "act"\narguments = { command = "finish" }\n'


@pytest.mark.docker
def test_a_model_that_errs_writes_a_task_that_is_solved_sometimes(tmp_path: Path, capsys) -> None:
    need_engine()
    home, out = Home(tmp_path / "home"), tmp_path / "made"
    (tmp_path / "able.toml").write_text(SOLVES + ENDS)
    (tmp_path / "idle.toml").write_text(ENDS)
    model = Recorded(ANSWERS)
    with served(model) as url:
        status = main(["--home", str(home.path), "tasks", "generate", "--count", "1", "--out", str(out),
                       "--at-once", "1", "--model", "recorded", "--base-url", url, "--attempts", "2",
                       "--solver-script", str(tmp_path / "able.toml"), "--solver-script", str(tmp_path / "idle.toml")])
    printed = capsys.readouterr()
    assert status == 0, printed.err
    assert "solved 1 of 2, pass@1 0.50, pass@2 1.00" in printed.out
    (record,) = DraftRecords(out).all()
    assert (record.state, record.mended, record.solved, record.attempts) == ("accepted", 1, 1, 2)
    answers = DraftRecords(out).answers()[1]
    assert [(a.phase, a.attempt, a.gate) for a in answers] == [
        ("description", 1, ""), ("initial tests", 1, ""), ("image", 1, ""), ("final tests", 1, "truth passes"),
        ("final tests", 2, "")]
    with reading(home) as conn:
        written = trajectory(conn, record.session)
        bodies = [decode_body(blobs.get(conn, entry.body)) for entry in written.steps]
        assert {row.session for row in log.rows(conn)} == {record.session, *record.solvers}
        assert [trajectory(conn, name).row.score for name in record.solvers] == [100.0, 0.0]
    assert written.row.score == 100.0 and written.row.state == "finished"
    told = "\n".join(o.output.text + (o.error.message if o.error else "") for body in bodies for o in body.observations)
    assert "Refused by the gate 'truth passes'" in told and "call its tool" in told and "unknown field `test`" in told
    assert [spec.name for spec in model.asked[0].tools][:2] == ["description", "initial_tests"]


def test_a_draft_that_is_given_up_says_by_which_gate_and_a_silent_endpoint_ends_the_run(tmp_path: Path, capsys) -> None:
    home, out = tmp_path / "home", tmp_path / "made"
    refused = [("description", {**IDEA, "folder": "../up"}), ("description", {**IDEA, "truth": " "})]
    with served(Recorded(refused * MOST_DRAFTS)) as url:
        status = main(["--home", str(home), "tasks", "generate", "--count", "1", "--out", str(out), "--tries", "2",
                       "--model", "recorded", "--base-url", f"{url}/nowhere"])
        assert status == 2 and "[policy_refused]" in capsys.readouterr().err
        status = main(["--home", str(home), "tasks", "generate", "--count", "1", "--out", str(tmp_path / "again"),
                       "--tries", "2", "--model", "recorded", "--base-url", url, "--at-once", "1"])
    assert status == 1
    first = DraftRecords(tmp_path / "again").all()[0]
    assert (first.phase, first.gate, first.mended) == ("description", "form", 1) and "truth" in first.reason


def test_pass_at_k_is_the_share_of_drawings_of_k_in_which_one_solved_it() -> None:
    assert [pass_at(1, 8, c) for c in (0, 2, 8)] == [0.0, 0.25, 1.0]
    assert pass_at(2, 4, 1) == pytest.approx(0.5) and pass_at(4, 4, 1) == 1.0


@pytest.mark.parametrize("options", [("--attempts", "2"), ("--solver", "m"),
                                     ("--attempts", "1", "--solver", "m", "--solver-local", ".")])
def test_policies_that_would_not_play_are_refused(options: tuple[str, ...], tmp_path: Path, capsys) -> None:
    assert main(["tasks", "generate", "--count", "1", "--out", str(tmp_path / "x"), *options]) == 2
    assert "policy" in capsys.readouterr().err or "--solver" in options
