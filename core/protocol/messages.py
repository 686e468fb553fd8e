"""Every message of the wire, in two tagged unions: what a peer sends to the server, and what it gets.

Text frames hold one JSON message; binary frames hold one piece of a blob (`core.protocol.frames`).
`docs/protocol.md` describes the same for those who write an agent or a client in another language.
"""

from typing import Annotated, Any

import msgspec

from core.domain import bounds
from core.domain.blob import BlobName
from core.domain.hit import Hit
from core.domain.host_rights import HostRight
from core.domain.queue import QueueState, Reader
from core.domain.session import SessionRow
from core.domain.task_terms import TaskTerms
from core.protocol.operations import AnyOp

PROTOCOL = 1
SUBPROTOCOL = "tiphys.v1"

CAN_SEARCH = "search"
"""In Welcome's capabilities: the server answers Search. An older one would take the message for a broken frame."""

CAN_LIST_TASKS = "tasks"
"""Likewise for ListTasks."""

CAN_JUDGE_ACTIONS = "verdicts_on_actions"
"""The server knows GiveVerdict's `action`. An older one would take a verdict on an action for one on the step."""

CAN_DELETE = "delete"
"""The server knows DeleteSession, and says Deleted."""

CAN_QUEUE = "queues"
"""The server knows WatchQueues, Reading and the operations on queues."""

CAN_CONTINUE = "continue"
"""The server knows ContinueSession. An older one would take the command for a broken frame."""

CAN_RESTORE = "restore"
"""Likewise for RestoreSession."""

CAN_TAKE_OVER = "take_over"
"""The server knows TakeOver, Act and HandBack."""

CAPABILITIES = (CAN_SEARCH, CAN_LIST_TASKS, CAN_JUDGE_ACTIONS, CAN_DELETE, CAN_CONTINUE, CAN_QUEUE, CAN_RESTORE,
                CAN_TAKE_OVER)
"""Of this program's server."""


