"""Rules about actions that went wrong: the envelope of every action's result tells, nothing is guessed from text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.domain.action_kinds import names_of
from core.domain.step import Action, Observation, StepBody
from core.supervision.rule import LIVE, RULES, Evidence, Finding
from core.supervision.traces import commands, finished_jobs, of_call, one_line, place_of

_SEARCH = re.compile(r"(?:grep|egrep|fgrep|zgrep|rg|diff|cmp|pgrep|test|\[|which|command\s+-v)(?:\s|$)")
_FAILED = re.compile(r"^(?:[\w.]{0,80}\.)?\w{0,80}(?:Error|Exception)(?:: |:?$)|: (?:command )?not found$|"
                     r": (?:No such file or directory|Permission denied|Is a directory)$")
_PROMPT = re.compile(
    r"^(?:\([\w.-]{1,40}\) ?)?(?:[^\s@]{1,40}@\S{1,80}[^\n]{0,120}[$#%>]|\[[^\]\n]{1,120}\] ?[$#]|bash-[\d.]*[$#]|"
    r"[\w./~-]{0,120} ?[$#]|>>>)$|^\((?:Open file|Current directory): .*\)$")
"""A shell that waits for the next command, and what SWE-agent shows above it."""

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_COMPLAINT = re.compile(r"pars(?:e|ing) error|(?:could not|cannot|failed to) (?:be )?parse|no (?:tool|function) call|"
                        r"invalid (?:json|format)|(?:not|missing) (?:a )?valid (?:json|command|action)", re.IGNORECASE)
_ENDING = names_of(lambda kind: kind.effect == "ends" and kind.family == "command")
_BY_SIGNAL = frozenset({130, 137, 143, -2, -9, -15})


@RULES.add("error_result", "4")
def error_result(evidence: Evidence, *, spare_empty_searches: bool = True) -> Iterator[Finding]:
    """"The action with an error message in the observation will be masked by symbolic rules" (APOLLO §3.4).

    The late failure of a background job is no error of the step that reads of it (rule late_failure). A search that
    finds nothing ends with exit code 1 and is no error but exploration, which App. E keeps. Programs that keep no exit
    codes leave the last line of a shell's output, before the prompt that waits for the next command: it counts where it
    is an error's.
    """
    started: dict[str, int] = {}
    for body in evidence.steps:
        calls = of_call(body)
        for observation in body.observations:
            if observation.job:
                started.setdefault(observation.job, body.number)
            late = started.get(observation.job, body.number) != body.number or _reported(observation)
            action, place = calls.get(observation.call_id), place_of(body, observation.call_id)
            if evidence.origin != LIVE and (line := _last_words(action, observation)):
                yield Finding(body.number, f"the output ends with an error: {one_line(line)}", place)
            if not observation.is_error or late:
                continue
            if not (spare_empty_searches and _is_empty_search(action, observation)):
                yield Finding(body.number, _why(evidence.tool(body.number, place, action), observation), place)


def _last_words(action: Action | None, observation: Observation) -> str:
    """The last line of a command's output where it tells of a failure and no exit code says how it ended."""
    if action is None or action.tool != "run_command" or observation.is_error or observation.exit_code is not None:
        return ""
    shown = _ESCAPE.sub("", observation.output.text[-4000:]).splitlines()
    last = next((line for raw in reversed(shown) if (line := raw.strip()) and not _PROMPT.match(line)), "")
    return last if _FAILED.search(last) else ""


def _reported(observation: Observation) -> bool:
    """Whether the error is a job's whose end is told here for the first time."""
    return bool(observation.job) and any(r.get("job") == observation.job for r in finished_jobs(observation))


def _is_empty_search(action: Action | None, observation: Observation) -> bool:
    if action is None or action.tool != "run_command" or observation.exit_code != 1:
        return False
    parts = commands(str(action.arguments.get("command") or ""))
    return bool(parts) and bool(_SEARCH.match(parts[-1])) and observation.status == "finished"


def _why(tool: str, observation: Observation) -> str:
    message = observation.error.message if observation.error else observation.status
    code = "" if observation.exit_code is None else f" (exit code {observation.exit_code})"
    return f"{tool} failed{code}: {one_line(message)}"


@RULES.add("late_failure", "2")
def late_failure(evidence: Evidence) -> Iterator[Finding]:
    """An action with an error is masked (APOLLO §3.4), and a background job's error belongs to the action that started
    it, not to the one that read of it. A job that the agent itself ended is no failure.
    """
    started: dict[str, _Start] = {}
    blamed: set[str] = set()
    ended = False
    for body in evidence.steps:
        ended = ended or any(_ends_jobs(a) for a in body.actions)
        for observation in body.observations:
            for job, start, code, message in _ends(observation, started, body):
                if job not in blamed and not (ended and code in _BY_SIGNAL):
                    blamed.add(job)
                    why = f"its job {job} failed (exit code {code}), as step {body.number} shows: {message}"
                    step, place = start
                    yield Finding(step, why, place)
            if observation.job:
                started.setdefault(observation.job, (body.number, place_of(body, observation.call_id)))


def _ends_jobs(action: Action) -> bool:
    return action.tool in _ENDING or (action.tool == "input_in_session"
                                      and str(action.arguments.get("input_text")) in ("\x03", "\x04", "\x1c"))


_Start = tuple[int, int]
"""The step and the action in it that started a job; action 0 where that cannot be told."""


def _ends(observation: Observation, started: dict[str, _Start], body: StepBody
          ) -> Iterator[tuple[str, _Start, object, str]]:
    """(job, what started it, exit code, message) of the failed jobs whose end this observation shows."""
    rows = [r for r in finished_jobs(observation) if r.get("exit_code") != 0]
    for row in rows:
        job, step = str(row.get("job")), row.get("step")
        if isinstance(step, int) and 0 < step < body.number:
            seen = started.get(job, (step, 0))
            yield job, seen if seen[0] == step else (step, 0), row.get("exit_code"), "the job ended meanwhile"
    start = started.get(observation.job, (body.number, 0))
    if observation.is_error and observation.job and start[0] != body.number:
        message = observation.error.message if observation.error else observation.status
        yield observation.job, start, observation.exit_code, one_line(message)


@RULES.add("null_action", "4")
def null_action(evidence: Evidence) -> Iterator[Finding]:
    """"Remove 'null' actions and error-prone actions" (APOLLO App. E, priority 3).

    A null action is a step without any action, a call named null, or a call that could not be read. In sessions of
    other programs an answer in words is no null action: agents there end by one, or talk with a person. It counts
    where it is empty, or where the program complained of it. Sessions that tell of no actions at all are passed over.
    """
    if not any(body.actions for body in evidence.steps):
        return
    for body in evidence.steps:
        for place, action in enumerate(body.actions, 1):
            if action.malformed or action.tool == "null":
                why = action.malformed or "null action"
                yield Finding(body.number, f"the call {action.tool} is malformed: {why}", place)
        if not body.actions and (evidence.origin == LIVE or _complained(body) or not body.thought.strip()):
            yield Finding(body.number, "the step has no action")


def _complained(body: StepBody) -> bool:
    """Whether the program that gave the step its result could not read it."""
    return any(o.is_error or _COMPLAINT.search(o.output.text[:1000]) for o in body.observations)
