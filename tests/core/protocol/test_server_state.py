"""The server's machine for one connection, rule by rule."""

from __future__ import annotations

import pytest

from core.domain.blob import blob_hash
from core.protocol.append_state import SendBlobs
from core.protocol.messages import (
    PROTOCOL,
    Append,
    Close,
    Command,
    Failed,
    Hello,
    Lease,
    Live,
    Seen,
    Subscribe,
    Unsubscribe,
    WantBlobs,
    WatchSessions,
    Wire,
)
from core.protocol.operations import Guide
from core.protocol.server_state import (
    CREDIT_BYTES,
    CREDIT_EVENTS,
    MAX_LIVE_CHARS,
    MAX_SUBSCRIPTIONS,
    Bucket,
    Credit,
    Follow,
    Hang,
    Say,
    ServerState,
    SessionCursor,
    Unfollow,
)

HELLO = Hello(protocol=PROTOCOL, client="c")


def greeted(*scopes: str) -> ServerState:
    state = ServerState(scopes or ("admin",))
    assert state.take(HELLO) == [HELLO]
    return state


def closed(effects: list[object]) -> int | None:
    return next((e.code for e in effects if isinstance(e, Hang)), None)


@pytest.mark.parametrize(("first", "code"), [
    (WatchSessions(), Close.BAD_FRAME),
    (Hello(protocol=PROTOCOL + 1, client="c"), Close.VERSION),
    (Hello(protocol=PROTOCOL, client="../c"), Close.BAD_FRAME),
    (Hello(protocol=PROTOCOL, client=""), Close.BAD_FRAME),
])
def test_a_connection_begins_with_a_good_hello(first: Wire, code: int) -> None:
    state = ServerState(("admin",))
    assert closed(state.take(first)) == code
    assert state.take(HELLO) == [], "nothing is heard after that"


def test_hello_is_said_once() -> None:
    assert closed(greeted().take(HELLO)) == Close.BAD_FRAME


def test_messages_become_effects() -> None:
    state = greeted()
    command = Command(id="m", cseq=1, session="s", op=Guide(guidance="g", text="x"))
    assert state.take(command) == [command]
    assert state.take(WatchSessions()) == [WatchSessions()]
    assert state.take(Subscribe(session="s", after=4)) == [Follow("s")]
    assert state.take(Subscribe(session="s", after=2)) == [Unfollow("s"), Follow("s")]
    assert state.take(Seen(session="s", seq=2)) == [], "nothing waits for credit"
    state.cursors["s"].advance(2 + CREDIT_EVENTS, 1)
    assert state.take(Seen(session="s", seq=3)) == [Credit("s")]
    assert state.take(Unsubscribe(session="s")) == [Unfollow("s")]
    assert state.take(Seen(session="s", seq=2)) == []
    assert state.take(WantBlobs(hashes=(blob_hash(b""),))) == [SendBlobs((blob_hash(b""),))]
    assert state.take(live := Live(session="s", channel="thought", text="x")) == [live]
    assert state.take(Live(session="s", channel="thought", text="x" * (MAX_LIVE_CHARS + 1))) == []


@pytest.mark.parametrize("message", [
    Subscribe(session="s", after=-1), Subscribe(session="../s"), WantBlobs(hashes=("zz",)),
])
def test_what_makes_no_sense_ends_the_connection(message: Wire) -> None:
    assert closed(greeted().take(message)) == Close.BAD_FRAME


def test_subscriptions_are_bounded() -> None:
    state = greeted()
    for n in range(MAX_SUBSCRIPTIONS):
        state.take(Subscribe(session=f"s{n}"))
    assert closed(state.take(Subscribe(session="more"))) == Close.SLOW_DOWN


@pytest.mark.parametrize(("message", "code"), [
    (Lease(session="s", journal="j"), Close.SCOPE),
    (Append(session="s", fence=1, first=1, bodies=()), Close.SCOPE),
    (Live(session="s", channel="c", text=""), Close.SCOPE),
    (Subscribe(session="s"), None),
    (WatchSessions(), None),
])
def test_a_foreign_agent_may_nothing(message: Wire, code: int | None) -> None:
    effects = greeted("agent:other").take(message)
    assert closed(effects) == code
    refusal = effects[0]
    assert isinstance(refusal, Say) and isinstance(refusal.message, Failed) and refusal.message.code == "missing_scope"


def test_credit_is_counted_in_events_and_in_bytes() -> None:
    cursor = SessionCursor(0)
    cursor.advance(CREDIT_EVENTS, 10)
    assert not cursor.may_send
    cursor.seen(500)
    assert not cursor.may_send or cursor.room == 500
    cursor.seen(CREDIT_EVENTS)
    cursor.advance(CREDIT_EVENTS + 1, CREDIT_BYTES)
    assert not cursor.may_send
    cursor.seen(CREDIT_EVENTS + 1)
    assert cursor.may_send


def test_seen_beyond_what_was_sent_gives_no_extra_credit() -> None:
    cursor = SessionCursor(0)
    cursor.seen(10**9)
    cursor.advance(CREDIT_EVENTS, 1)
    assert not cursor.may_send


def test_a_bucket_lets_a_burst_through_and_then_spaces_out() -> None:
    bucket = Bucket(10, 3)
    assert [bucket.wait(0.0) for _ in range(3)] == [0, 0, 0]
    assert bucket.wait(0.0) == pytest.approx(0.1)
    assert bucket.wait(10.0) == 0


def test_a_bucket_says_whether_there_is_a_turn_at_once() -> None:
    bucket = Bucket(10, 2)
    assert [bucket.take(0.0) for _ in range(4)] == [True, True, False, False]
    assert not bucket.take(0.05) and bucket.take(0.15), "who was refused owes nothing"
