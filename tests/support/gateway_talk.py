"""An agent's requests to a gateway in this process, one after the other, without sockets."""

from __future__ import annotations

import json
from typing import Any

from support.gateway_bench import Bench

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
    """One agent; gives how each request stood to its line."""

    def __init__(self, bench: Bench) -> None:
        self.lines, self.reader, self.sent = bench.seam._lines, RequestReader(), b""

    def ask(self, messages: list[Any], replied: dict[str, Any]) -> str:
        body = json.dumps({"model": "m", "messages": messages, "tools": TOOLS}).encode()
        self.sent = body
        request = self.reader.read(CHAT, Head(method="POST", target="/v1/chat/completions"), body)
        _, sending = self.lines.arrive(request)
        self.lines.main.book.commit(sending)
        heard = AnswerReader(CHAT, False)
        heard.begin(Head(status=200), 0.1)
        heard.take(json.dumps({"model": "m", "choices": [{"message": replied, "finish_reason": "stop"}]}).encode())
        self.lines.main.book.answered(sending, heard.ending())
        return str(sending.placement.relation)
