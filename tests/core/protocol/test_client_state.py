"""The client's machine, rule by rule."""

from __future__ import annotations

import msgspec
import pytest

from core.domain.blob import blob_hash
from core.protocol.client_effects import (
    Break,
    Compare,
    DropCopies,
    KeepBlob,
    Place,
    RenewIdentity,
    Send,
)
from core.protocol.client_state import (
    BLOBS_IN_FLIGHT,
    COMMANDS_IN_FLIGHT,
    HELD,
    SEEN_BYTES,
    SEEN_EVENTS,
    ClientState,
)
from core.protocol.frames import absent, pieces
from core.protocol.messages import (
    CAN_JUDGE_ACTIONS,
    PROTOCOL,
    Ack,
    Close,
    Command,
    Events,
    Failed,
    Leased,
    Seen,
    Subscribe,
    WantBlobs,
    Welcome,
)
from core.protocol.operations import GiveVerdict, Guide
from core.protocol.server_state import CREDIT_BYTES, CREDIT_EVENTS


def command(n: int) -> Command:
    return Command(id=f"m{n}", cseq=n, session="s", op=Guide(guidance=f"g{n}", text="x"))


def welcome(cseq: int = 0, epoch: str = "e") -> Welcome:
    return Welcome(protocol=PROTOCOL, epoch=epoch, cseq=cseq)


def events(first: int, count: int) -> Events:
    bodies = tuple(msgspec.Raw(str(n).encode()) for n in range(first, first + count))
    return Events(session="s", first=first, head=99, bodies=bodies)


def greeted(*waiting: Command, cseq: int = 0, watch: str = "") -> ClientState:
    state = ClientState("e", waiting)
    if watch:
        state.subscriptions.watch(watch, 0)
    state.welcomed(welcome(cseq), {})
    return state


def sent(effects: list[object]) -> list[object]:
    return [e.message for e in effects if isinstance(e, Send)]


def test_only_a_few_commands_are_in_flight_and_an_answer_makes_room() -> None:
    state = ClientState("e", [command(n) for n in range(1, 101)])
    flying = [m for m in sent(state.welcomed(welcome(), {})) if isinstance(m, Command)]
    assert [c.cseq for c in flying] == list(range(1, COMMANDS_IN_FLIGHT + 1))
    effects = state.take(Ack(id="m1", cseq=1))
    assert effects == [Ack(id="m1", cseq=1), Send(command(COMMANDS_IN_FLIGHT + 1))]
    assert state.take(Ack(id="m1", cseq=1)) == [], "a repeated answer"


def test_a_new_connection_sends_again_what_was_not_answered() -> None:
    state = greeted(command(1), command(2))
    state.take(Ack(id="m1", cseq=1))
    state.disconnected()
    assert [m for m in sent(state.welcomed(welcome(2), {})) if isinstance(m, Command)] == [command(2)]


@pytest.mark.parametrize(("held", "renews"), [(0, True), (3, True), (4, False), (9, False)])
def test_an_outbox_that_cannot_follow_what_the_server_holds_takes_a_new_identity(held: int, renews: bool) -> None:
    effects = ClientState("e", [command(5), command(6)]).welcomed(welcome(held), {})
    assert (RenewIdentity() in effects) == renews


def test_a_taken_number_renews_the_identity() -> None:
    failed = Failed(kind="Conflict", code="cseq_taken", sentence="")
    assert greeted(command(1)).take(failed) == [RenewIdentity(), failed]


def test_another_epoch_drops_the_copies_and_numbers_the_outbox_anew() -> None:
    assert ClientState("old", [command(1)]).welcomed(welcome(epoch="new"), {}) == [DropCopies("new", True)]
    assert ClientState("").welcomed(welcome(epoch="new"), {})[0] == DropCopies("new", False)


def test_credit_is_given_now_and_then_and_long_before_the_server_runs_out_of_it() -> None:
    state = greeted(watch="s")
    credits = []
    for first in range(1, 4 * CREDIT_EVENTS, 100):
        state.take(events(first, 100))
        credits += [e.message.seq for e in state.subscriptions.placed("s", first + 99)]  # type: ignore[union-attr]
    assert credits == list(range(SEEN_EVENTS, 4 * CREDIT_EVENTS + 1, SEEN_EVENTS)) and CREDIT_EVENTS >= 2 * SEEN_EVENTS
    large = Events(session="s", first=8001, head=8001, bodies=(msgspec.Raw(b'"' + b"x" * SEEN_BYTES + b'"'),))
    state.take(large)
    assert state.subscriptions.placed("s", 8001) == [Send(Seen(session="s", seq=8001))]
    assert state.subscriptions.placed("s", 8001) == [] and CREDIT_BYTES >= 2 * SEEN_BYTES


