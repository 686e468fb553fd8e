"""What a person is shown of a task before a session is started on it: its text, its budget, where the agent works."""

from typing import Annotated

import msgspec

from core.domain.bounds import Code, Few, Name, Reason
from core.domain.host_rights import HostRight, rights_of
from core.domain.task import AgentSettings, Limits, Task

MAX_TEXT = 1_000
"""Characters of a task's text that are told: a catalogue of 500 tasks stays far below the largest frame."""

MAX_RIGHTS, MAX_RIGHT = 12, 120


class TaskTerms(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The beginning of the text; when a session ends by itself; the sandbox ("docker", "local") and the model of the
    agent that the task suggests; and what it takes of its computer beyond a closed container, allowed or not.
    `environment` is what it is played in ("KIND ITEM"), "" where it is worked on in hosts."""

    text: Reason = ""
    limits: Limits = Limits()
    sandbox: Code = "docker"
    model: Name = ""
    is_scored: bool = False
    rights: Annotated[tuple[HostRight, ...], Few] = ()
    environment: Name = ""


def terms_of(task: Task, agent: AgentSettings) -> TaskTerms:
    """The terms of a task for an agent. Raises InvalidInput (bad_endpoint, bad_variable)."""
    text = task.description.strip()
    rights = (HostRight(r.kind, r.name[:MAX_RIGHT], r.endpoint[:MAX_RIGHT]) for r in rights_of(task, agent))
    played = task.environment
    return TaskTerms(text=text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…", limits=task.limits,
                     sandbox=agent.sandbox, model=agent.model.name[:MAX_RIGHT],
                     is_scored=bool(task.evaluator.script or played), rights=tuple(rights)[:MAX_RIGHTS],
                     environment=f"{played.kind[:MAX_RIGHT]} {played.item}" if played is not None else "")
