"""A command is carried out once, in its client's order, and a repeat gets the same answer."""

import pytest

from core.domain.errors import Conflict
from core.store import commands
from core.store.schema import open_log
from core.store.sqlite import connect


@pytest.fixture
def conn(tmp_path):
    conn = open_log(tmp_path / "a.db")
    for cseq in (1, 2):
        assert commands.known(conn, "c", f"id{cseq}", cseq, b"body") is None
        commands.remember(conn, "c", f"id{cseq}", cseq, b"body", b"reply %d" % cseq)
    yield conn
    conn.close()


def code_of(conn, *arguments):
    with pytest.raises(Conflict) as caught:
        commands.known(conn, *arguments)
    return caught.value.code, caught.value.params.get("expect")


def test_a_repeat_gets_the_stored_reply_even_after_a_restart(conn, tmp_path):
    again = connect(tmp_path / "a.db", readonly=True)
    assert commands.known(again, "c", "id1", 1, b"body") == b"reply 1"
    assert commands.known(again, "c", "id2", 2, b"body") == b"reply 2"
    assert commands.last_cseq(again, "c") == 2 and commands.last_cseq(again, "other") == 0


def test_the_same_id_with_another_content_is_refused(conn):
    assert code_of(conn, "c", "id1", 1, b"another") == ("command_reused", None)


def test_numbers_have_no_gaps_and_are_not_given_twice(conn):
    assert code_of(conn, "c", "id4", 4, b"body") == ("cseq_gap", 3)
    assert code_of(conn, "c", "new", 2, b"body") == ("cseq_taken", 3)
    assert code_of(conn, "other", "x", 2, b"body") == ("cseq_gap", 1)
    assert commands.known(conn, "c", "id3", 3, b"body") is None


def test_an_outbox_that_was_numbered_anew_repeats_without_harm(conn):
    """A renewed client sends old commands under their ids and new numbers (`outbox.renew`)."""
    assert commands.known(conn, "renewed", "id2", 1, b"body") == b"reply 2"
    assert commands.last_cseq(conn, "renewed") == 1
    assert commands.known(conn, "renewed", "id2", 1, b"body") == b"reply 2"
    assert commands.known(conn, "renewed", "fresh", 2, b"body") is None