def test_events_are_taken_in_order_only() -> None:
    state = greeted(watch="s")
    assert state.take(events(1, 2)) == [Place("s", 1, (b"1", b"2"))]
    assert state.subscriptions.placed("s", 2) == [], "the server has credit enough"
    assert state.take(events(1, 2)) == [Send(Seen(session="s", seq=2))], "held already"
    assert state.take(events(2, 3)) == [Place("s", 3, (b"3", b"4"))], "the overlap is skipped"
    assert state.take(events(6, 1)) == [Break(Close.GAP, "expected 5")]


def test_events_of_a_session_that_is_not_watched_are_ignored() -> None:
    state = greeted(watch="s")
    state.subscriptions.unwatch("s")
    assert state.take(events(1, 1)) == []


def test_a_connection_resumes_after_what_is_on_disk() -> None:
    state = ClientState("e")
    state.subscriptions.watch("s", 3)
    assert Send(Subscribe(session="s", after=6)) in state.welcomed(welcome(), {"s": 7})
    assert state.take(events(7, 2)) == [Compare("s", 7, b"7"), Place("s", 8, (b"8",))], "is it still the same log?"
    assert state.take(events(8, 2)) == [Place("s", 9, (b"9",))], "once is enough"
    state.subscriptions.unwatch("s")
    assert state.subscriptions.watch("s", 9) == [Send(Subscribe(session="s", after=8))]
    assert state.take(events(9, 1)) == [Compare("s", 9, b"9"), Send(Seen(session="s", seq=9))]


def test_a_server_that_forgot_what_it_answered_is_told_again() -> None:
    for held, renews in ((3, True), (4, False)):
        assert (RenewIdentity() in ClientState("e", last=4).welcomed(welcome(held), {})) == renews


def test_a_copy_that_is_ahead_of_the_log_begins_again() -> None:
    state = greeted(watch="s")
    effects = state.take(Failed(kind="Conflict", code="ahead_of_log", sentence="", about="s"))
    assert Send(Subscribe(session="s", after=0)) in effects


def test_a_message_that_a_client_need_not_know_is_ignored() -> None:
    assert greeted().take(Leased(session="s", fence=1, next=1)) == []


def test_what_is_wanted_first_overtakes_and_what_is_dropped_is_not_asked_for() -> None:
    names = [blob_hash(bytes([n])) for n in range(BLOBS_IN_FLIGHT + 4)]
    state = greeted()
    waiting = names[BLOBS_IN_FLIGHT:]
    state.wants.want(names[:-1])
    assert state.wants.want([waiting[-1]], first=True) == []
    state.wants.drop([waiting[0], names[0], "unknown"])
    asked = [state.wants.take(next(iter(pieces(name, b""))))[-1] for name in names[:3]]
    assert asked == [Send(WantBlobs(hashes=(name,))) for name in (waiting[3], waiting[1], waiting[2])]


def test_payloads_are_asked_for_in_small_numbers_and_again_after_a_cut() -> None:
    data = {blob_hash(bytes([n])): bytes([n]) * 10 for n in range(BLOBS_IN_FLIGHT + 1)}
    names = list(data)
    state = greeted()
    assert sent(state.wants.want(names)) == [WantBlobs(hashes=tuple(names[:BLOBS_IN_FLIGHT]))]
    [frame] = pieces(names[0], data[names[0]])
    assert state.wants.take(frame) == [
        KeepBlob(names[0], data[names[0]]), Send(WantBlobs(hashes=(names[BLOBS_IN_FLIGHT],)))
    ]
    assert state.wants.take(frame) == [], "not asked for any more"
    assert state.wants.take(absent(names[1])) == [KeepBlob(names[1], None)]
    state.disconnected()
    state.welcomed(welcome(), {})
    assert state.wants.take(absent(names[2])) == [KeepBlob(names[2], None)]


def test_a_torn_payload_ends_the_connection() -> None:
    name, data = blob_hash(b"x"), bytes(600_000)
    state = greeted()
    state.wants.want([name])
    _, second, _ = pieces(name, data)
    assert state.wants.take(second) == [Break(Close.BAD_FRAME, "bad_frame")]


def test_an_older_server_is_not_asked_to_judge_an_action_and_nothing_overtakes_that_verdict():
    """It ignores the field `action`, so that it would judge the whole step."""
    ops = (GiveVerdict(step=1, value="keep"), GiveVerdict(step=1, action=2, value="mask"), command(3).op)
    waiting = tuple(Command(id=f"m{n}", cseq=n, session="s", op=op) for n, op in enumerate(ops, 1))
    state = ClientState("e", waiting)
    effects = state.welcomed(welcome(), {})
    assert [m.cseq for m in sent(effects) if isinstance(m, Command)] == [1]
    [shown] = [e for e in effects if isinstance(e, Failed)]
    assert shown.code == HELD and shown.about == "s" and "until the server is updated" in shown.sentence
    assert state.sender.add(command(4)) == [], "what comes later waits behind it"
    state.disconnected()
    newer = msgspec.structs.replace(welcome(), capabilities=(CAN_JUDGE_ACTIONS,))
    assert [m.cseq for m in sent(state.welcomed(newer, {})) if isinstance(m, Command)] == [1, 2, 3, 4]
