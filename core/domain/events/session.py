"""Facts about a session as a whole: its beginning, its states, what people ask of it, snapshots and branches."""

from __future__ import annotations

from typing import Annotated, Literal

from core.domain.bounds import Address, Code, Count, Few, Id, Name, StepPlace, Text
from core.domain.events.fact import Fact
from core.domain.task import AgentSettings, Budget, Task

SessionState = Literal["queued", "running", "paused", "waiting", "finished", "failed", "stopped"]


class SessionCreated(Fact, frozen=True, kw_only=True, tag="session_created"):
    """The first event of a log. `origin` is live, or the name of the foreign format it was imported from."""

    task: Task
    agent: AgentSettings = AgentSettings()
    origin: Name = "live"
    source: Address = ""

    @property
    def program(self) -> str:
        """Whose tools its steps name: the format that it was imported from, an external agent's recipe, or live."""
        is_other = self.origin == "live" and self.agent.kind == "external"
        return (self.agent.recipe or "external") if is_other else self.origin


class SessionStateChanged(Fact, frozen=True, kw_only=True, tag="session_state"):
    """The session entered a state; `reason` is a stable code such as finished, limit_steps, stopped_by_person.

    `queue_place`: how many wait for hosts up to this one; 0 where it waits for none.
    """

    state: SessionState
    reason: Code = ""
    detail: Text = ""
    queue_place: Count = 0


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
    """A person asks the runner to pause, resume, stop, or interrupt the running action."""

    control: Literal["pause", "resume", "stop", "interrupt"]


class SnapshotTaken(Fact, frozen=True, kw_only=True, tag="snapshot_taken"):
    """Saved state of the sandboxes at a step: image reference per host."""

    step: StepPlace
    images: Annotated[dict[Name, Address], Few] = {}


class Branched(Fact, frozen=True, kw_only=True, tag="branched"):
    """This session continues from a snapshot of another, or (`is_call`) a step of the other called it as a subagent."""

    parent: Id
    step: StepPlace
    is_call: bool = False
