"""Events: their bytes are made once and survive everything; unknown kinds are kept."""

import re
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.extremes import Extremes
from support.logs import Maker, make_session

from core.domain.blob import blob_hash, is_blob_hash
from core.domain.context import ContextDelta, MessageRef, PreviousRange
from core.domain.errors import InvalidInput
from core.domain.events import (
    FACT_KINDS,
    AnnotationFact,
    Event,
    ExchangeMade,
    Fact,
    FileChanged,
    GuidanceFact,
    NoteAdded,
    OpinionFact,
    ScoreGiven,
    StepAdded,
    SubmissionMade,
    SummaryAdded,
    TerminalOutput,
    TimeSpent,
    UnknownFact,
    blobs_of,
    decode_event,
    encode_event,
    kinds_of,
    make_event,
)
from core.domain.step import StepHead
from core.domain.verdict import Author

AUTHOR = Author(kind="person", name="li")


@given(st.integers(0, 10**6))
def test_bytes_survive_decoding_and_encoding(seed):
    bodies, _ = make_session(steps=3, guidance=2, seed=seed)
    assert [encode_event(decode_event(body)) for body in bodies] == bodies


@given(st.text(), st.text(), st.datetimes(timezones=st.just(UTC)))
def test_any_text_and_time_survive(text, reason, at):
    event = make_event(NoteAdded(step=1, text=text), Author(kind="person", name=reason), at=at)
    assert decode_event(encode_event(event)) == event


@given(st.sampled_from(sorted(FACT_KINDS)), st.integers(0, 10**9))
def test_every_kind_survives_with_any_values(kind, seed):
    made = Extremes(seed).fact(FACT_KINDS[kind])
    event = make_event(made, AUTHOR)
    body = encode_event(event)
    assert decode_event(body).fact == made
    assert encode_event(decode_event(body)) == body


def test_terminal_bytes_survive_whatever_they_are():
    fact = TerminalOutput(host="h", terminal="t", offset=0, size=256, data=bytes(range(256)))
    assert decode_event(encode_event(make_event(fact, AUTHOR))).fact == fact


def test_a_fact_of_a_newer_version_is_kept_with_its_json():
    body = msgspec.json.encode({"id": "e1", "at": datetime.now(UTC), "author": {"kind": "agent", "name": "x"},
                                "fact": {"type": "dream_had", "about": ["sheep"]}, "extra": 1})
    fact = decode_event(body).fact
    assert isinstance(fact, UnknownFact) and fact.kind == "dream_had"
    assert msgspec.json.decode(fact.raw) == {"type": "dream_had", "about": ["sheep"]}
    with pytest.raises(InvalidInput) as caught:
        encode_event(decode_event(body))
    assert caught.value.code == "unknown_fact"


def test_a_number_that_json_has_not_is_refused_before_it_is_logged():
    for parts in ({"accuracy": float("nan")}, {"loss": float("inf")}):
        with pytest.raises(InvalidInput):
            encode_event(make_event(ScoreGiven(ordinal=1, step=1, total=None, parts=parts), AUTHOR))


def test_unknown_fields_of_a_known_fact_are_ignored():
    body = encode_event(make_event(NoteAdded(step=1, text="a"), AUTHOR)).replace(b'"text":"a"', b'"text":"a","new":1')
    assert decode_event(body).fact == NoteAdded(step=1, text="a")


@given(st.binary(max_size=200))
def test_garbage_is_refused_with_a_code(data):
    with pytest.raises(InvalidInput) as caught:
        decode_event(data)
    assert caught.value.code == "bad_event"


@pytest.mark.parametrize("body", [
    b"[" * 100_000,
    b'{"id":"a","at":"2026-01-01T00:00:00Z","author":{"kind":"agent","name":"x"},"fact":{"type":"note_added"}}',
    b'{"id":"a","at":"yesterday","author":{"kind":"agent","name":"x"},"fact":{"type":"note_added"}}',
    b'{"id":"a","at":"2026-01-01T00:00:00Z","author":{"kind":"god","name":"x"},"fact":{"type":"new"}}',
    b'{"id":"a","at":"2026-01-01T00:00:00Z","author":{"kind":"agent","name":"x"},"fact":{}}',
])
def test_a_half_event_is_refused(body):
    with pytest.raises(InvalidInput):
        decode_event(body)


