"""What an external agent's session may grow to: no event of it grows with all that it was ever given or said."""

from __future__ import annotations

from pathlib import Path

from support.gateway_bench import Bench
from support.gateway_talk import Talk, answer, result

from core.agents import exchange_steps, exchanges
from core.domain.context import MessageRef, apply_delta
from core.domain.events import GuidanceQueued, NoteAdded, StepAdded, StepStarted


def largest(bench: Bench) -> int:
    """Bytes of the largest event."""
    return int(bench.journal.sql("SELECT max(length(body)) FROM entry")[0][0])


def requests(bench: Bench) -> list[bytes]:
    """The bodies of all exchanges, put together from their events alone."""
    bodies: dict[int, list[MessageRef]] = {0: []}
    for fact in bench.exchanges():
        bodies[fact.number] = apply_delta(bodies[fact.since], fact.pieces)
    return [b"".join(bench.journal.blob(piece.hash) for piece in bodies[at]) for at in sorted(bodies) if at]


def test_no_event_names_all_guidance_that_a_session_was_ever_given(tmp_path: Path) -> None:
    """Also where a compaction threw all of it away; each text is told of once, in order."""
    bench, each, rounds = Bench(tmp_path, "http://127.0.0.1:1"), 100, 30
    talk, said = Talk(bench), [{"role": "user", "content": "Do it."}]
    for n in range(rounds):
        bench.take(*[GuidanceQueued(guidance=f"g{n:03}-{i:03}", text=f"Text {n}/{i}.") for i in range(each)])
        talk.ask(said, answer(f"c{n}"))
        said += [answer(f"c{n}"), result(f"c{n}")]
    usual, names = largest(bench), [f"g{n:03}-{i:03}" for n in range(rounds) for i in range(each)]
    assert talk.ask([{"role": "user", "content": "A summary."}], answer("d")) == "compacted"
    again = [fact for fact in bench.journal.facts() if isinstance(fact, StepStarted) and fact.again]
    assert [name for fact in again for name in fact.again] == names and {len(fact.again) for fact in again} == {1_000}
    assert {fact.number for fact in again} == {rounds + 1}
    assert bench.exchanges()[-1].guided == len(names) and requests(bench)[-1].count(b"Text ") == len(names)
    assert largest(bench) < 3 * usual, "an event grows with what a session was given"
    bench.journal.close()


def test_a_conversation_of_very_many_messages_is_held_as_it_was_sent(tmp_path: Path, monkeypatch) -> None:
    """Byte for byte, in events that stay small; of what the model saw a note says why it is not shown."""
    monkeypatch.setattr(exchange_steps, "MOST_PARTS", 500)
    monkeypatch.setattr(exchanges, "_MOST_PAYLOADS", 200)
    bench = Bench(tmp_path, "http://127.0.0.1:1")
    talk, sent = Talk(bench), []
    said: list[dict[str, object]] = [{"role": "user", "content": f"Do {n}."} for n in range(3_000)]
    for n in range(4):
        talk.ask(said, answer(f"c{n}"))
        sent.append(talk.sent)
        said += [answer(f"c{n}"), result(f"c{n}")]
    assert requests(bench) == sent and all(len(fact.pieces.parts) <= 200 for fact in bench.exchanges())
    facts = bench.journal.facts()
    assert [len(fact.context.parts) for fact in facts if isinstance(fact, StepAdded)] == [0, 0, 0]
    (note,) = [fact for fact in facts if isinstance(fact, NoteAdded)]
    assert note.step == 1 and "too many messages" in note.text
    bench.journal.close()
