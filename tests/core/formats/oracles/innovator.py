"""InnovatorBench's nodes by its repository: `messages` before the answer, `response`, `observation`."""

import json

from support.oracle import Out, Step, Talk, arguments, lines

TITLE = "InnovatorBench nodes"


def out(raw):
    try:
        result = json.loads(raw)
    except ValueError:
        result = {}
    result = result if isinstance(result, dict) else {}
    if result.get("observation_type") == "eval" and "overall_score" in result:
        return Out(text=raw, failed=result.get("success") is False)
    text = next((t for t in (result.get("output"), result.get("message")) if isinstance(t, str) and t), raw)
    return Out(text=text, failed=result.get("success") is False)


def message(m):
    call, result = m.get("tool_call") or {}, m.get("tool_result") or {}
    return m["role"], m.get("content") or result.get("content") or "", (call["name"],) if call else ()


def sessions(path):
    nodes = sorted((n for n in lines(path) if "node_type" in n), key=lambda n: n.get("depth") or 0)
    talk = Talk()
    for at, m in enumerate(nodes[0]["messages"] if len(nodes) == 1 else ()):
        if m.get("tool_call"):
            after = nodes[0]["messages"][at + 1] if at + 1 < len(nodes[0]["messages"]) else {}
            outs = [out(after["tool_result"]["content"])] if after.get("tool_result") else []
            talk.step(f"{m.get('reasoning') or ''}\n{m.get('content') or ''}",
                      [(m["tool_call"]["name"], arguments(m["tool_call"]["arguments"]))], outs,
                      answer=m.get("content") or "")
        elif m["role"] != "tool":
            talk.say(*message(m))
    for node in nodes:
        answer, used = node["response"], node["response"].get("usage") or {}
        seen = node.get("observation")
        talk.steps.append(Step(
            text=f"{answer.get('reasoning') or ''}\n{answer.get('content') or ''}",
            calls=[(c["name"], arguments(c["arguments"])) for c in answer.get("tool_calls") or []],
            outs=[out(json.dumps(seen, ensure_ascii=False))] if seen else [],
            tokens=(used.get("input_tokens"), used.get("output_tokens")),
            context=[message(m) for m in node["messages"]]))
    return [talk.steps]