def test_blobs_of_names_every_payload_of_a_log():
    bodies, blobs = make_session(steps=40, guidance=4, seed=3)
    named = {h for body in bodies for h in blobs_of(decode_event(body).fact)}
    assert named == set(blobs)
    assert blobs_of(FileChanged(host="h", path="p", before="", after="a")) == ("a",)
    assert blobs_of(SubmissionMade(ordinal=1, step=1)) == ()


def test_a_request_that_named_its_guidance_is_still_read():
    """As logs of before have it: the names of all texts that stood in it."""
    fact = ExchangeMade(number=9, line="main", relation="extends", dialect="chat")
    event = Event(id="e", at=datetime(2026, 3, 1, tzinfo=UTC), author=Author(kind="agent", name="s"), fact=fact)
    old = encode_event(event).replace(b'"chat"', b'"chat","guidance":["a","b"],"again":["a"]')
    assert old != encode_event(event) and decode_event(old).fact == fact


def test_blob_names_are_recognised():
    assert is_blob_hash(blob_hash(b"")) and blob_hash(b"") != blob_hash(b"a")
    for other in ("", "A" * 64, "a" * 63, "a" * 64 + "\n", "../" + "a" * 61):
        assert not is_blob_hash(other)


def test_the_same_seed_makes_the_same_log():
    assert make_session(20, 3, 9) == make_session(20, 3, 9) != make_session(20, 3, 10)
    maker = Maker()
    maker.guide("look")
    assert b"look" in maker.bodies[-1]


def leaves(general):
    below = general.__subclasses__()
    return {general} if not below else {leaf for one in below for leaf in leaves(one)}


def test_every_kind_of_fact_has_a_tag_of_its_own_and_can_be_decoded():
    assert set(FACT_KINDS.values()) == leaves(Fact) - {UnknownFact}
    assert all(tag.isidentifier() and tag.islower() for tag in FACT_KINDS)
    assert len(FACT_KINDS) == len(kinds_of(Fact))


def test_facts_of_one_subject_share_a_base():
    assert {k.__struct_config__.tag for k in kinds_of(GuidanceFact)} == {t for t in FACT_KINDS if t[:9] == "guidance_"}
    assert {k.__struct_config__.tag for k in kinds_of(OpinionFact)} == {"verdict_given", "note_added", "tag_set"}
    assert set(kinds_of(AnnotationFact)) == {*kinds_of(OpinionFact), TimeSpent}


def ref(text):
    return MessageRef(hash=blob_hash(text.encode()), role="user")


HASH = blob_hash(b"payload")


@pytest.mark.parametrize("fact", [
    StepAdded(head=StepHead(number=1), body=HASH, tools=blob_hash(b"tools"), completion=ref("answer"),
              context=ContextDelta(parts=(PreviousRange(start=0, stop=1), ref("a"), ref("b")))),
    SummaryAdded(id="s", first=1, last=2, text="t", context=ContextDelta(parts=(ref("a"),)), completion=ref("b")),
    TerminalOutput(host="h", terminal="t", offset=0, size=7, blob=HASH),
    FileChanged(host="h", path="p", before=HASH, after=blob_hash(b"after")),
    SubmissionMade(ordinal=1, step=1, blob=HASH),
])
def test_every_hash_in_a_fact_is_named_however_deep_it_lies(fact):
    written = re.findall("[0-9a-f]{64}", msgspec.json.encode(fact).decode())
    assert written and sorted(blobs_of(fact)) == sorted(written)


def test_a_body_that_must_be_named_is_asked_for_even_where_its_name_is_empty():
    assert blobs_of(StepAdded(head=StepHead(number=1), body="")) == ("",)
