"""Which sessions begin with a step is asked of an index: what that costs does not grow with the log."""

import pytest

from core.domain.events import StepAdded, encode_event, make_event
from core.domain.step import StepHead
from core.domain.verdict import Author
from core.store import log
from core.store.beginnings import begun_with
from core.store.schema import open_log
from core.store.sqlite import transaction

BY = Author(kind="import", name="x")
ODD = 'a"b\\c\u00e9\n"'


def told(number: int, body: str, item: str = "") -> bytes:
    head = StepHead(number=number, title='says "item":"i7" and "body":"b"', tools=(), family="other")
    return encode_event(make_event(StepAdded(head=head, body=body * 64, item=item), BY))


@pytest.fixture
def conn(tmp_path):
    with transaction(conn := open_log(tmp_path / "log.db")):
        for name, *steps in (("x-1", told(1, "a", "i7"), told(2, "b", "i8")), ("x-2", told(1, "a", "i7")),
                             ("x-3", told(1, "a")), ("x-4", told(1, "b", ODD)), ("x-5", told(1, "b", ODD + "more")),
                             ("y-1", told(1, "a", "i7"))):
            log.create(conn, name)
            log.append(conn, name, steps)
    yield conn
    conn.close()


def test_sessions_are_found_by_the_id_of_their_first_step_else_by_its_body(conn) -> None:
    def found(item: str = "", body: str = "", most: int = 9) -> list[str]:
        return begun_with(conn, "x-", "x.", item, body * 64, most)

    assert found("i7", "c") == ["x-1", "x-2"]
    assert found("i7", most=1) == ["x-1"]
    assert found("i8") == [], "a later step is no beginning"
    assert found(ODD) == ["x-4"] and found(ODD + "more") == ["x-5"]
    assert found(body="a") == ["x-1", "x-2", "x-3"]
    assert found(body="c") == []
    assert begun_with(conn, "y-", "y.", "i7", "", 9) == ["y-1"]


@pytest.mark.parametrize(("item", "body"), [("i7", ""), ("", "a" * 64), ("nowhere", "")])
def test_it_costs_the_same_among_thousands_of_others(conn, item, body) -> None:
    def work() -> int:
        done = 0

        def step() -> None:
            nonlocal done
            done += 1

        conn.set_progress_handler(step, 1)
        begun_with(conn, "x-", "x.", item, body, 9)
        conn.set_progress_handler(None, 1)
        return done

    few = work()
    with transaction(conn):
        for n in range(2_000):
            log.create(conn, f"x-z{n}")
            log.append(conn, f"x-z{n}", [told(1, "c", f"other{n}")])
    assert work() < few + 20, "a look at each would be thousands more"
