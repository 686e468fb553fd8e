"""One file per message and operation: a change of the wire always shows in a diff, and old bytes still decode.

After a deliberate change: `python tests/wire/test_golden.py` writes the files anew.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from core.domain.anchor import TextAnchor
from core.domain.attention import Thresholds
from core.domain.events import SubmissionRescored
from core.domain.hit import Hit
from core.domain.host_rights import HostRight
from core.domain.progress import Judged, Progress
from core.domain.queue import Holder, QueueItem, QueueState, QueueWork, Reader, ReviewQueue, SharedJudgement
from core.domain.session import SessionRow
from core.domain.task import AgentSettings, Budget, Limits, ModelSettings, Task
from core.domain.task_terms import TaskTerms
from core.domain.verdict import Author
from core.protocol.codec import decode_from_server, decode_to_server, encode
from core.protocol.messages import (
    Ack,
    Append,
    Appended,
    Command,
    Deleted,
    DeletedSession,
    Events,
    Failed,
    Found,
    FromServer,
    Hello,
    Lease,
    Leased,
    ListTasks,
    Live,
    MissingBlobs,
    Nak,
    OfferedTask,
    Queues,
    Readers,
    Reading,
    Search,
    Seen,
    Sessions,
    Subscribe,
    Tasks,
    ToServer,
    Unsubscribe,
    WantBlobs,
    WatchQueues,
    WatchSessions,
    Welcome,
    Wire,
)
from core.protocol.operations import (
    Act,
    AddNote,
    AnyOp,
    BranchSession,
    CallSubagent,
    ChangeGuidance,
    ChangeQueue,
    ClearAttention,
    ContinueSession,
    Control,
    CreateSession,
    DeleteSession,
    FinishInQueue,
    GiveBack,
    GiveVerdict,
    Guide,
    HandBack,
    ImportSession,
    MakeQueue,
    MergeOpinions,
    Op,
    Opinion,
    Rescore,
    RestoreSession,
    SetTag,
    SetThresholds,
    TakeFromQueue,
    TakeOver,
    TellTime,
)

FOLDER = Path(__file__).parent / "golden"
EVENT = msgspec.Raw(
    b'{"id":"0198c0de-0000-7000-8000-000000000001","at":"2026-03-01T09:00:00Z","author":{"kind":"agent","name":"s1"},'
    b'"fact":{"type":"note_added","step":0,"text":"x"}}'
)
HASH = "1e" * 32
ROW = SessionRow(session="s1", title="Title", task="t1", model="m", state="running", seq=12, steps=3, errors=1,
                 score=40.5, tokens=1000, cost_usd=0.25, guidance_waiting=1, attention=("loop",),
                 judged={"person:li": Progress(steps=Judged(keep=2, mask=1), errors=Judged(mask=1),
                                                reports=Judged(keep=1))},
                 created_at=datetime(2026, 3, 1, 9, tzinfo=UTC), updated_at=datetime(2026, 3, 1, 10, tzinfo=UTC))
QUEUE = ReviewQueue(queue="q1", name="Claims and errors", by="kim", at=datetime(2026, 3, 2, 8, tzinfo=UTC),
                    work=QueueWork(steps="errors", reports=True, rubric="Does it claim what it did not do?", twice=25,
                                   blind=True),
                    filter="is:imported cost>2")
MESSAGES: list[Wire] = [
    Hello(protocol=1, client="c1", program="tiphys 0.1", capabilities=("x",)),
    Command(id="m1", cseq=1, session="s1", op=Guide(guidance="g1", text="Use the training split. 用训练集。")),
    WatchSessions(),
    WatchQueues(after=7),
    Reading(session="s1"),
    Subscribe(session="s1", after=10),
    Unsubscribe(session="s1"),
    Seen(session="s1", seq=12),
    WantBlobs(hashes=(HASH,)),
    Lease(session="s1", journal="j1"),
    Append(session="s1", fence=2, first=7, bodies=(EVENT,)),
    Live(session="s1", channel="thought", text="so far"),
    Search(id="q1", words="training split 训练集", limit=20),
    ListTasks(id="q2"),
    Welcome(protocol=1, epoch="e1", program="tiphys 0.1", name="li", scopes=("view", "guide"), cseq=1,
            capabilities=("search", "tasks")),
    Ack(id="m1", cseq=1, result={"seq": 12}),
    Nak(id="m1", cseq=1, kind="Conflict", code="already_delivered",
        sentence="Guidance g1 was delivered at step 3 already.", params={"step": 3}),
    Events(session="s1", first=11, head=12, bodies=(EVENT, EVENT)),
    Sessions(rows=(ROW,)),
    Deleted(sessions=(DeletedSession(session="s1", mark="0198c0de-0000-7000-8000-000000000002"),)),
    Leased(session="s1", fence=2, next=7),
    Appended(session="s1", upto=7),
    MissingBlobs(session="s1", hashes=(HASH,)),
    Found(id="q1", hits=(Hit(session="s1", seq=7, step=3, where="thought", ref="", snippet="use the training split",
                             matches=((8, 16), (17, 22))),), more=True, behind=40),
    Tasks(id="q2", tasks=(OfferedTask(task="t1", title="Title", hosts=("main", "gpu"), terms=TaskTerms(
        text="Do it.", limits=Limits(steps=40, wall_s=3600.0), model="m", is_scored=True,
        environment="textcraft 3", rights=(HostRight("network", "main"),))),), unreadable=1),
    Queues(state=QueueState(revision=9, queues=(QUEUE,), items=(
        QueueItem(queue="q1", session="s1", place=3, wanted=2, both=(SharedJudgement("keep", "mask", 1),), holders=(
            Holder(person="li", at=datetime(2026, 3, 2, 9, tzinfo=UTC), done="judged"),
            Holder(person="kim", at=datetime(2026, 3, 2, 10, tzinfo=UTC)))),))),
    Readers(readers=(Reader("s1", "kim"),)),
    Failed(kind="NotFound", code="no_session", sentence="There is no session s1.", about="s1"),
]
OPS: list[Op] = [
    CreateSession(task=Task(id="t1", title="Title", description="Do it."),
                  agent=AgentSettings(model=ModelSettings(kind="openai", name="m", base_url="http://localhost:1/v1"))),
    ImportSession(origin="atif"),
    DeleteSession(head=12),
    Guide(guidance="g1", text="Stop and look at the loss.", mode="interrupt"),
    ChangeGuidance(guidance="g1", text="Look at the loss."),
    Control(control="pause"),
    TakeOver(idle_s=120.0),
    Act(tool="act", arguments='{"command":"turn left"}', thought="The ball is behind it."),
    HandBack(),
    BranchSession(parent="s0", step=7, without=("g1",), guidance="g2", text="Use the training split.", group="q1",
                  arm="another"),
    RestoreSession(snapshot="n1"),
    CallSubagent(caller="s1", step=4, title="Look for the leak", description="Look for the leak in io.py."),
    ContinueSession(more=Budget(steps=20, wall_s=7200.0), guidance="g2", text="Use the training split."),
    GiveVerdict(step=3, value="mask", reason="reads the test split",
                author=Author(kind="judge", name="paper", version="1"), content=HASH),
    AddNote(step=3, text="here it turns", content=HASH,
            anchor=TextAnchor(part="action", action=1, name="command", start=4, exact="rm -r", suffix=" x")),
    SetTag(step=3, tag="turning-point", content=HASH),
    MergeOpinions(opinions=(Opinion(event=EVENT, content="sha256-of-the-step"),)),
    TellTime(seconds={3: 12.5, 4: 2.0}),
    Rescore(score=SubmissionRescored(ordinal=1, evaluator="evaluate.py", version="1e2d3c4b5a69", total=62.5,
                                     parts={"accuracy": 0.91}, message="Counts ties as right.")),
    ClearAttention(kind="loop"),
    SetThresholds(thresholds=Thresholds(errors=5, stall_min=30.0, diversity=0.3)),
    MakeQueue(name="First look 初看", sessions=("s1", "s2"), work=QueueWork(steps="some", count=20), filter="is:new"),
    ChangeQueue(add=("s3",), remove=("s1",), name="Second look", closed=True),
    TakeFromQueue(taken="s1", person="li"),
    GiveBack(given="s1"),
    FinishInQueue(finished="s1", done=False),
]


def frames() -> dict[str, str]:
    """The text of every golden file."""
    golden = {f"{tag(m)}.json": encode(m) for m in MESSAGES}
    for op in OPS:
        command = Command(id="m1", cseq=1, session="s1", op=op)  # type: ignore[arg-type]
        golden[f"op_{tag(op)}.json"] = encode(command)
    return golden


def tag(message: Wire | Op) -> str:
    """The word that names a message on the wire."""
    return str(message.__struct_config__.tag)


def test_there_is_one_file_per_message_and_operation() -> None:
    members = {*ToServer.__args__, *FromServer.__args__}  # type: ignore[attr-defined]
    expected = {f"{m.__struct_config__.tag}.json" for m in members}
    expected |= {f"op_{o.__struct_config__.tag}.json" for o in AnyOp.__args__}  # type: ignore[attr-defined]
    assert {p.name for p in FOLDER.iterdir()} == expected == set(frames())


@pytest.mark.parametrize("name", sorted(frames()))
def test_the_bytes_of_today_are_the_bytes_of_the_file(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8").rstrip("\n")
    assert frames()[name] == text
    decode = decode_from_server if _is_from_server(name) else decode_to_server
    assert encode(decode(text)) == text, "read and written again it is byte for byte the same"


def test_a_field_that_a_newer_version_adds_is_ignored() -> None:
    assert decode_to_server('{"type":"subscribe","session":"s","after":3,"new":{"a":[1]}}') == Subscribe(
        session="s", after=3)


def _is_from_server(name: str) -> bool:
    return name.removesuffix(".json") in {m.__struct_config__.tag for m in FromServer.__args__}  # type: ignore[attr-defined]


if __name__ == "__main__":
    for file, text in frames().items():
        (FOLDER / file).write_text(text + "\n", encoding="utf-8")
