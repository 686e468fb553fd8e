"""How the steps of two files lie to each other: by what they say, and by ids and times where there are any."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.domain.events import StepAdded, encode_event, make_event
from core.domain.head import make_head
from core.domain.step import StepBody, encode_body
from core.domain.verdict import Author
from core.formats.imported import SessionBuilder
from core.formats.run_alignment import StepSequence, align
from core.formats.session_span import is_own_name

START = datetime(2026, 1, 1, tzinfo=UTC)


def run(*steps, named="") -> StepSequence:
    """Steps of those thoughts; `named` gives them ids, or times."""
    blobs, bodies = {}, []
    for number, text in enumerate(steps, 1):
        body = StepBody(number=number, thought=text)
        name = SessionBuilder("x", "x", b"").blob(encode_body(body))
        blobs[name] = encode_body(body)
        at = START + timedelta(seconds=ord(text[0])) if named == "times" else None
        fact = StepAdded(head=make_head(body, started_at=at), body=name, item=text[0] if named == "ids" else "")
        bodies.append(encode_event(make_event(fact, Author(kind="import", name="x"))))
    return StepSequence(bodies, blobs.__getitem__)


TABLE = [("abc", "abc", "same", 3, False), ("abc", "ab", "same", 2, True), ("abc", "abcd", "grows", 3, False),
         ("abc", "abxy", "forks", 2, False), ("abc", "xyz", "apart", 0, False)]
INSIDE = [("abcd", "c", "same", 1, True), ("abcd", "cd", "same", 2, False), ("abcd", "cde", "grows", 2, False),
          ("abcd", "bx", "forks", 1, False), ("cd", "abcde", "holds", 0, False), ("bc", "abx", "holds", 0, False)]


@pytest.mark.parametrize("named", ["", "ids", "times"])
@pytest.mark.parametrize(("held", "new", "kind", "shared", "is_part"), TABLE)
def test_from_the_first_step_on(held, new, kind, shared, is_part, named) -> None:
    found = align(run(*held, named=named), run(*new, named=named))
    assert (found.kind, found.shift, found.shared, found.is_part) == (kind, 0, shared, is_part)


@pytest.mark.parametrize("named", ["ids", "times"])
@pytest.mark.parametrize(("held", "new", "kind", "shared", "is_part"), INSIDE)
def test_inside(held, new, kind, shared, is_part, named) -> None:
    found = align(run(*held, named=named), run(*new, named=named))
    assert (found.kind, found.shared, found.is_part) == (kind, shared, is_part)
    assert not shared or found.shift == held.index(new[0])


def test_steps_that_nothing_names_are_found_inside_only_several_in_a_row() -> None:
    assert align(run(*"abcdef"), run(*"de")).kind == "apart"
    assert align(run(*"abcdef"), run(*"def")).kind == "same"
    assert align(run(*"abcdef"), run(*"de"), is_within=True).kind == "same"


def test_ids_and_times_tell_equal_words_apart() -> None:
    for named in ("ids", "times"):
        one, two = run("a 1", "b 1", named=named), run("c 1", named=named)
        assert align(one, two).kind == "apart"
    same_words = run("x", named="ids"), run("x")
    assert align(*same_words).kind == "same", "one that has no id may be any"


def test_more_of_a_message_is_the_same_step() -> None:
    assert align(run("a", "b"), run("a", "b and more", "c")).kind == "grows"
    assert align(run("a", "b and more"), run("a", "b")).is_part
    assert align(run("a", "b and more", "c"), run("a", "b", "c")).kind == "forks", "only the last may be half written"
    assert align(run("a", "b end", named="ids"), run("b", named="ids")).shift == 1


def test_an_agent_that_does_the_same_all_day_holds_nothing_up() -> None:
    held, new = run("x", *["same"] * 6000), run(*["same"] * 3000, "y")
    assert align(held, new).kind == "forks"


@pytest.mark.parametrize(("name", "is_own"), [
    ("2f154f30-1320-4033-9298-457ccf4cd72a", True), ("00000000-0000-0000-0000-000000000000", False),
    ("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", False), ("session", False), ("", False)])
def test_names_that_a_program_made_up(name, is_own) -> None:
    assert is_own_name(name) is is_own
