"""Each rule on the smallest sessions that it must and must not speak about."""

from __future__ import annotations

import pytest

from core.domain.errors import NotFound
from core.domain.events import FileChanged
from core.domain.step import Action, ActionError, Observation, StepBody
from core.domain.task import Task
from core.supervision.rules import RULES, Evidence

FAILED = ActionError(kind="exit_code", message="The command ended with exit code 2.")


def step(number: int, *told: tuple[str, dict], seen: dict | None = None, malformed: str = "") -> StepBody:
    actions = tuple(Action(call_id=f"{number}.{i}", tool=t, arguments=a, malformed=malformed)
                    for i, (t, a) in enumerate(told))
    observations = tuple(Observation(call_id=a.call_id, **(seen or {})) for a in actions)
    return StepBody(number=number, actions=actions, observations=observations)


def found(rule: str, *steps: StepBody, files=(), scores=(), about: str = "", **settings) -> list[int]:
    [one] = RULES.get([rule])
    task = Task(id="t", title="Task", description=about)
    evidence = Evidence(steps=steps, files=files, scores=scores, task=task)
    return [f.step for f in one.tuned(settings).find(evidence)]


def edit(path: str = "/w/a.py") -> tuple[str, dict]:
    return "edit_file", {"path": path, "start": 1, "end": 2, "content": "x"}


def show(path: str = "/w/a.py") -> tuple[str, dict]:
    return "open_file", {"path": path}


def run(command: str) -> tuple[str, dict]:
    return "run_command", {"command": command}


def test_error_result_masks_the_failed_action_only():
    good = step(1, run("ls"), seen={"exit_code": 0})
    bad = step(2, run("ls /none"), seen={"exit_code": 2, "error": FAILED})
    assert found("error_result", good, bad) == [2]


def test_late_failure_blames_the_step_that_started_the_job_and_spares_the_one_that_read_of_it():
    started = step(1, run("train"), seen={"status": "running", "job": "j1"})
    between = step(2, ("sleep", {"sleep_time": 60}))
    told = step(3, ("get_session_output", {"session_id": "m"}), seen={"job": "j1", "exit_code": 1, "error": FAILED})
    assert found("late_failure", started, between, told) == [1]
    assert found("error_result", started, between, told) == []


def test_late_failure_reads_the_rows_of_jobs_that_ended_meanwhile_once_per_job():
    row = {"job": "j1", "call_id": "1.0", "step": 1, "host": "main", "session_id": "m", "exit_code": 1}
    started = step(1, run("train"), seen={"status": "running", "job": "j1"})
    other = step(2, run("ls"), seen={"exit_code": 0, "job": "j2", "data": {"finished_jobs": [row]}})
    again = step(3, ("sleep", {}), seen={"job": "j1", "exit_code": 1, "error": FAILED})
    assert found("late_failure", started, other, again) == [1]
    good = step(2, run("ls"), seen={"data": {"finished_jobs": [{**row, "exit_code": 0}]}})
    assert found("late_failure", started, good) == []
    sleeping = step(2, ("sleep", {}), seen={"job": "j1", "exit_code": 1, "error": FAILED,
                                            "data": {"finished_jobs": [row]}})
    assert found("error_result", started, sleeping) == [] and found("late_failure", started, sleeping) == [1]
    assert found("error_result", sleeping) == [], "the step that reads of it is not to blame, whoever started it"


def test_late_failure_lets_the_agent_end_its_own_jobs():
    started = step(1, run("train"), seen={"status": "running", "job": "j1"})
    killed = {"job": "j1", "exit_code": 143, "error": FAILED}
    end = step(2, ("kill_session_processes", {"session_id": "m"}))
    assert found("late_failure", started, end, step(3, ("sleep", {}), seen=killed)) == []
    assert found("late_failure", started, step(3, ("sleep", {}), seen=killed)) == [1]
    assert found("late_failure", started, end, step(3, ("sleep", {}), seen={**killed, "exit_code": 1})) == [1]


