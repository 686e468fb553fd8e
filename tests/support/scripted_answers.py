"""The bytes of a model's answer in each of the four dialects, streamed (a frame an event) or whole (one frame)."""

from __future__ import annotations

import json
from typing import Any

Calls = list[tuple[str, dict[str, Any]]]


def answer_frames(dialect: str, calls: Calls, words: str, usage: int, n: int, is_stream: bool, model: str
                  ) -> list[bytes]:
    """The frames of answer number `n`."""
    made = {"chat": _chat, "anthropic": _anthropic, "responses": _responses, "gemini": _gemini}[dialect]
    found = made(calls, words, usage, n, is_stream, model)
    if not is_stream:
        return [json.dumps(found).encode()]
    frames = [((f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n").encode() for name, data in found]
    return [*frames, b"data: [DONE]\n\n"] if dialect == "chat" else frames


def _ids(calls: Calls, n: int) -> list[str]:
    return [f"call_{n}_{i}" for i in range(len(calls))]


def _chat(calls: Calls, words: str, usage: int, n: int, is_stream: bool, model: str) -> Any:
    made = [{"index": i, "id": id, "type": "function", "function": {"name": c, "arguments": json.dumps(a)}}
            for i, (id, (c, a)) in enumerate(zip(_ids(calls, n), calls, strict=True))]
    end = "tool_calls" if calls else "stop"
    base = {"id": f"c{n}", "object": "chat.completion.chunk", "created": 1, "model": model}
    count = {"prompt_tokens": usage, "completion_tokens": 20, "total_tokens": usage + 20}
    if not is_stream:
        message = {"role": "assistant", "content": words or None, **({"tool_calls": made} if made else {})}
        return {**base, "object": "chat.completion", "usage": count,
                "choices": [{"index": 0, "finish_reason": end, "message": message}]}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": words}, *({"tool_calls": [m]} for m in made)]
    return [*(("", {**base, "choices": [{"index": 0, "delta": d, "finish_reason": None}]}) for d in deltas),
            ("", {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": end}]}),
            ("", {**base, "choices": [], "usage": count})]


def _anthropic(calls: Calls, words: str, usage: int, n: int, is_stream: bool, model: str) -> Any:
    blocks: list[dict[str, Any]] = []
    if calls:
        blocks.append({"type": "thinking", "thinking": f"I think {n}.", "signature": f"sig{n}"})
    if words:
        blocks.append({"type": "text", "text": words})
    blocks += [{"type": "tool_use", "id": f"toolu_{id}", "name": c, "input": a}
               for id, (c, a) in zip(_ids(calls, n), calls, strict=True)]
    count = {"input_tokens": usage, "output_tokens": 20, "cache_creation_input_tokens": 0,
             "cache_read_input_tokens": 0}
    message = {"id": f"msg_{n}", "type": "message", "role": "assistant", "model": model, "content": blocks,
               "usage": count, "stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    if not is_stream:
        return message
    out: list[tuple[str, dict[str, Any]]] = [
        ("message_start", {"message": {**message, "content": [], "stop_reason": None}})]
    for i, block in enumerate(blocks):
        empty, deltas = _opened(block)
        out.append(("content_block_start", {"index": i, "content_block": empty}))
        out += [("content_block_delta", {"index": i, "delta": d}) for d in deltas]
        out.append(("content_block_stop", {"index": i}))
    out += [("message_delta", {"delta": {"stop_reason": message["stop_reason"], "stop_sequence": None},
                               "usage": count}), ("message_stop", {})]
    return [(name, {"type": name, **data}) for name, data in out]


def _opened(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    match block["type"]:
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}, [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block["signature"]}]
        case "text":
            return {"type": "text", "text": ""}, [{"type": "text_delta", "text": block["text"]}]
    return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]


def _responses(calls: Calls, words: str, usage: int, n: int, is_stream: bool, model: str) -> Any:
    out: list[dict[str, Any]] = []
    if calls:
        out.append({"type": "reasoning", "id": f"rs_{n}", "summary": [], "encrypted_content": f"enc{n}"})
    if words:
        out.append({"type": "message", "id": f"msg_{n}", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": words, "annotations": []}]})
    out += [{"type": "function_call", "id": f"fc_{id}", "call_id": id, "name": c, "arguments": json.dumps(a),
             "status": "completed"} for id, (c, a) in zip(_ids(calls, n), calls, strict=True)]
    count = {"input_tokens": usage, "output_tokens": 20, "total_tokens": usage + 20,
             "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    whole = {"id": f"resp_{n}", "object": "response", "created_at": 1, "model": model, "status": "completed",
             "output": out, "usage": count, "tools": [], "parallel_tool_calls": True, "tool_choice": "auto"}
    if not is_stream:
        return whole
    events: list[tuple[str, dict[str, Any]]] = [
        ("response.created", {"response": {**whole, "status": "in_progress", "output": [], "usage": None}})]
    for i, item in enumerate(out):
        events += [("response.output_item.added", {"output_index": i, "item": item}),
                   ("response.output_item.done", {"output_index": i, "item": item})]
    events.append(("response.completed", {"response": whole}))
    return [(name, {"type": name, "sequence_number": i, **data}) for i, (name, data) in enumerate(events)]


def _gemini(calls: Calls, words: str, usage: int, n: int, is_stream: bool, model: str) -> Any:
    parts: list[dict[str, Any]] = [{"text": words}] if words else []
    parts += [{"functionCall": {"name": c, "args": a}, "thoughtSignature": "c2ln"} for c, a in calls]
    whole = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
             "modelVersion": model,
             "usageMetadata": {"promptTokenCount": usage, "candidatesTokenCount": 20, "totalTokenCount": usage + 20}}
    return [("", whole)] if is_stream else whole