class Wire(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """One message."""


# ---- operations: what a command asks for -------------------------------------------------------------




class Hello(Wire, frozen=True, kw_only=True, tag="hello"):
    """The first frame of a connection. `client` is the durable identity of the sender's outbox or journal."""

    protocol: bounds.Count
    client: bounds.Id
    program: bounds.Name = ""
    capabilities: Annotated[tuple[bounds.Code, ...], bounds.Few] = ()


class Command(Wire, frozen=True, kw_only=True, tag="command"):
    """One operation. `cseq` counts the client's commands from 1 without gaps; `id` makes repeats harmless.

    `again`: made for another state of the server's database than it has now, perhaps even acknowledged. What it is
    about may not be here yet.
    """

    id: bounds.Id
    cseq: bounds.Sequence
    session: bounds.Id
    op: AnyOp
    again: bool = False


class WatchSessions(Wire, frozen=True, kw_only=True, tag="watch_sessions"):
    """Send a row for every session now, and again whenever one changes (conflated)."""


class Subscribe(Wire, frozen=True, kw_only=True, tag="subscribe"):
    """Send the session's events after `after`, then every new one."""

    session: bounds.Id
    after: bounds.Sequence = 0


class Unsubscribe(Wire, frozen=True, kw_only=True, tag="unsubscribe"):
    """Send no more events of the session."""

    session: bounds.Id


class Seen(Wire, frozen=True, kw_only=True, tag="seen"):
    """Everything up to `seq` is stored here; gives the sender credit for more."""

    session: bounds.Id
    seq: bounds.Sequence


class WantBlobs(Wire, frozen=True, kw_only=True, tag="want_blobs"):
    """Send these payloads as binary frames."""

    hashes: Annotated[tuple[BlobName, ...], bounds.Many]


class Lease(Wire, frozen=True, kw_only=True, tag="lease"):
    """A runner takes the session over from any earlier runner. `journal` names the journal it writes from."""

    session: bounds.Id
    journal: bounds.Name


class Append(Wire, frozen=True, kw_only=True, tag="append"):
    """Events first, first+1, … of the runner's journal. Their blobs were sent before, or are known."""

    session: bounds.Id
    fence: bounds.Sequence
    first: bounds.Sequence
    bodies: Annotated[tuple[msgspec.Raw, ...], bounds.Many]


class Live(Wire, frozen=True, kw_only=True, tag="live"):
    """Text that is being made (a thought, a terminal); never stored, newest wins, may be dropped."""

    session: bounds.Id
    channel: bounds.Code
    text: bounds.Text


class Search(Wire, frozen=True, kw_only=True, tag="search"):
    """Find words in all sessions (or in one); answered by Found with the same `id`, or by Failed about it.

    Any text is taken for words. Of those that one connection has waiting only the newest is answered.
    """

    id: bounds.Id
    words: bounds.Text
    session: bounds.Id = ""
    limit: bounds.Count = 50


class ListTasks(Wire, frozen=True, kw_only=True, tag="list_tasks"):
    """Tell the tasks of the server's catalogue, which CreateSession takes by their ids; answered by Tasks."""

    id: bounds.Id


class WatchQueues(Wire, frozen=True, kw_only=True, tag="watch_queues"):
    """Send what changed in any queue after a revision, and again whenever one changes; and who reads what."""

    after: bounds.Sequence = 0


class Reading(Wire, frozen=True, kw_only=True, tag="reading"):
    """The sender has a session open ("": none any more), until it says otherwise or the connection ends."""

    session: bounds.Id = ""


ToServer = (
    Hello | Command | WatchSessions | Subscribe | Unsubscribe | Seen | WantBlobs | Lease | Append | Live | Search
    | ListTasks | WatchQueues | Reading
)


# ---- from the server ---------------------------------------------------------------------------------


class Welcome(Wire, frozen=True, kw_only=True, tag="welcome"):
    """The answer to Hello. `epoch` changes when the server's database is replaced or restored.

    `cseq` is the last command of this client that the server holds.
    """

    protocol: bounds.Count
    epoch: bounds.Id
    program: bounds.Name = ""
    name: bounds.Name = ""
    scopes: Annotated[tuple[bounds.Name, ...], bounds.Many] = ()
    cseq: bounds.Sequence = 0
    capabilities: Annotated[tuple[bounds.Code, ...], bounds.Few] = ()


class Ack(Wire, frozen=True, kw_only=True, tag="ack"):
    """The command is stored; the same answer for every repeat."""

    id: bounds.Id
    cseq: bounds.Sequence
    result: Annotated[dict[bounds.Name, Any], bounds.Few] = {}


class Nak(Wire, frozen=True, kw_only=True, tag="nak"):
    """The command is refused for good and will not be asked again; it counts as answered."""

    id: bounds.Id
    cseq: bounds.Sequence
    kind: bounds.Code
    code: bounds.Code
    sentence: bounds.Text
    params: Annotated[dict[bounds.Name, Any], bounds.Few] = {}


class Events(Wire, frozen=True, kw_only=True, tag="events"):
    """Events first, first+1, … of a session's log, as stored; `head` is the newest there is."""

    session: bounds.Id
    first: bounds.Sequence
    head: bounds.Sequence
    bodies: Annotated[tuple[msgspec.Raw, ...], bounds.Many]


class Sessions(Wire, frozen=True, kw_only=True, tag="sessions"):
    """Rows that changed."""

    rows: Annotated[tuple[SessionRow, ...], bounds.Many]


class DeletedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A deletion, named by `mark`. Later rows and events of that session are another one's of the same id."""

    session: bounds.Id
    mark: bounds.Id


class Deleted(Wire, frozen=True, kw_only=True, tag="deleted"):
    """To who watches the sessions, before their rows: these were deleted. Copies that are older go, once for each."""

    sessions: Annotated[tuple[DeletedSession, ...], bounds.Many]


class Queues(Wire, frozen=True, kw_only=True, tag="queues"):
    """Queues and their sessions that changed, the newest state of each; ask for what comes after `state.revision`."""

    state: QueueState


class Readers(Wire, frozen=True, kw_only=True, tag="readers"):
    """Everybody who has a session open now; who is not named has none."""

    readers: Annotated[tuple[Reader, ...], bounds.Many] = ()


class Leased(Wire, frozen=True, kw_only=True, tag="leased"):
    """The runner holds the session under `fence`; `next` is the first journal entry that the server lacks."""

    session: bounds.Id
    fence: bounds.Sequence
    next: bounds.Sequence


class Appended(Wire, frozen=True, kw_only=True, tag="appended"):
    """The journal's entries up to `upto` are stored."""

    session: bounds.Id
    upto: bounds.Sequence


class MissingBlobs(Wire, frozen=True, kw_only=True, tag="missing_blobs"):
    """Send these first, then Append again."""

    session: bounds.Id
    hashes: Annotated[tuple[BlobName, ...], bounds.Many]


class Found(Wire, frozen=True, kw_only=True, tag="found"):
    """Where the words of a Search stand, newest first. `more`: there are (or may be) more than these.

    `behind`: so many events of the log could not be searched yet; ask again for what is in them.
    """

    id: bounds.Id
    hits: Annotated[tuple[Hit, ...], bounds.Many] = ()
    more: bool = False
    behind: bounds.Sequence = 0


class OfferedTask(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A task of a catalogue: its id, its title, the names of its sandbox hosts, and what a person is shown of it before
    a session is started (an older server does not say it).

    `asks` is what it wants of the server's computer and nobody allowed there yet: who runs the server must, first.
    """

    task: bounds.Id
    title: bounds.Title
    hosts: Annotated[tuple[bounds.Name, ...], bounds.Few] = ()
    asks: Annotated[tuple[HostRight, ...], bounds.Few] = ()
    terms: TaskTerms | None = None


class Tasks(Wire, frozen=True, kw_only=True, tag="tasks"):
    """The tasks that the server offers, by title; of `unreadable` ones its log says what is wrong."""

    id: bounds.Id
    tasks: Annotated[tuple[OfferedTask, ...], bounds.Many] = ()
    unreadable: bounds.Count = 0


class Failed(Wire, frozen=True, kw_only=True, tag="failed"):
    """Something else that was asked for cannot be done; `about` names it (a session, hash, question's id or type)."""

    kind: bounds.Code
    code: bounds.Code
    sentence: bounds.Text
    about: bounds.Text = ""
    params: Annotated[dict[bounds.Name, Any], bounds.Few] = {}


FromServer = (
    Welcome | Ack | Nak | Events | Sessions | Deleted | Leased | Appended | MissingBlobs | Failed | Live | Found | Tasks
    | Queues | Readers
)


class Close:
    """Close codes of our own (RFC 6455 §7.4.2 leaves 4000–4999 to applications)."""

    BAD_FRAME = 4400
    TOKEN = 4401
    SCOPE = 4403
    VERSION = 4406
    HELLO_TIMEOUT = 4408
    GAP = 4409
    FENCED = 4410
    TOO_LARGE = 4413
    SLOW_DOWN = 4429
