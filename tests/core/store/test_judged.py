"""The sum of what people say of each step equals what a fold of the whole log says, however the words came."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest

from core.domain.events import StepAdded, VerdictGiven, encode_event, make_event
from core.domain.head import make_head
from core.domain.progress import ANYBODY, Judged, Progress, StepWord, judgements, recount
from core.domain.step import Action, Observation, Output, StepBody
from core.domain.trajectory import fold
from core.domain.verdict import Author
from core.store import judged, log
from core.store.schema import open_log
from core.store.sqlite import Connection, transaction

AGENT = Author(kind="agent", name="runner")
PEOPLE = [Author(kind="person", name="li"), Author(kind="person", name="kim"), Author(kind="rule", name="r"),
          Author(kind="import", name="atif")]


def step(number: int, actions: int = 2, *, failed: bool = False, rewritten: bool = False) -> bytes:
    calls = tuple(Action(call_id=f"c{n}", tool="run_command", arguments={"command": "ls"}) for n in range(actions))
    seen = (Observation(call_id="c0", output=Output(text="x"), status="failed", exit_code=1),) if failed else ()
    body = StepBody(number=number, thought="t", actions=calls, observations=seen)
    return encode_event(make_event(StepAdded(head=make_head(body), body="0" * 64, is_rewritten=rewritten), AGENT))


def word(author: Author, number: int, value: str, action: int = 0) -> bytes:
    return encode_event(make_event(VerdictGiven(step=number, value=value, action=action), author))  # type: ignore[arg-type]


def by_fold(conn: Connection, session: str) -> dict[str, Progress]:
    """The same from the whole trajectory."""
    found: dict[str, Progress] = {}
    for entry in fold(session, log.read_all(conn, session)).steps:
        said = judgements(entry.verdicts.values(), len(entry.head.tools))
        found = recount(found, {}, {
            who: StepWord(one, entry.head.is_error, entry.head.is_report) for who, one in said.items()})
    return found


@pytest.fixture
def conn(tmp_path: Path) -> Connection:
    made = open_log(tmp_path / "server.db")
    with transaction(made):
        log.create(made, "s")
    return made


def add(conn: Connection, *bodies: bytes) -> dict[str, Progress]:
    with transaction(conn):
        log.append(conn, "s", bodies)
    return log.row(conn, "s").judged


def test_a_word_is_counted_once_replaced_and_taken_back(conn: Connection) -> None:
    li, kim = PEOPLE[:2]
    add(conn, step(1), step(2, failed=True), step(3))
    assert add(conn, word(li, 1, "keep"), word(li, 2, "unsure"))["person:li"] == Progress(
        steps=Judged(keep=1, unsure=1), errors=Judged(unsure=1))
    assert add(conn, word(li, 1, "mask"))["person:li"].steps == Judged(mask=1, unsure=1)
    both = add(conn, word(kim, 2, "keep"))
    assert both[ANYBODY].steps == Judged(mask=1, keep=1) and both["person:li"].steps.unsure == 1
    assert "person:kim" not in add(conn, word(kim, 2, "none"))


def test_answers_and_reports_are_counted_by_themselves_and_once_a_step(conn: Connection) -> None:
    li = PEOPLE[0]
    add(conn, step(1, 0), step(2, 0, failed=True), step(3), step(4, 0))
    assert (log.row(conn, "s").reports, log.row(conn, "s").errors) == (2, 1)
    assert add(conn, word(li, 1, "keep"), word(li, 2, "mask"), word(li, 3, "keep"))["person:li"] == Progress(
        steps=Judged(keep=2, mask=1), errors=Judged(mask=1), reports=Judged(keep=1))
    again = StepAdded(head=make_head(StepBody(number=4, actions=(Action(call_id="c", tool="ls", arguments={}),))),
                      body="0" * 64, is_report_counted=True)
    add(conn, encode_event(make_event(again, AGENT)))
    assert log.row(conn, "s").reports == 1, "of step 4 only its first words were there"
    assert add(conn, step(1, 1, rewritten=True)) == {"person:li": Progress(
        steps=Judged(keep=1, mask=1), errors=Judged(mask=1)), ANYBODY: Progress(
        steps=Judged(keep=1, mask=1), errors=Judged(mask=1))}


def test_a_step_of_which_one_action_is_judged_is_still_open(conn: Connection) -> None:
    li = PEOPLE[0]
    add(conn, step(1))
    assert add(conn, word(li, 1, "mask", action=1)) == {}
    assert add(conn, word(li, 1, "keep", action=2))["person:li"].steps == Judged(mask=1)
    assert add(conn, step(1, rewritten=True)) == {}, "what was said of another text is void"


def test_rules_are_not_counted_and_a_word_before_its_step_counts_when_that_comes(conn: Connection) -> None:
    assert add(conn, word(PEOPLE[2], 1, "mask"), word(PEOPLE[0], 2, "keep")) == {}
    assert add(conn, step(1), step(2))["person:li"].steps == Judged(keep=1)


@pytest.mark.parametrize("seed", range(8))
def test_any_order_of_words_and_tellings_sums_up_to_what_a_fold_says(conn: Connection, seed: int) -> None:
    chance = random.Random(seed)
    add(conn, *(step(n, chance.choice((0, 1, 2)), failed=chance.random() < 0.4) for n in range(1, 9)))
    for _ in range(60):
        author, number = chance.choice(PEOPLE), chance.randint(1, 10)
        bodies = [word(author, number, chance.choice(("keep", "mask", "unsure", "none")), chance.choice((0, 0, 1, 2)))]
        if chance.random() < 0.15:
            again = chance.randint(1, 10)
            bodies.append(step(again, 2, failed=chance.random() < 0.5, rewritten=chance.random() < 0.5))
        assert add(conn, *bodies) == by_fold(conn, "s")


def test_a_log_of_before_is_summed_up_when_it_is_asked_or_judged_again(conn: Connection) -> None:
    add(conn, step(1), step(2), word(PEOPLE[0], 1, "keep"))
    with transaction(conn):  # as the migration leaves it
        conn.execute("DELETE FROM judged_step")
        row = log.row(conn, "s")
        text = msgspec.json.encode(msgspec.structs.replace(row, judged={})).decode()
        conn.execute("UPDATE session SET row = ?", (text,))
        conn.execute("INSERT INTO uncounted VALUES ('s')")
    assert judged.uncounted(conn) == ["s"]
    with transaction(conn):
        log.count_judged(conn, "s")
    assert log.row(conn, "s").judged == by_fold(conn, "s") != {} and judged.uncounted(conn) == []
    with transaction(conn):
        conn.execute("INSERT INTO uncounted VALUES ('s')")
    assert add(conn, word(PEOPLE[1], 2, "mask")) == by_fold(conn, "s") and judged.uncounted(conn) == []
