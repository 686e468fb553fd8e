"""Rules name the action at fault: of a step with several, the others are not masked with it."""

from __future__ import annotations

import pytest
from support.logs import PERSON, Maker

from core.domain.events import Placed, VerdictGiven, encode_event
from core.domain.step import Action, ActionError, Observation, StepBody, decode_body
from core.domain.trajectory import Trajectory, fold
from core.domain.verdict import Author
from core.supervision.agreement import agreement, effects
from core.supervision.propose import propose
from core.supervision.replay import replay
from core.supervision.rule import Evidence, Finding, Rule
from core.supervision.rules import RULES

FAILED = ActionError(kind="exit_code", message="The command ended with exit code 2.")
Told = tuple[str, dict, dict]


def step(number: int, *told: Told) -> StepBody:
    actions = tuple(Action(call_id=f"{number}.{i}", tool=t, arguments=a) for i, (t, a, _) in enumerate(told))
    return StepBody(number=number, actions=actions,
                    observations=tuple(Observation(call_id=a.call_id, **seen)
                                       for a, (_, _, seen) in zip(actions, told, strict=True)))


def run(command: str = "ls", **seen: object) -> Told:
    return "run_command", {"command": command}, seen


def places(rule: str, *steps: StepBody) -> list[tuple[int, int]]:
    return [(f.step, f.action) for f in RULES.get([rule])[0].find(Evidence(steps=steps))]


def test_one_failing_job_is_the_fault_of_the_call_that_started_it():
    """The step of two calls of which both were masked: a job in the background, and an innocent look."""
    seventh = step(7, run("ls"), run("python train.py &", status="running", job="j1"))
    eighth = step(8, ("sleep", {"sleep_time": 60}, {"data": {"finished_jobs": [
        {"job": "j1", "step": 7, "exit_code": 1}]}}), run("ls", exit_code=0))
    assert places("late_failure", seventh, eighth) == [(7, 2)]
    assert places("error_result", seventh, eighth) == []
    polled = step(8, run("wait", job="j1", exit_code=1, error=FAILED), run("ls", exit_code=0))
    assert places("late_failure", seventh, polled) == [(7, 2)] and places("error_result", seventh, polled) == []


def test_of_several_calls_the_one_that_failed_is_found():
    told = step(1, run("ls", exit_code=0), run("ls /none", exit_code=2, error=FAILED), run("pwd", exit_code=0))
    assert places("error_result", told) == [(1, 2)]


def test_a_call_whose_result_cannot_be_told_apart_is_the_fault_of_the_step():
    body = StepBody(number=1, actions=(Action(call_id="", tool="run_command"), Action(call_id="", tool="run_command")),
                    observations=(Observation(call_id="", error=FAILED, exit_code=2),))
    assert places("error_result", body) == [(1, 0)]


def test_the_other_rules_name_their_action_too():
    edit = ("edit_file", {"path": "/w/a.py", "start": 1, "end": 2, "content": "x"}, {})
    assert places("blind_edit", step(1, run()), step(2, run(), edit)) == [(2, 2)]
    assert places("second_edit", step(1, run(), edit), step(2, run("pwd"), edit)) == [(2, 2)]
    two = step(1, ("eval", {}, {})), step(2, ("think", {}, {}), ("eval", {}, {}))
    assert places("repeated_evaluation", *two) == [(2, 2)]
    job = step(1, run("train &", status="running", job="j"))
    assert places("early_finish", job, step(2, ("think", {}, {}), ("finish", {}, {}))) == [(2, 2)]
    bad = StepBody(number=1, actions=(Action(call_id="a", tool="run_command"),
                                      Action(call_id="b", tool="", malformed="no JSON")))
    assert places("null_action", bad) == [(1, 2)]
    asked = step(1, run(), run("python -c 'from transformers import AutoModelForCausalLM as A; "
                               "A.from_pretrained(x).generate(y)'"))
    found = RULES.get(["transformers_inference"])[0].tuned({"always": True}).find(Evidence(steps=[asked]))
    assert [(f.step, f.action) for f in found] in ([(1, 2)], [])


# ---- into the log ---------------------------------------------------------------------------------------

