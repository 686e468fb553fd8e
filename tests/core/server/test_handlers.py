"""Commands against a real database: effect, events and stored answer in one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from support.wire import AGENT, bodies_of

from core.domain.attention import Thresholds
from core.domain.errors import Conflict, NotFound
from core.domain.events import (
    ActionAsked,
    AttentionCleared,
    AttentionRaised,
    Branched,
    ControlAsked,
    Fact,
    GuidanceChangeAsked,
    GuidanceChangeRefused,
    GuidanceDelivered,
    GuidanceEdited,
    GuidanceWithdrawn,
    HandedBack,
    SessionCreated,
    SessionState,
    SessionStateChanged,
    SnapshotTaken,
    StepAdded,
    TakeoverAsked,
    ThresholdsSet,
    TimeSpent,
    VerdictGiven,
    decode_event,
    encode_event,
    make_event,
)
from core.domain.step import StepHead
from core.domain.task import AgentSettings, Budget, ModelSettings, Task
from core.domain.verdict import Author
from core.protocol.messages import Ack, Command, Nak
from core.protocol.operations import (
    Act,
    AddNote,
    AnyOp,
    BranchSession,
    CallSubagent,
    ChangeGuidance,
    ClearAttention,
    ContinueSession,
    Control,
    CreateSession,
    GiveVerdict,
    Guide,
    HandBack,
    ImportSession,
    MergeOpinions,
    Opinion,
    SetTag,
    SetThresholds,
    TakeOver,
    TellTime,
)
from core.server import called, handlers, lifecycle
from core.server.called import end_orphan
from core.server.handlers import answer_command
from core.server.lookups import Lookups
from core.server.record import SERVER, write
from core.store import log
from core.store.accounts import Principal
from core.store.schema import open_log
from core.store.sqlite import Connection, transaction

TASK = Task(id="t", title="Title", description="d")
SUGGESTED = AgentSettings(model=ModelSettings(kind="scripted", name="suggested"))
ADMIN = Principal(name="li", scopes=("admin",))
GUIDE = Principal(name="wang", scopes=("guide",))


class Bench:
    """A database, and the commands of one client against it."""

    def __init__(self, path: Path) -> None:
        self.conn: Connection = open_log(path)
        self.alive = False
        self.snapshots: set[str] = set()
        self.cseq = 0

    def find_task(self, task: str) -> tuple[Task, AgentSettings]:
        if task != TASK.id:
            raise NotFound("no_task", f"There is no task {task}.")
        return TASK, SUGGESTED

    def ask(
        self, op: AnyOp, session: str = "s", principal: Principal = ADMIN, cseq: int = 0, id: str = "",
        again: bool = False,
    ) -> Ack | Nak:
        self.cseq = cseq or self.cseq + 1
        command = Command(id=id or f"m{self.cseq}", cseq=self.cseq, session=session, op=op, again=again)
        lookups = Lookups(find_task=self.find_task, is_alive=lambda _: self.alive,
                          snapshots=lambda _: self.snapshots)
        with transaction(self.conn):
            return answer_command(self.conn, "c", principal, command, lookups)

    def refused(self, op: AnyOp, **more: object) -> str:
        reply = self.ask(op, **more)  # type: ignore[arg-type]
        assert isinstance(reply, Nak), reply
        return reply.code

    def write(self, *facts: Fact) -> None:
        with transaction(self.conn):
            log.append(self.conn, "s", [encode_event(make_event(f, AGENT)) for f in facts])

    def facts(self, session: str = "s") -> list[Fact]:
        return [decode_event(p.body).fact for p in log.read_all(self.conn, session)]

    @property
    def state(self) -> str:
        return log.row(self.conn, "s").state


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path / "server.db")
    yield made
    made.conn.close()


@pytest.fixture
def session(bench: Bench) -> Bench:
    assert isinstance(bench.ask(CreateSession(task="t")), Ack)
    return bench


def test_a_session_is_made_from_the_catalogue_as_its_file_suggests(session: Bench) -> None:
    assert session.facts() == [SessionCreated(task=TASK, agent=SUGGESTED)]
    assert session.refused(CreateSession(task="t")) == "session_exists"
    assert session.refused(CreateSession(task="other"), session="s2") == "no_task"
    assert session.refused(CreateSession(task="t"), session="../s") == "bad_id"
    assert [r.session for r in log.rows(session.conn)] == ["s"], "a refused command leaves nothing"


def test_a_repeat_gets_the_stored_answer_and_no_second_effect(session: Bench) -> None:
    first = session.ask(Guide(guidance="g", text="x"))
    assert session.ask(Guide(guidance="g", text="x"), cseq=session.cseq) == first
    assert len(session.facts()) == 2
    with pytest.raises(Conflict, match="follows"):
        session.ask(Guide(guidance="h", text="x"), cseq=session.cseq + 2)
    session.cseq = 2
    assert session.refused(Guide(guidance="h", text="other"), cseq=2, id="m2") == "command_reused"
    with pytest.raises(Conflict) as taken:
        session.ask(Guide(guidance="h", text="x"), cseq=2, id="another")
    assert taken.value.code == "cseq_taken"


def test_guidance_is_checked_before_it_enters_the_log(session: Bench) -> None:
    assert session.refused(Guide(guidance="g", text="  ")) == "empty_text"
    assert session.refused(Guide(guidance="g", text="x" * 40_000)) == "text_too_long"
    assert session.refused(Guide(guidance="../g", text="x")) == "bad_id"
    assert session.refused(Guide(guidance="g", text="x"), session="none") == "no_session"
    session.ask(Guide(guidance="kept", text="x"))
    assert session.refused(ChangeGuidance(guidance="kept", text="\n")) == "empty_text"
    assert session.refused(ChangeGuidance(guidance="kept", text="x" * 40_000)) == "text_too_long"
    session.write(SessionStateChanged(state="running"), SessionStateChanged(state="finished"))
    assert session.refused(Guide(guidance="g", text="x")) == "session_over"


def test_the_author_is_the_holder_of_the_token(session: Bench) -> None:
    session.ask(Guide(guidance="g", text="x"), principal=GUIDE)
    [*_, last] = log.read_all(session.conn, "s")
    assert last.event.author == Author(kind="person", name="wang")


def test_a_change_is_asked_of_a_runner_that_may_still_come(session: Bench) -> None:
    session.ask(Guide(guidance="g", text="x"))
    reply = session.ask(ChangeGuidance(guidance="g", text="y"), id="change-1")
    assert isinstance(reply, Ack)
    assert session.facts()[-1] == GuidanceChangeAsked(guidance="g", request="change-1", text="y")
    assert session.refused(ChangeGuidance(guidance="never")) == "no_guidance"


def test_a_change_after_delivery_is_refused_with_the_step(session: Bench) -> None:
    session.ask(Guide(guidance="g", text="x"))
    session.write(GuidanceDelivered(guidance="g", step=7))
    reply = session.ask(ChangeGuidance(guidance="g"))
    assert isinstance(reply, Nak) and (reply.code, reply.params["step"]) == ("already_delivered", 7)


@pytest.mark.parametrize("final", ["stopped", "failed"])
def test_the_server_decides_where_no_runner_comes_any_more(session: Bench, final: SessionState) -> None:
    session.ask(Guide(guidance="g", text="x"))
    session.write(SessionStateChanged(state="running"), SessionStateChanged(state=final))
    session.ask(ChangeGuidance(guidance="g", text="y"), id="r1")
    session.ask(ChangeGuidance(guidance="g"), id="r2")
    assert session.facts()[-2:] == [GuidanceEdited(guidance="g", text="y", request="r1"),
                                    GuidanceWithdrawn(guidance="g", request="r2")]
    assert session.refused(ChangeGuidance(guidance="g")) == "already_withdrawn"


def test_a_runner_that_died_with_more_in_its_journal_still_decides_when_it_is_resumed(session: Bench) -> None:
    session.ask(Guide(guidance="g", text="x"))
    with transaction(session.conn):
        log.lease(session.conn, "s", "j")
    session.write(SessionStateChanged(state="running"))
    with transaction(session.conn):
        write(session.conn, "s", SessionStateChanged(state="failed", reason="runner_died"), SERVER)
    session.ask(ChangeGuidance(guidance="g"), id="r1")
    assert session.facts()[-1] == GuidanceChangeAsked(guidance="g", request="r1")
    session.ask(Control(control="resume"))
    session.write(GuidanceDelivered(guidance="g", step=3), GuidanceChangeRefused(guidance="g", request="r1", step=3))
    assert log.row(session.conn, "s").guidance_waiting == 0


def test_a_living_runner_is_asked(session: Bench) -> None:
    session.alive = True
    for control in ("pause", "resume", "interrupt", "stop"):
        assert isinstance(session.ask(Control(control=control)), Ack)  # type: ignore[arg-type]
    assert [f.control for f in session.facts() if isinstance(f, ControlAsked)] == [
        "pause", "resume", "interrupt", "stop"]
    assert session.state == "queued", "the runner says when it obeyed"


def test_for_a_dead_runner_the_server_acts(session: Bench) -> None:
    assert session.refused(Control(control="interrupt")) == "no_runner"
    assert session.refused(Control(control="resume")) == "wrong_state"
    session.ask(Control(control="pause"))
    assert session.state == "paused"
    assert session.refused(Control(control="pause")) == "wrong_state"
    session.ask(Control(control="resume"))
    assert session.state == "running"
    session.ask(Control(control="stop"))
    assert session.state == "stopped"
    assert session.refused(Control(control="stop")) == "session_over"
    session.ask(Control(control="resume"))
    assert session.state == "queued", "supervision starts it again"


def test_an_import_is_made_room_for_once_and_cannot_be_steered(session: Bench) -> None:
    assert isinstance(session.ask(ImportSession(origin="atif"), session="i"), Ack)
    assert isinstance(session.ask(ImportSession(origin="atif"), session="i"), Ack)
    assert session.refused(ImportSession(origin="atif")) == "session_exists"
    assert session.refused(ImportSession(origin="live"), session="j") == "bad_origin"
    with transaction(session.conn):
        made = make_event(SessionCreated(task=TASK, origin="atif"), Author(kind="import", name="atif"))
        log.append(session.conn, "i", [encode_event(made)])
    assert session.refused(Control(control="stop"), session="i") == "imported"
    assert session.refused(SetThresholds(thresholds=Thresholds(errors=7)), session="i") == "imported"
    assert session.refused(Guide(guidance="g", text="x"), session="i") == "session_over"


def test_an_import_is_hidden_until_all_of_it_is_there_however_often_it_is_begun(session: Bench) -> None:
    def until() -> int:
        return log.row(session.conn, "i").hidden_until

    made = make_event(SessionCreated(task=TASK, origin="atif"), Author(kind="import", name="atif"))
    session.ask(ImportSession(origin="atif", events=2), session="i")
    with transaction(session.conn):
        log.append(session.conn, "i", [encode_event(made)])
    assert until() == 2 and log.row(session.conn, "i").is_hidden
    session.ask(ImportSession(origin="atif", events=3), session="i")  # killed meanwhile, and the file has grown
    assert until() == 3 and log.row(session.conn, "i").is_hidden
    with transaction(session.conn):
        log.append(session.conn, "i", bodies_of(2))
    session.ask(ImportSession(origin="atif", events=9), session="i")
    assert until() == 3 and not log.row(session.conn, "i").is_hidden, "what was shown stays in the lists"


def test_only_followed_files_are_settled_at_the_start(session: Bench) -> None:
    for name, reason in (("grown", "file_grows"), ("told", "as_the_file_says")):
        session.ask(ImportSession(origin="atif"), session=name)
        facts = (SessionCreated(task=TASK, origin="atif"), SessionStateChanged(state="running", reason=reason))
        with transaction(session.conn):
            log.append(session.conn, name, [encode_event(make_event(f, AGENT)) for f in facts])
    with transaction(session.conn):
        lifecycle.settle_imports(session.conn)
    assert [log.row(session.conn, name).state for name in ("grown", "told")] == ["stopped", "running"]


def test_opinions_of_nobody_who_has_any_are_not_merged(session: Bench) -> None:
    session.write(StepAdded(head=StepHead(number=1), body="1e" * 32))

    def merging(fact: Fact, author: Author) -> MergeOpinions:
        event = msgspec.Raw(encode_event(make_event(fact, author)))
        return MergeOpinions(opinions=(Opinion(event=event, content="1e" * 32),))

    verdict, person = VerdictGiven(step=1, value="keep"), Author(kind="person", name="wu")
    for author in (AGENT, SERVER, Author(kind="import", name="atif")):
        assert session.refused(merging(verdict, author)) == "bad_opinion"
    assert session.refused(merging(SessionStateChanged(state="finished"), person)) == "bad_opinion"
    assert session.refused(merging(verdict, person), principal=GUIDE) == "missing_scope"
    assert isinstance(session.ask(merging(verdict, person)), Ack)


def test_review_is_checked_against_the_steps_that_there_are(session: Bench) -> None:
    session.write(StepAdded(head=StepHead(number=1), body="1e" * 32), AttentionRaised(kind="loop"))
    judge = Author(kind="judge", name="paper", version="1")
    assert isinstance(session.ask(GiveVerdict(step=1, value="mask", reason="blind", author=judge)), Ack)
    [*_, last] = log.read_all(session.conn, "s")
    assert (last.event.author, last.event.fact) == (judge, VerdictGiven(step=1, value="mask", reason="blind"))
    person = Author(kind="person", name="somebody else")
    assert session.refused(GiveVerdict(step=1, value="keep", author=person)) == "bad_author"
    assert session.refused(GiveVerdict(step=0, value="keep")) == "no_step"
    assert session.refused(GiveVerdict(step=1, action=1, value="keep")) == "no_action"
    assert session.refused(GiveVerdict(step=1, action=-1, value="keep")) in ("no_action", "bad_event")
    session.write(StepAdded(head=StepHead(number=1, tools=("run_command", "eval")), body="1e" * 32))
    assert isinstance(session.ask(GiveVerdict(step=1, action=2, value="keep")), Ack)
    assert session.refused(GiveVerdict(step=1, action=3, value="keep")) == "no_action"
    assert session.refused(AddNote(step=2, text="x")) == "no_step"
    assert isinstance(session.ask(AddNote(step=0, text="x")), Ack)
    assert session.refused(SetTag(step=1, tag="")) == "bad_tag"
    assert isinstance(session.ask(SetTag(step=1, tag="转折点")), Ack)
    assert isinstance(session.ask(ClearAttention(kind="loop")), Ack)
    assert session.facts()[-1] == AttentionCleared(kind="loop")
    assert session.refused(ClearAttention(kind="loop")) == "no_attention"
    assert isinstance(session.ask(SetThresholds(thresholds=Thresholds(errors=7))), Ack)
    assert session.facts()[-1] == ThresholdsSet(thresholds=Thresholds(errors=7))
    assert session.refused(SetThresholds(thresholds=Thresholds(budget=2.0))) == "bad_thresholds"


def test_a_defect_of_ours_blocks_nothing(session: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> dict[str, object]:
        log.append(session.conn, "s", bodies_of(1))
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(handlers.guidance, "guide", broken)
        assert session.refused(Guide(guidance="g", text="x")) == "internal"
    assert len(session.facts()) == 1, "no half of it stays"
    assert isinstance(session.ask(Guide(guidance="g", text="x")), Ack)


def test_active_time_is_told_by_step_within_bounds(session: Bench) -> None:
    session.write(StepAdded(head=StepHead(number=1), body="1e" * 32))
    assert session.refused(TellTime(seconds={})) == "bad_time"
    assert session.refused(TellTime(seconds={1: 0.0})) == "bad_time"
    assert session.refused(TellTime(seconds={1: 1e9})) == "bad_time"
    assert session.refused(TellTime(seconds={99: 1.0})) == "no_step"
    assert isinstance(session.ask(TellTime(seconds={1: 12.5})), Ack)
    assert session.facts()[-1] == TimeSpent(seconds={1: 12.5})


def test_an_opinion_is_taken_only_on_what_the_person_saw(session: Bench) -> None:
    """A half-written answer grows while a verdict is on its way: what came since was judged by nobody."""
    first, result, rewritten = "1e" * 32, "2e" * 32, "3e" * 32
    session.write(StepAdded(head=StepHead(number=1, tools=("run_command",)), body=first))
    session.write(StepAdded(head=StepHead(number=1, tools=("run_command",)), body=result))
    assert isinstance(session.ask(GiveVerdict(step=1, value="keep", content=first)), Ack), "only a result came"
    session.write(StepAdded(head=StepHead(number=1, tools=("run_command", "eval")), body=rewritten, is_rewritten=True))
    for content in (first, result, "4e" * 32):
        for op in (GiveVerdict(step=1, value="mask", content=content), AddNote(step=1, text="x", content=content),
                   GiveVerdict(step=1, action=1, value="mask", content=content),
                   SetTag(step=1, tag="x", content=content)):
            assert session.refused(op) == "step_changed"
    assert isinstance(session.ask(GiveVerdict(step=1, value="mask", content=rewritten)), Ack)
    assert isinstance(session.ask(GiveVerdict(step=1, value="keep")), Ack), "an older client does not say what it saw"


def test_a_restored_log_takes_what_was_judged_of_text_that_is_still_to_come(session: Bench) -> None:
    old, new, lost = "1e" * 32, "2e" * 32, "3e" * 32
    session.write(StepAdded(head=StepHead(number=1), body=old),
                  StepAdded(head=StepHead(number=1), body=new, is_rewritten=True))
    assert session.refused(GiveVerdict(step=1, value="keep", content=old), again=True) == "step_changed"
    assert isinstance(session.ask(GiveVerdict(step=1, value="keep", content=lost), again=True), Ack)
    assert isinstance(session.ask(GiveVerdict(step=2, value="keep", content=lost), again=True), Ack)


def test_a_session_that_ended_continues_with_more_to_use_and_advice_or_not_at_all(session: Bench) -> None:
    assert session.refused(ContinueSession()) == "not_over"
    session.write(SessionStateChanged(state="running"), StepAdded(head=StepHead(number=7), body="0" * 64),
                  SessionStateChanged(state="finished", reason="limit_steps"))
    held = len(session.facts())
    assert session.refused(ContinueSession(more=Budget(wall_s=60.0))) == "limit_stands"
    assert session.refused(ContinueSession(more=Budget(steps=5), guidance="g", text=" \n")) == "empty_text"
    assert len(session.facts()) == held, "neither half is done alone"
    assert isinstance(session.ask(ContinueSession(more=Budget(steps=5), guidance="g", text="go on"), id="m"), Ack)
    assert session.ask(ContinueSession(more=Budget(steps=5), guidance="g", text="go on"), id="m", cseq=session.cseq)
    row = log.row(session.conn, "s")
    assert (row.state, row.reason, row.guidance_waiting) == ("queued", "continued_by_person", 1)
    assert row.limits is not None and row.limits.steps == 12
    assert len(session.facts()) == held + 2, "once, however often it is asked"
    session.ask(ImportSession(origin="atif"), session="i")
    assert session.refused(ContinueSession(), session="i") == "imported"


def test_a_runner_makes_no_sessions_without_end(session: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(called, "MOST_SUBAGENTS", 2)
    op = CallSubagent(caller="s", step=1)
    for number in (1, 2, 1):
        assert isinstance(session.ask(op, session=f"s.sub.{number}"), Ack)
    assert session.refused(op, session="s.sub.3") == "too_many_subagents"


def test_a_subagent_is_made_under_its_callers_name_and_asked_little_by_itself(session: Bench) -> None:
    session.write(SessionStateChanged(state="running"))
    op = CallSubagent(caller="s", step=2, title="Look", description="Look at it.")
    for _ in range(2):
        assert isinstance(session.ask(op, session="s.sub.1"), Ack)
    created, _ = session.facts("s.sub.1")
    assert isinstance(created, SessionCreated) and created.task.description == "Look at it."
    row = log.row(session.conn, "s.sub.1")
    assert (row.caller, row.caller_step, row.parent, row.title) == ("s", 2, "", "Look")
    below = CallSubagent(caller="s.sub.1", step=1)
    assert isinstance(session.ask(below, session="s.sub.2"), Ack)
    assert session.refused(op, session="t.sub.1") == session.refused(op, session="s2") == "bad_id"
    assert session.refused(CallSubagent(caller="t", step=1), session="t.sub.1") == "no_session"
    assert session.refused(CreateSession(task="t"), session="s.sub.9") == "bad_id"
    assert isinstance(session.ask(Control(control="pause"), session="s.sub.1"), Ack)
    assert session.refused(Control(control="stop"), session="s.sub.1") == "subagent"
    with transaction(session.conn):
        end_orphan(session.conn, "s.sub.1")
    assert log.row(session.conn, "s.sub.1").state == "paused", "its caller is at work"
    session.write(SessionStateChanged(state="failed", reason="runner_died"))
    with transaction(session.conn):
        end_orphan(session.conn, "s.sub.1")
    assert log.row(session.conn, "s.sub.1").reason == "caller_ended"
    assert session.refused(ContinueSession(), session="s.sub.1") == "subagent"


def test_a_branch_has_the_advice_of_its_past_and_no_other(session: Bench) -> None:
    session.write(SessionStateChanged(state="running"))
    for name, step in (("early", 1), ("asked", 3), ("late", 4)):
        session.ask(Guide(guidance=name, text=name))
        session.write(GuidanceDelivered(guidance=name, step=step))
    session.write(*(StepAdded(head=StepHead(number=n), body="0" * 64) for n in range(1, 5)),
                  SnapshotTaken(step=1, id="one"), SnapshotTaken(step=3, id="not-here"))
    session.snapshots = {"one"}
    op = BranchSession(parent="s", step=2, text="another", guidance="new", group="q", arm="a")
    assert isinstance(session.ask(op, session="b"), Ack)
    created, branched, *guided = session.facts("b")
    assert isinstance(created, SessionCreated) and isinstance(branched, Branched)
    assert (branched.base, branched.snapshot, branched.replays) == (1, "one", True), "the newest that is here"
    assert [f.guidance for f in guided] == ["asked", "new"] and branched.due == {"asked": 3, "new": 3}
    row = log.row(session.conn, "b")
    assert (row.parent, row.parent_step, row.group, row.arm, row.state) == ("s", 2, "q", "a", "queued")
    without = BranchSession(parent="s", step=2, without=("asked",))
    assert isinstance(session.ask(without, session="c"), Ack) and len(session.facts("c")) == 2
    assert session.refused(BranchSession(parent="s", step=3, without=("asked",)), session="d") == "guidance_given"
    assert session.refused(BranchSession(parent="s", step=9), session="d") == "no_step"
    assert session.refused(BranchSession(parent="s", step=1, without=("x",)), session="d") == "no_guidance"
    assert session.refused(BranchSession(parent="b", step=0), session="d") == "step_of_parent"
    own = BranchSession(parent="s", step=1, model=ModelSettings(kind="scripted", name="own"))
    assert session.refused(own, session="d", principal=GUIDE) == "missing_scope"
    assert session.refused(BranchSession(parent="s", step=1), session="c") == "session_exists"
    assert not log.knows(session.conn, "d"), "what is refused leaves nothing"


def test_who_has_taken_over_acts_and_nobody_else(session: Bench) -> None:
    ann = Principal(name="ann", scopes=("view", "guide"))
    act = Act(tool="act", arguments='{"command":"north"}')
    assert session.refused(act) == session.refused(HandBack()) == "not_taken_over"
    assert session.refused(TakeOver(), principal=Principal(name="kim", scopes=("view", "review"))) == "missing_scope"
    session.ask(TakeOver(idle_s=60), principal=ann, id="t1")
    assert log.row(session.conn, "s").held_by == "ann" and session.refused(act) == "not_taken_over"
    assert isinstance(session.ask(act, principal=ann, id="a1"), Ack)
    assert session.refused(Act(tool="act", arguments="[]"), principal=ann) == "bad_action"
    assert session.facts()[-2:] == [TakeoverAsked(idle_s=60), ActionAsked(tool="act", arguments=act.arguments)]
    session.ask(HandBack(), principal=ann)
    session.write(HandedBack(step=2, reason="asked"))
    assert log.row(session.conn, "s").held_by == "" and session.refused(act, principal=ann) == "not_taken_over"
    session.ask(TakeOver(), principal=ann)
    session.write(SessionStateChanged(state="running"), SessionStateChanged(state="finished"))
    assert log.row(session.conn, "s").held_by == "" and session.refused(TakeOver(), principal=ann) == "session_over"
