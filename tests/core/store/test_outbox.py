"""The outbox: numbered without gaps, kept until answered, renewed when the server's memory is another."""

from datetime import timedelta

import pytest

from core.domain.errors import NotFound
from core.protocol.operations import Control, Guide
from core.store import commands, outbox
from core.store.schema import open_log


@pytest.fixture
def conn(tmp_path):
    conn = open_log(tmp_path / "a.db")
    yield conn
    conn.close()


def guide(conn, text, session="s"):
    return outbox.add(conn, session, Guide(guidance=f"g-{text}", text=text))


def test_commands_are_numbered_and_wait_in_order(conn, tmp_path):
    made = [guide(conn, t) for t in "abc"]
    assert [q.cseq for q in made] == [1, 2, 3] and len({q.id for q in made}) == 3
    again = open_log(tmp_path / "a.db")
    assert outbox.pending(again) == made and outbox.client_id(again) == outbox.client_id(conn)
    assert outbox.pending(conn, after=1, limit=1) == made[1:2]


def test_an_answer_is_kept_once(conn):
    a, b = guide(conn, "a"), guide(conn, "b")
    assert outbox.answered(conn, a.id, b"{}")
    assert outbox.answered(conn, b.id, b"no", refused=True)
    assert not outbox.answered(conn, b.id, b"{}"), "the first answer stands"
    assert not outbox.answered(conn, "not ours", b"{}")
    assert outbox.pending(conn) == []
    assert [(q.state, q.reply) for q in outbox.recent(conn)] == [("refused", b"no"), ("acked", b"{}")]
    assert guide(conn, "c").cseq == 3


def test_one_command_and_one_sessions_commands_are_found(conn):
    a, b = guide(conn, "a"), guide(conn, "b", session="t")
    assert outbox.get(conn, a.id) == a and outbox.recent(conn, "t") == [b]
    with pytest.raises(NotFound):
        outbox.get(conn, "none")


def test_renewing_sends_again_what_the_server_may_have_forgotten(conn, tmp_path):
    before = outbox.client_id(conn)
    acked, refused, waiting = guide(conn, "a"), guide(conn, "b"), guide(conn, "c")
    outbox.answered(conn, acked.id, b"{}")
    outbox.answered(conn, refused.id, b"no", refused=True)
    after = outbox.renew(conn)
    assert after == outbox.client_id(conn) != before
    assert [(q.cseq, q.id, q.op) for q in outbox.pending(conn)] == [(1, acked.id, acked.op),
                                                                     (2, waiting.id, waiting.op)]
    server = open_log(tmp_path / "server.db")
    for queued in outbox.pending(conn):
        assert commands.known(server, after, queued.id, queued.cseq, b"") is None
        commands.remember(server, after, queued.id, queued.cseq, b"", b"{}")
    assert guide(conn, "d").cseq == 3


def test_renewing_keeps_old_answers_out(conn):
    old = guide(conn, "a")
    outbox.answered(conn, old.id, b"{}")
    outbox.renew(conn, age=timedelta(seconds=-1))
    assert outbox.pending(conn) == outbox.recent(conn) == []
    assert outbox.add(conn, "s", Control(control="pause")).cseq == 1


def test_what_was_refused_outlives_any_number_of_renewals(conn):
    for text in "abc":
        outbox.answered(conn, guide(conn, text).id, b"no", refused=True)
        outbox.renew(conn)
    waiting = guide(conn, "d")
    assert waiting.cseq == 1 and outbox.pending(conn) == [waiting]
    assert [(q.op.text, q.state, q.reply) for q in outbox.recent(conn)] == [
        ("d", "queued", None), *((text, "refused", b"no") for text in "cba")]
    outbox.renew(conn, age=timedelta(seconds=-1))
    assert [q.op.text for q in outbox.recent(conn)] == ["d"], "but not for ever"


def test_a_draft_is_kept_replaced_and_cleared(conn):
    assert outbox.draft(conn, "s") == ""
    for text in ("half", "half a sentence", "另一个"):
        outbox.save_draft(conn, "s", text)
        assert outbox.draft(conn, "s") == text
    assert outbox.draft(conn, "t") == ""
    outbox.save_draft(conn, "s", "")
    assert outbox.draft(conn, "s") == ""


def test_what_waits_for_an_answer_is_told_however_much_was_answered_since(conn):
    [waiting, *answered] = [outbox.add(conn, "s", Guide(guidance=f"g{n}", text="x")) for n in range(6)]
    for queued in answered:
        outbox.answered(conn, queued.id, b"{}")
    assert [q.cseq for q in outbox.recent(conn, "s", limit=2)] == [6, 5, waiting.cseq]
