"""What several rules read out of steps: jobs, shell commands, the files that an action writes or runs."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from core.domain.action_kinds import names_of
from core.domain.changed_lines import heredocs
from core.domain.step import Action, Observation, StepBody

REPLACE = "replace_text"
"""An editing action of other programs only (`foreign_tools`): it names the old text and fails where that is not there,
so it cannot be made blindly."""

EDITING = names_of(lambda kind: kind.effect == "changes" and kind.family == "file")
"""Actions that write a file themselves."""

_LOOKS = re.compile(r"(?:cat|head|tail|less|more|ls|grep|rg|wc|rm|cp|mv|chmod|touch|vim?|nano|diff|git|find|"
                    r"stat|file|sed|awk|echo|mkdir|tar|cd)\b")
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_PARTS = re.compile(r"\|\||&&|[;\n&|]")


class JobRun(msgspec.Struct, frozen=True, kw_only=True):
    """A background job as its session tells of it: started at `start`, over at `end` (None: not known to be)."""

    job: str
    start: int
    action: Action | None
    end: int | None = None


def of_call(body: StepBody) -> dict[str, Action]:
    """The actions of a step by call id."""
    return {a.call_id: a for a in body.actions}


def place_of(body: StepBody, call_id: str) -> int:
    """Which of a step's actions, counted from 1, made a call; 0 where that cannot be told."""
    places = [place for place, action in enumerate(body.actions, 1) if action.call_id == call_id]
    return places[0] if len(places) == 1 else 0


def command_of(action: Action) -> str:
    """The shell command of an action, "" for none."""
    return str(action.arguments.get("command") or "") if action.tool == "run_command" else ""


def host_of(action: Action) -> str:
    """The machine that an action names; "" is the first."""
    return str(action.arguments.get("computer_ip") or "")


def path_of(action: Action) -> str:
    """The file that an editing action names, normal form; "" for none."""
    path = action.arguments.get("path") or action.arguments.get("filename") or action.arguments.get("file_path")
    return posixpath.normpath(str(path)) if path else ""


def commands(text: str) -> list[str]:
    """The single commands of a shell line; what is quoted stays whole."""
    held: list[str] = []

    def hold(found: re.Match[str]) -> str:
        held.append(found.group())
        return f"\x00{len(held) - 1}\x00"

    unquoted = _QUOTED.sub(hold, text)
    parts = (re.sub(r"\x00(\d+)\x00", lambda m: held[int(m.group(1))], p).strip() for p in _PARTS.split(unquoted))
    return [p for p in parts if p]


def written(action: Action) -> Iterator[tuple[str, str]]:
    """(path, new text) of what an action writes: whole files, lines of a file, here-documents of the shell."""
    if action.malformed:
        return
    if action.tool in EDITING or action.tool == REPLACE:
        yield path_of(action), str(action.arguments.get("content") or "")
    yield from ((posixpath.normpath(path), text) for path, text in heredocs(command_of(action)))


def runs(action: Action, path: str) -> bool:
    """Whether a command names the script at `path` for anything else than looking at it or moving it."""
    named = re.compile(rf"(?:^|[\s=/]){re.escape(posixpath.basename(path))}(?=\s|$)")
    return any(named.search(c) and not _LOOKS.match(c) for c in commands(command_of(action)))


def job_runs(steps: Iterable[StepBody]) -> list[JobRun]:
    """All background jobs that the steps tell of."""
    jobs: dict[str, JobRun] = {}
    for body in steps:
        calls = of_call(body)
        for observation in body.observations:
            name = observation.job
            if name and observation.status == "running" and name not in jobs:
                jobs[name] = JobRun(job=name, start=body.number, action=calls.get(observation.call_id))
            for over in _over(observation):
                if over in jobs and jobs[over].end is None:
                    jobs[over] = msgspec.structs.replace(jobs[over], end=body.number)
    return list(jobs.values())


def _over(observation: Observation) -> list[str]:
    own = [observation.job] if observation.job and observation.status != "running" and (
        observation.exit_code is not None or observation.is_error) else []
    return own + [str(row.get("job")) for row in finished_jobs(observation)]


def finished_jobs(observation: Observation) -> list[dict[str, Any]]:
    """Rows of the background jobs whose end this observation is the first to report."""
    rows = observation.data.get("finished_jobs")
    return [r for r in rows if isinstance(r, dict)] if isinstance(rows, list) else []


def running_at(jobs: Sequence[JobRun], step: int) -> list[JobRun]:
    """The jobs that ran while a step was made."""
    return [j for j in jobs if j.start < step and (j.end is None or j.end >= step)]


def one_line(text: str, most: int = 200) -> str:
    """White space as single blanks, cut."""
    return " ".join(text.split())[:most]
