"""Facts about a session as a whole: its beginning, its states, what people ask of it, snapshots and branches."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from core.domain.bounds import Address, Code, Count, Few, Id, Many, Name, Reason, Seconds, StepPlace, Text, Title, Total
from core.domain.events.fact import Fact
from core.domain.task import AgentSettings, Budget, Task

SessionState = Literal["queued", "running", "paused", "waiting", "finished", "failed", "stopped"]


class SessionCreated(Fact, frozen=True, kw_only=True, tag="session_created"):
    """The first event of a log. `origin` is live, or the name of the foreign format it was imported from.

    `group`: it is one of several roll-outs of one task; their runner is the roll-out, and no server starts another.
    """

    task: Task
    agent: AgentSettings = AgentSettings()
    origin: Name = "live"
    source: Address = ""
    group: Id = ""

    @property
    def program(self) -> str:
        """Whose tools its steps name: the format that it was imported from, an external agent's recipe, or live."""
        is_other = self.origin == "live" and self.agent.kind == "external"
        return (self.agent.recipe or "external") if is_other else self.origin


class SessionStateChanged(Fact, frozen=True, kw_only=True, tag="session_state"):
    """The session entered a state; `reason` is a stable code such as finished, limit_steps, stopped_by_person.

    `queue_place`: how many wait for hosts up to this one; 0 where it waits for none. `question` names what a person is
    asked in `detail`: the answer bears it, so that it is never one to another question.
    """

    state: SessionState
    reason: Code = ""
    detail: Text = ""
    queue_place: Count = 0
    question: Id = ""


class HostPlaceChanged(Fact, frozen=True, kw_only=True, tag="host_place"):
    """A host of the session was placed on a member of the server's pool; that member was lost, or is back."""

    host: Name = ""
    state: Literal["placed", "lost", "back"]
    place: Name
    gpus: Annotated[tuple[Name, ...], Few] = ()
    detail: Text = ""


class SessionContinued(Fact, frozen=True, kw_only=True, tag="session_continued"):
    """A person has a session that ended go on, with so much `more` than it has used. It is queued from now on."""

    more: Budget = Budget()


class ControlAsked(Fact, frozen=True, kw_only=True, tag="control_asked"):
    """A person asks the runner to pause, resume, stop, interrupt the running action, or take a snapshot.

    `answers`: the question to which it is a yes (resume) or a no (interrupt), and nothing else.
    """

    control: Literal["pause", "resume", "stop", "interrupt", "snapshot"]
    answers: Id = ""


class NotSaved(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What no snapshot brings back: of the kind process, shell, file, temporary or outside; where, and which."""

    kind: Code
    host: Name = ""
    what: Title = ""


class SnapshotTaken(Fact, frozen=True, kw_only=True, tag="snapshot_taken"):
    """Saved state of the sandboxes and the agent after a step, on the runner's computer.

    `cause` is steps, time, evaluation, summary, guidance, person or end; `bytes` and `files` are what the hosts held,
    `added` what the snapshot takes beside earlier ones, in `seconds`. `images` names, per host, its content.
    """

    step: StepPlace
    images: Annotated[dict[Name, Address], Few] = {}
    id: Id = ""
    cause: Code = ""
    files: Total = 0
    bytes: Total = 0
    added: Total = 0
    seconds: Seconds = 0.0
    not_saved: Annotated[tuple[NotSaved, ...], Few] = ()


class SnapshotFailed(Fact, frozen=True, kw_only=True, tag="snapshot_failed"):
    """A snapshot that was due could not be taken; the agent goes on."""

    step: StepPlace
    cause: Code = ""
    reason: Reason = ""


class Branched(Fact, frozen=True, kw_only=True, tag="branched"):
    """This session goes another way from a step of another on, or (`is_call`) a step of the other called it as a
    subagent.

    Its past up to step `base` is the other's, and so are files and context, from `snapshot` ("" with 0: from nothing).
    Steps base+1..step are taken again with the other's answers (`replays`), or the agent reads that they are undone.
    `due` says at which step guidance that the other had is given here; `without` is what it had and this one has not.
    `more` leaves so much beyond what was used by then. It `ends` after `step` where nothing but that is asked.
    Sessions of one `group` answer one question together; those of the same `arm` differ by chance alone.
    """

    parent: Id
    step: StepPlace
    is_call: bool = False
    base: StepPlace = 0
    snapshot: Id = ""
    replays: bool = False
    ends: bool = False
    due: Annotated[dict[Id, StepPlace], Many] = {}
    without: Annotated[tuple[Id, ...], Few] = ()
    more: Budget = Budget()
    group: Id = ""
    arm: Name = ""
