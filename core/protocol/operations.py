"""The operations: what a command asks of the server, in one tagged union."""

from typing import Annotated, Literal

import msgspec

from core.domain import bounds
from core.domain.anchor import TextAnchor
from core.domain.attention import Thresholds
from core.domain.events import AttentionKind, SubmissionRescored
from core.domain.guidance import GuidanceMode
from core.domain.queue import MOST_IN_QUEUE, QueueWork
from core.domain.task import AgentSettings, Budget, ModelSettings, Task
from core.domain.verdict import Author, VerdictValue

LEAST_IDLE_S, MOST_IDLE_S = 10.0, 86_400.0
"""For how long a person who has taken over may say nothing."""

QueueSessions = msgspec.Meta(max_length=MOST_IN_QUEUE)


class Op(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="op"):
    """What a command asks of a session; `scope` is what the sender's token must hold."""


class CreateSession(Op, frozen=True, kw_only=True, tag="create_session"):
    """Make a session under the id that the command names, from a catalogue task's id or a whole task. With a `group` it
    is a roll-out: who asks for it runs it, and no runner is started."""

    task: Task | bounds.Id
    agent: AgentSettings = AgentSettings()
    group: bounds.Id = ""


class ImportSession(Op, frozen=True, kw_only=True, tag="import_session"):
    """Make a session that no runner will be started for; its events come by Lease and Append.

    Does nothing when it exists. `origin` is the foreign format's name. A new session is in no list before `events`
    events of it are here.
    """

    origin: bounds.Name
    events: bounds.Sequence = 0


MAX_WORDS = 32 * 1024
"""Longest guidance or remark, in characters."""


class Guide(Op, frozen=True, kw_only=True, tag="guide"):
    """Queue guidance under an id made by the client."""

    guidance: bounds.Id
    text: bounds.Text
    mode: GuidanceMode = "note"


class ChangeGuidance(Op, frozen=True, kw_only=True, tag="change_guidance"):
    """Edit (text) or withdraw (None) guidance that was not delivered yet."""

    guidance: bounds.Id
    text: bounds.Text | None = None


class Control(Op, frozen=True, kw_only=True, tag="control"):
    """Pause, resume, stop; interrupt the action that is running; or take a snapshot after the step. `answers` names the
    question to which it is a yes (resume) or a no (interrupt): where that stands no more, nothing is done."""

    control: Literal["pause", "resume", "stop", "interrupt", "snapshot"]
    answers: bounds.Id = ""


class TakeOver(Op, frozen=True, kw_only=True, tag="take_over"):
    """Write the next actions oneself; again, to say that one is still there. After `idle_s` seconds without a word the
    agent has the session back."""

    idle_s: Annotated[float, msgspec.Meta(ge=LEAST_IDLE_S, le=MOST_IDLE_S)] = 900.0


class Act(Op, frozen=True, kw_only=True, tag="act"):
    """What the agent's next step is to be, of a session that one has taken over: a call of `tool` with `arguments`
    (JSON of an object), and why."""

    tool: bounds.Name
    arguments: bounds.Text = "{}"
    thought: bounds.Text = ""


class HandBack(Op, frozen=True, kw_only=True, tag="hand_back"):
    """Have the agent go on, after what was asked before."""


class ContinueSession(Op, frozen=True, kw_only=True, tag="continue_session"):
    """Have a session that ended go on, with so much `more` than it used; with advice, under an id made by the client.
    """

    more: Budget = Budget()
    guidance: bounds.Id = ""
    text: bounds.Text = ""


class CallSubagent(Op, frozen=True, kw_only=True, tag="call_subagent"):
    """Make the session of a subagent, under the id that the command names: that of the session whose runner writes it,
    `.sub.` and a number. Step `step` of `caller`, that session or another subagent of it, called it. Does nothing when
    it exists."""

    caller: bounds.Id
    step: bounds.StepPlace
    title: bounds.Title = ""
    description: bounds.Text = ""


class BranchSession(Op, frozen=True, kw_only=True, tag="branch_session"):
    """Make a session, under the id that the command names, that goes another way from a step of `parent` on.

    It has the guidance that the other was given up to its next step, but for `without`, and `text` (under the id
    `guidance`) at that step. `model` (with admin) answers instead of the other's. `from_start`: every step is taken
    again, from no snapshot. `replays`, `more`, `ends`, `group` and `arm` as in the fact `branched`.
    """

    parent: bounds.Id
    step: bounds.StepPlace
    without: Annotated[tuple[bounds.Id, ...], bounds.Few] = ()
    guidance: bounds.Id = ""
    text: bounds.Text = ""
    model: ModelSettings | None = None
    more: Budget = Budget()
    replays: bool = True
    from_start: bool = False
    ends: bool = False
    group: bounds.Id = ""
    arm: bounds.Name = ""


class RestoreSession(Op, frozen=True, kw_only=True, tag="restore_session"):
    """Have the next runner of a session begin from a snapshot of its last step; without one, say which are on the
    server's computer (the result's `here`)."""

    snapshot: bounds.Id = ""