def test_error_result_spares_a_search_that_finds_nothing_unless_told_otherwise():
    nothing = {"exit_code": 1, "error": FAILED}
    empty = step(1, run("cd src && grep -rn 'a && b' ."), seen=nothing)
    assert found("error_result", empty) == []
    assert found("error_result", empty, spare_empty_searches=False) == [1]
    assert found("error_result", step(1, run("grep x f && python t.py"), seen=nothing)) == [1]
    assert found("error_result", step(1, run("grep x nofile"), seen={"exit_code": 2, "error": FAILED})) == [1]


@pytest.mark.parametrize("status", ["timeout", "killed", "refused", "failed"])
def test_error_result_reads_the_status(status):
    assert found("error_result", step(1, run("x"), seen={"status": status})) == [1]


def test_null_action_masks_steps_without_a_readable_action():
    steps = step(1), step(2, ("null", {})), step(3, run("ls"), malformed="no JSON"), step(4, run("ls"))
    assert found("null_action", *steps) == [1, 2, 3]


def test_blind_edit_masks_the_second_of_two_edits():
    assert found("blind_edit", step(1, show()), step(2, edit()), step(3, edit())) == [3]


@pytest.mark.parametrize("look", [
    show(), ("search_file", {"file_path": "/w/a.py", "search_term": "x"}), run("cat a.py"),
    run("cd /w && sed -n 1,20p a.py"), show("/w/./a.py"), show("a.py"),
])
def test_blind_edit_accepts_what_shows_the_file(look):
    assert found("blind_edit", step(1, look), step(2, edit())) == []


@pytest.mark.parametrize("look", [show("/w/b.py"), run("python a.py"), run("cat b.py"), ("list_files", {"path": "/w"})])
def test_blind_edit_does_not_accept_what_does_not_show_it(look):
    assert found("blind_edit", step(1, look), step(2, edit())) == [2]


def test_blind_edit_passes_over_thinking_and_follows_the_open_file():
    think = ("think", {"thought": "hm"})
    assert found("blind_edit", step(1, show()), step(2, think), step(3, edit())) == []
    scroll = ("file_scroll_down", {})
    assert found("blind_edit", step(1, show()), step(2, run("ls")), step(3, scroll), step(4, edit())) == []


def test_blind_edit_lets_new_files_be_made_but_not_overwritten_unseen():
    make = ("create_file", {"filename": "/w/new.py", "content": "x"})
    assert found("blind_edit", step(1, run("ls")), step(2, make)) == []
    assert found("blind_edit", step(1, run("ls")), step(2, make), step(3, run("ls")), step(4, make)) == [4]
    gone = FileChanged(host="main", path="/w/new.py", before="", after="0" * 64, step=4)
    again = step(1, run("ls")), step(2, make), step(3, run("rm")), step(4, make)
    assert found("blind_edit", *again, files=(gone,)) == []


def test_repeated_evaluation_masks_the_second_where_nothing_can_have_changed():
    score = ("eval", {})
    assert found("repeated_evaluation", step(1, score), step(2, show()), step(3, score)) == [3]
    assert found("repeated_evaluation", step(1, score), step(2, run("make")), step(3, score)) == []
    assert found("repeated_evaluation", step(1, score), step(2, edit()), step(3, score)) == []


def test_repeated_evaluation_allows_for_running_jobs_and_broken_evaluators():
    score, sleep = ("eval", {}), ("sleep", {"sleep_time": 60})
    job = step(1, run("train"), seen={"status": "running", "job": "j"})
    assert found("repeated_evaluation", job, step(2, score), step(3, sleep), step(4, score)) == []
    assert found("repeated_evaluation", step(1, score), step(2, sleep), step(3, score)) == [3]
    assert found("repeated_evaluation", step(1, score, seen={"error": FAILED}), step(2, score)) == []


def test_every_rule_says_where_it_comes_from_and_has_a_version():
    assert set(RULES.names()) == {
        "blind_edit", "second_edit", "repeated_evaluation", "early_finish", "lowered_score", "error_result",
        "late_failure", "null_action", "idle_gpus", "secret_printed", "script_ignored", "transformers_inference",
        "blind_retry", "deadlocked_polling"}
    assert all(r.version and ("APOLLO" in r.about) for r in RULES.get())
    with pytest.raises(NotFound, match="no rule"):
        RULES.get(["nonsense"])


def test_null_action_passes_over_sessions_whose_source_tells_of_no_actions():
    assert found("null_action", step(1), step(2)) == []
