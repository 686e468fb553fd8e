"""An agent that was started again and tells its conversation with another beginning (`session/load` of some agents)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.gateway_bench import Bench

from core.domain.events import NoteAdded, StepAdded, SummaryAdded
from core.domain.step import decode_body
from core.gateway.answer_reader import AnswerReader
from core.gateway.http_head import Head
from core.gateway.recipe import DIALECTS
from core.gateway.request import RequestReader

CHAT = DIALECTS["chat"]
TOOLS = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]


def answer(call: str) -> dict[str, Any]:
    return {"role": "assistant", "content": call, "tool_calls": [
        {"id": call, "type": "function", "function": {"name": "bash", "arguments": "{}"}}]}


def result(call: str) -> dict[str, str]:
    return {"role": "tool", "tool_call_id": call, "content": f"of {call}"}


class Talk:
    """An agent's requests, one after the other, without sockets."""

    def __init__(self, bench: Bench) -> None:
        self.lines, self.reader = bench.seam._lines, RequestReader()

    def ask(self, messages: list[Any], replied: dict[str, Any]) -> str:
        body = json.dumps({"model": "m", "messages": messages, "tools": TOOLS}).encode()
        request = self.reader.read(CHAT, Head(method="POST", target="/v1/chat/completions"), body)
        _, sending = self.lines.arrive(request)
        self.lines.main.book.commit(sending)
        heard = AnswerReader(CHAT, False)
        heard.begin(Head(status=200), 0.1)
        heard.take(json.dumps({"model": "m", "choices": [{"message": replied, "finish_reason": "stop"}]}).encode())
        self.lines.main.book.answered(sending, heard.ending())
        return str(sending.placement.relation)


@pytest.mark.parametrize("keeps", ["all", "the end"])
def test_what_it_tells_anew_is_no_summary_and_no_step_is_there_twice(tmp_path: Path, keeps: str) -> None:
    bench = Bench(tmp_path, "http://127.0.0.1:1")
    talk = Talk(bench)
    begun = [{"role": "system", "content": "You are."}, {"role": "user", "content": "Here are: a.py"}]
    said = [{"role": "user", "content": "Do it."}, answer("c1"), result("c1"), answer("c2")]
    assert talk.ask([*begun, said[0]], answer("c1")) == "new"
    assert talk.ask([*begun, *said[:3]], answer("c2")) == "extends"
    talk.lines.lines.is_restarted = True
    anew = [begun[0], {"role": "user", "content": "Here are: a.py b.py"}, {"role": "assistant", "content": "Got it."}]
    told = said if keeps == "all" else said[3:]
    relation = talk.ask([*anew, *told, result("c2"), {"role": "user", "content": "Go on."}], answer("c3"))
    facts = bench.journal.facts()
    steps = [fact for fact in facts if isinstance(fact, StepAdded)]
    assert [step.head.number for step in steps] == [1, 2]
    bodies = [decode_body(bench.journal.blob(step.body)) for step in steps]
    assert [body.observations[0].output.text for body in bodies] == ["of c1", "of c2"]
    notes = [fact.text for fact in facts if isinstance(fact, NoteAdded)]
    if keeps == "all":
        assert relation == "rewound" and notes == [
            "The agent was started again, and tells its conversation with another beginning."]
        sources = [ref.source for ref in talk.lines.main.steps.open.context]
        assert sources.count("step:1") == sources.count("step:2") == 2, "its answer and what came back"
    else:
        assert relation == "compacted" and notes == []
    assert len([fact for fact in facts if isinstance(fact, SummaryAdded)]) == (keeps != "all")
    bench.journal.close()