class GiveVerdict(Op, frozen=True, kw_only=True, tag="give_verdict"):
    """Judge a step, or its `action`-th action (counted from 1; 0: the whole step). `author` is only for rules and
    judges; a person is known by the token. `content` is the content address of the body that the step had
    where it was judged: the server refuses a word on a step that says something else now. "": it is not asked."""

    step: bounds.StepPlace
    value: VerdictValue
    reason: bounds.Reason = ""
    author: Author | None = None
    action: bounds.Count = 0
    content: bounds.Code = ""


class AddNote(Op, frozen=True, kw_only=True, tag="add_note"):
    """Remark on a step, on words of it (`anchor`), or on the session (step 0). `content` as in `GiveVerdict`."""

    step: bounds.StepPlace
    text: bounds.Text
    content: bounds.Code = ""
    anchor: TextAnchor | None = None


class SetTag(Op, frozen=True, kw_only=True, tag="set_tag"):
    """Tag a step (0: the session), or take the tag off. `content` as in `GiveVerdict`."""

    step: bounds.StepPlace
    tag: bounds.Tag
    on: bool = True
    content: bounds.Code = ""


class TellTime(Op, frozen=True, kw_only=True, tag="tell_time"):
    """Say how long one was at work on steps: active seconds by step number, since one said so last."""

    seconds: Annotated[dict[bounds.StepNumber, bounds.Seconds], bounds.Many]


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody said elsewhere: an event as it was stored there, and the content address of its step's body."""

    event: msgspec.Raw
    content: bounds.Code = ""


class Rescore(Op, frozen=True, kw_only=True, tag="rescore"):
    """Put beside a submission's score what an evaluator that changed, or a judge, says of it."""

    score: SubmissionRescored


class MergeOpinions(Op, frozen=True, kw_only=True, tag="merge_opinions"):
    """Take verdicts, notes and tags over that were given on another computer; they keep their authors and times."""

    opinions: Annotated[tuple[Opinion, ...], bounds.Many]


class DeleteSession(Op, frozen=True, kw_only=True, tag="delete_session"):
    """Delete a session that is over, for everybody; or say what would be lost by that.

    `head` is the newest event that the sender knows of: the session is deleted only if it still is the newest. Without
    it nothing is deleted. The result is a `core.domain.losses.Losses`.
    """

    head: bounds.Sequence | None = None


class ClearAttention(Op, frozen=True, kw_only=True, tag="clear_attention"):
    """A person has dealt with it."""

    kind: AttentionKind


class SetThresholds(Op, frozen=True, kw_only=True, tag="set_thresholds"):
    """Say from where on a session asks for a person's look."""

    thresholds: Thresholds


class QueueOp(Op, frozen=True, kw_only=True):
    """About a review queue: the command's `session` is the queue's id."""


class MakeQueue(QueueOp, frozen=True, kw_only=True, tag="make_queue"):
    """Make a queue of these sessions, in this order, under an id made by the client. `filter` is what they were chosen
    by."""

    name: bounds.Title
    sessions: Annotated[tuple[bounds.Id, ...], QueueSessions]
    work: QueueWork = QueueWork()
    filter: bounds.Reason = ""


class ChangeQueue(QueueOp, frozen=True, kw_only=True, tag="change_queue"):
    """Its maker (or an administrator) adds sessions, takes some out, gives it another name, or closes it."""

    add: Annotated[tuple[bounds.Id, ...], QueueSessions] = ()
    remove: Annotated[tuple[bounds.Id, ...], QueueSessions] = ()
    name: bounds.Title | None = None
    closed: bool | None = None


class TakeFromQueue(QueueOp, frozen=True, kw_only=True, tag="take_from_queue"):
    """Take a session of the queue to judge it, or ("") the first that nobody has. `person`: give it to somebody else,
    which its maker may. The result names the `taken` session."""

    taken: bounds.Id = ""
    person: bounds.Name = ""


class GiveBack(QueueOp, frozen=True, kw_only=True, tag="give_back"):
    """Have a session of the queue no more; what was judged stays. `person`: take it from somebody else, which the
    queue's maker may."""

    given: bounds.Id
    person: bounds.Name = ""


class FinishInQueue(QueueOp, frozen=True, kw_only=True, tag="finish_in_queue"):
    """Say that one is done with a session of the queue, though not all is judged; or (`done` false) is not."""

    finished: bounds.Id
    done: bool = True


AnyOp = (
    CreateSession | ImportSession | Guide | ChangeGuidance | Control | GiveVerdict | AddNote | SetTag | ClearAttention
    | SetThresholds | TellTime | Rescore | MergeOpinions | DeleteSession | ContinueSession | MakeQueue | ChangeQueue
    | BranchSession | RestoreSession | CallSubagent | TakeFromQueue | GiveBack | FinishInQueue | TakeOver | Act
    | HandBack
)


# ---- to the server -----------------------------------------------------------------------------------
