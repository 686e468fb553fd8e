"""Bytes that a step costs on the server's disk, against storing the whole context with each step.

The session is what an agent that reads files and runs programs leaves: 400 steps of about 3 kB, summarised as the
paper does.
The baseline is the same file format (zstd) holding, per step, the full list of messages, as ResearchGym does.
"""

from __future__ import annotations

import contextlib
import random
import tempfile
from pathlib import Path

import rig

from core.domain.blob import blob_hash
from core.domain.context import MessageRef, delta_between
from core.domain.events import StepAdded, encode_event, make_event
from core.domain.head import make_head
from core.domain.message import Message, ToolCall, encode_message
from core.domain.step import Action, Observation, Output, StepBody, encode_body
from core.domain.trajectory import fold
from core.domain.verdict import Author
from core.store import blobs, log
from core.store.schema import open_log
from core.store.sqlite import transaction

STEPS = 400
SUMMARISE_AT = 100_000


def session(seed: int) -> tuple[list[bytes], dict[str, bytes]]:
    """Events and payloads of an agent that reads files and runs programs, summarising at 100,000 tokens."""
    rng = random.Random(seed)
    words = Path(__file__).read_text().split()
    bodies: list[bytes] = []
    payloads: dict[str, bytes] = {}
    context: list[MessageRef] = []

    def keep(message: Message) -> MessageRef:
        data = encode_message(message)
        payloads[blob_hash(data)] = data
        return MessageRef(hash=blob_hash(data), role=message.role, tokens=len(data) // 4)

    def text(chars: int) -> str:
        return " ".join(rng.choice(words) for _ in range(chars // 6))

    before: list[MessageRef] = []
    context = [keep(Message(role="system", content=text(8000))), keep(Message(role="user", content=text(4000)))]
    for number in range(1, STEPS + 1):
        if sum(ref.tokens for ref in context) > SUMMARISE_AT:
            context = [*context[:2], keep(Message(role="user", content=text(6000))), *context[len(context) // 2:]]
        action = Action(call_id=f"c{number}", tool="run_command", arguments={"command": text(80)})
        output = Output(text=text(rng.choice((200, 800, 2000, 8000))))
        body = encode_body(StepBody(number=number, thought=text(300), actions=(action,),
                                    observations=(Observation(call_id=action.call_id, output=output),)))
        payloads[blob_hash(body)] = body
        call = ToolCall(id=action.call_id, name=action.tool, arguments=str(action.arguments))
        answer = keep(Message(role="assistant", content=text(300), tool_calls=(call,)))
        head = make_head(StepBody(number=number, actions=(action,)))
        fact = StepAdded(head=head, body=blob_hash(body), context=delta_between(before, context), completion=answer)
        bodies.append(encode_event(make_event(fact, Author(kind="agent", name="s"))))
        before = context
        context = [*context, answer, keep(Message(role="tool", content=output.text, tool_call_id=call.id))]
    return bodies, payloads


def main() -> None:
    """Fill a database, checkpoint it, and divide."""
    bodies, payloads = session(7)
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(open_log(Path(folder) / "log.db")) as conn:
        with transaction(conn):
            log.create(conn, "s")
            for data in payloads.values():
                blobs.put(conn, data)
            log.append(conn, "s", bodies)
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        stored = (Path(folder) / "log.db").stat().st_size
        trajectory = fold("s", log.read_all(conn, "s"))
        whole = raw = 0
        for entry in trajectory.steps:
            refs = trajectory.context(entry.head.number)
            context = b"[" + b",".join(payloads[ref.hash] for ref in refs) + b"]"
            raw += len(context)
            whole += len(blobs.compress(context))
    rig.told("stored", steps=STEPS, bytes_per_step=stored // STEPS, whole_context_zstd_per_step=whole // STEPS,
             whole_context_json_per_step=raw // STEPS, ratio_zstd=round(whole / stored, 1),
             ratio_json=round(raw / stored, 1))


if __name__ == "__main__":
    main()
