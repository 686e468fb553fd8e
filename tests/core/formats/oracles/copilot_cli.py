"""Copilot CLI's `session-events.schema.json`: messages, results of tools, what was used."""

import json

from support.oracle import Out, Talk, lines

TITLE = "Copilot CLI events"


def out(data):
    result, error = data.get("result") or {}, data.get("error") or {}
    text = result.get("content", "") if result else error.get("message", "")
    code = (data.get("shellExecution") or {}).get("exitCode")
    return Out(text=text if isinstance(text, str) else json.dumps(text, ensure_ascii=False), code=code,
               failed=bool(code) or data.get("success") is False)


def sessions(path):
    found = [(r["type"], {"by": r.get("agentId"), **r["data"]}) for r in lines(path)
             if isinstance(r, dict) and isinstance(r.get("data"), dict)]
    done = {d.get("toolCallId"): d for t, d in found if t == "tool.execution_complete"}
    used = {d["usage"].get("apiCallId"): d["usage"] for t, d in found if t == "session.usage_record" and d.get("usage")}
    talks = {}
    for kind, data in found:
        talk = talks.setdefault(data.get("parentToolCallId") or data["by"] or "", Talk())
        system = [m for m in talk.context if m[0] == "system"]
        if kind == "system.message":
            talk.context = [m for m in talk.context if m not in system]
            talk.context.insert(0, ("system", data.get("content") or "", ()))
        elif kind == "user.message" and data.get("source") != "system":
            talk.say("user", data.get("content") or "")
        elif kind in ("user.message", "system.notification") and data.get("content"):
            talk.say("user", data["content"])
        elif kind == "session.compaction_complete":
            talk.context = [*system, ("user", data.get("summaryContent") or "The context was compacted.", ())]
        elif kind == "assistant.message":
            asked = data.get("toolRequests") or []
            counts = used.get(data.get("apiCallId"), {})
            talk.step("\n".join(filter(None, [data.get("reasoningText"), data.get("content")])),
                      [(c.get("name") or "unknown", c.get("arguments") or {}) for c in asked],
                      [out(done[c.get("toolCallId")]) for c in asked if c.get("toolCallId") in done],
                      tokens=(counts.get("inputTokens"), counts.get("outputTokens", data.get("outputTokens"))),
                      answer=data.get("content") or "")
    return [t.steps for t in talks.values()]
