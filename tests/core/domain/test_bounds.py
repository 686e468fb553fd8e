"""No number, text or list of an event, an operation or a message is without a bound, and each bound holds."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest
from msgspec import inspect
from support.extremes import Extremes, outside, smallest, unbounded
from support.tally import tally

from core.domain.attention import Thresholds
from core.domain.bounds import MOST_ITEMS, WHOLE
from core.domain.errors import InvalidInput
from core.domain.events import FACT_KINDS, StepAdded, UnknownFact, decode_event, decode_stored, encode_event, make_event
from core.domain.events.event import Event
from core.domain.head import make_head
from core.domain.session import SessionRow, decode_row
from core.domain.step import Action, Observation, Output, StepBody, Usage
from core.domain.verdict import Author
from core.protocol.messages import FromServer, ToServer
from core.protocol.operations import AnyOp

AUTHOR = Author(kind="agent", name="x")
MESSAGES = [*ToServer.__args__, *FromServer.__args__, *AnyOp.__args__]  # type: ignore[attr-defined]
SEED = 11


@pytest.mark.parametrize("kind", [*FACT_KINDS.values(), *MESSAGES, SessionRow, Author, Thresholds],
                         ids=lambda kind: kind.__name__)
def test_no_field_is_without_a_bound(kind):
    assert list(unbounded(inspect.type_info(kind))) == []


def test_the_envelope_of_an_event_is_bounded():
    fields = {f.name: f.type for f in inspect.type_info(Event).fields if f.name != "fact"}
    assert not [where for name, type_ in fields.items() for where in unbounded(type_, name)]


def test_a_field_without_a_bound_is_found():
    loose = msgspec.defstruct("Loose", [("a", int), ("b", dict[str, list[float]]), ("c", datetime)])
    assert len(list(unbounded(inspect.type_info(loose)))) == 6


def event_of(fact: object, **envelope: object) -> bytes:
    return msgspec.json.encode({"id": "e", "at": datetime(2026, 1, 1, tzinfo=UTC), "author": AUTHOR, "fact": fact,
                                **envelope})


def is_refused(body: bytes) -> bool:
    try:
        decode_event(body)
    except InvalidInput as error:
        return error.code == "bad_event"
    return False


@pytest.mark.parametrize("kind", FACT_KINDS.values(), ids=lambda kind: kind.__name__)
def test_what_is_beyond_a_bound_is_refused_and_kept_as_it_is(kind):
    assert not is_refused(event_of(smallest(kind)))
    tried, taken = 0, []
    for where, fact in outside(kind):
        body = event_of(fact)
        tried += 1
        taken += [] if is_refused(body) else [where]
        if len(body) < 10_000:
            held = decode_stored(body)
            assert isinstance(held.fact, UnknownFact) and held.fact.kind == fact["type"] and held.id == "e"
    tally("Events beyond one bound, decoded", max(tried, 1), taken)


@pytest.mark.parametrize("envelope", [
    {"id": "x" * 201}, {"author": {"kind": "agent", "name": "x" * 501}}, {"at": "2026-01-01T00:00:00"},
    {"author": {"kind": "person", "name": "x", "version": "x" * 201}}, {"at": "10000-01-01T00:00:00Z"}, {"at": 1e300},
])
def test_the_envelope_has_bounds_too(envelope):
    body = event_of(smallest(FACT_KINDS["note_added"]), **envelope)
    assert is_refused(body)
    assert isinstance(decode_stored(body).fact, UnknownFact)


@pytest.mark.parametrize("kind", FACT_KINDS.values(), ids=lambda kind: kind.__name__)
def test_what_is_at_a_bound_survives(kind):
    made = Extremes(SEED)
    for _ in range(30):
        event = make_event(made.fact(kind), AUTHOR)
        assert decode_event(encode_event(event)) == event


def test_a_number_beyond_its_bound_is_never_written():
    with pytest.raises(InvalidInput) as caught:
        encode_event(make_event(FACT_KINDS["step_started"](number=2**31), AUTHOR))
    assert caught.value.code == "bad_event" and "number" in caught.value.sentence


def test_a_row_that_cannot_be_read_says_so_and_names_its_session():
    row = decode_row(b'{"session": "s1", "title": "t", "steps": 99999999999, "seq": 4, "hidden_until": 9}')
    assert (row.session, row.title, row.seq, row.hidden_until) == ("s1", "t", 4, 9) and "steps" in row.unreadable
    assert decode_row(b"rubbish", "s2").unreadable
    with pytest.raises(InvalidInput):
        decode_row(b"rubbish")


def test_a_step_of_a_careless_model_or_endpoint_fits_its_bounds():
    """Names of tools and hosts are a model's words, usage is an endpoint's or a foreign file's."""
    action = Action(call_id="c", tool="t" * 9_000, arguments={"computer_ip": "h" * 9_000})
    printed = Observation(call_id="c", output=Output(total_chars=WHOLE))
    body = StepBody(number=1, actions=(action,), observations=(printed,) * 3)
    for tokens, cost in ((2**63, 1e300), (-5, -1.0), (7, float("inf")), (None, float("nan"))):
        usage = Usage(input_tokens=tokens, output_tokens=tokens, cached_tokens=tokens, cost_usd=cost)
        head = make_head(body, usage=usage)
        event = make_event(StepAdded(head=head, body="0" * 64), AUTHOR)
        assert decode_event(encode_event(event)) == event
    assert make_head(body, usage=Usage(input_tokens=7)).usage == Usage(input_tokens=7)
    many = make_head(StepBody(number=1, actions=(Action(call_id="c", tool="bash"),) * (MOST_ITEMS + 20)))
    event = make_event(StepAdded(head=many, body="0" * 64), AUTHOR)
    assert decode_event(encode_event(event)) == event and len(many.tools) == MOST_ITEMS