class Two(Maker):
    """Steps of two calls, of which the second fails where the step does."""

    def _body(self, tool: str, fails: bool) -> StepBody:
        said = super()._body(tool, False)
        second = Action(call_id=f"d{self.step}", tool=tool, arguments={"command": "false"})
        seen = Observation(call_id=second.call_id, exit_code=1 if fails else 0, error=FAILED if fails else None)
        return StepBody(number=said.number, thought=said.thought, actions=(*said.actions, second),
                        observations=(*said.observations, seen))


def session() -> Two:
    made = Two(3)
    for fails in (False, True, False):
        made.add_step(fails=fails)
    return made


def trajectory(bodies: list[bytes]) -> Trajectory:
    return fold("s", [Placed(session="s", seq=n, body=b) for n, b in enumerate(bodies, 1)])


def proposed(made: Maker, bodies: list[bytes], *rules: Rule) -> list[VerdictGiven]:
    events = propose(trajectory(bodies), lambda h: decode_body(made.blobs[h]), list(rules) or ["error_result"])
    bodies += [encode_event(e) for e in events]
    return [e.fact for e in events if isinstance(e.fact, VerdictGiven)]


def says(*findings: Finding) -> Rule:
    return Rule("own", "1", "", lambda evidence: iter(findings))


def test_the_verdict_stands_on_the_action_once_and_is_taken_back_alone():
    made = session()
    bodies = list(made.bodies)
    assert [(f.step, f.action, f.value) for f in proposed(made, bodies)] == [(2, 2, "mask")]
    assert proposed(made, bodies) == []
    entry = trajectory(bodies).step(2)
    assert (entry.outcome, entry.masked_actions) == ("undecided", (2,))
    assert [f.value for f in proposed(made, bodies, RULES.get(["error_result"])[0].switched_off())] == ["none"]
    assert trajectory(bodies).step(2).verdicts == {}


@pytest.mark.parametrize("before", [(), (0,), (1,), (2,), (1, 2)])
@pytest.mark.parametrize("after", [(), (0,), (1,), (2,), (1, 2), (0, 1)])
def test_a_rule_that_finds_otherwise_says_otherwise_and_then_nothing_more(before, after):
    made = session()
    bodies = list(made.bodies)
    proposed(made, bodies, says(*(Finding(1, "why", a) for a in before)))
    proposed(made, bodies, says(*(Finding(1, "why", a) for a in after)))
    want = {(0 if 0 in after else a) for a in after}
    assert {v.action for v in trajectory(bodies).step(1).verdicts.values()} == want
    assert proposed(made, bodies, says(*(Finding(1, "why", a) for a in after))) == []


def test_of_a_step_with_one_action_the_step_is_meant_and_an_action_that_is_not_there_is_the_step():
    made = Maker(3)
    made.add_step(fails=True)
    assert [(f.step, f.action) for f in proposed(made, list(made.bodies))] == [(1, 0)]
    two = session()
    assert [f.action for f in proposed(two, list(two.bodies), says(Finding(1, "why", 9)))] == [0]


def test_agreement_counts_actions_where_somebody_judged_one_alone():
    made = session()
    bodies = list(made.bodies)
    proposed(made, bodies)
    made.say(VerdictGiven(step=2, action=2, value="mask"), PERSON)
    made.say(VerdictGiven(step=2, action=1, value="keep"), PERSON)
    other = Author(kind="person", name="wu")
    made.say(VerdictGiven(step=2, value="mask"), other)
    made.say(VerdictGiven(step=3, value="keep"), other)
    made.say(VerdictGiven(step=3, value="keep"), PERSON)
    told = agreement([trajectory([*bodies, *made.bodies[len(session().bodies):]])])
    [pair] = told.pairs
    assert (pair.steps, pair.raw) == (3, pytest.approx(2 / 3))
    source = {s.source: s for s in told.sources}["rule:error_result"]
    assert (source.masks, source.judged) == (1, 1)
    assert told.decided == 2
    [effect] = effects([trajectory(made.bodies)], lambda h: decode_body(made.blobs[h]), [RULES.get(["error_result"])])
    assert (effect.found, effect.judged, effect.overruled) == (1, 1, 0)


def test_decisions_are_told_by_action_where_one_was_judged_alone():
    made = session()
    bodies = list(made.bodies)
    proposed(made, bodies)
    told = [(d.step, d.action, d.value) for d in replay(trajectory(bodies))]
    assert told == [(1, 0, "undecided"), (2, 1, "undecided"), (2, 2, "mask"), (3, 0, "undecided")]
    assert [d.action for d in replay(trajectory(bodies), {"rule"})] == [0, 0, 0]
