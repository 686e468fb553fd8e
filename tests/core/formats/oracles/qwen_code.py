"""Qwen Code's `chatRecordingService`: user, assistant, tool_result and system lines with Gemini's contents."""

import json
import re

from support.oracle import Out, Talk, lines

TITLE = "Qwen Code chat"


def words(parts, thought=False):
    return "\n".join(p.get("text") or ("" if {"text", "functionCall", "functionResponse"} & p.keys() else
                                        f"[{next(iter(p), 'part')}]")
                     for p in parts if (p.get("thought") is True) == thought)


def out(answer, status):
    response = answer.get("response") or {}
    text = response.get("output", response.get("error", response))
    text = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
    code = re.search(r"(?m)^Exit Code: (\d+)$", text) if answer.get("name") == "run_shell_command" else None
    code = int(code[1]) if code else None
    return Out(text=text, code=code, failed=bool(code) or status in ("error", "cancelled") or "error" in response)


def sessions(path):
    talk = Talk()
    found = [r for r in lines(path) if isinstance(r, dict)]
    for place, record in enumerate(found):
        parts = (record.get("message") or {}).get("parts") or []
        if record.get("type") == "user":
            talk.say("user", words(parts))
        elif record.get("subtype") == "chat_compression" and record.get("type") == "system":
            talk.context = [("assistant" if h.get("role") == "model" else "user", words(h.get("parts") or []), ())
                            for h in (record.get("systemPayload") or {}).get("compressedHistory") or []]
        elif record.get("type") == "assistant":
            outs = []
            for after in found[place + 1 :]:
                if after.get("type") in ("user", "assistant") or after.get("subtype") == "chat_compression":
                    break
                if after.get("type") == "tool_result":
                    status = (after.get("toolCallResult") or {}).get("status")
                    outs += [out(p["functionResponse"], status) for p in after["message"]["parts"]
                             if p.get("functionResponse")]
            used = record.get("usageMetadata") or {}
            whole, read = used.get("totalTokenCount"), used.get("promptTokenCount")
            wrote = used.get("candidatesTokenCount") if whole is None or read is None or whole < read else whole - read
            calls = [(c.get("name") or "unknown", c.get("args") or {}) for p in parts if (c := p.get("functionCall"))]
            text = words(parts)
            talk.step("\n".join(filter(None, [words(parts, True), text])), calls, outs, tokens=(read, wrote),
                      answer=text)
    return [talk.steps]
