"""The GenAI conventions of OpenTelemetry (attributes, events, and OpenLLMetry's flat ones) in OTLP's JSON."""

import json

from support.oracle import Out, Step, arguments, lines

TITLE = "OpenTelemetry GenAI spans"


def plain(value):
    for key, held in (value or {}).items():
        if key == "arrayValue":
            return [plain(v) for v in held["values"]]
        if key == "kvlistValue":
            return {a["key"]: plain(a["value"]) for a in held["values"]}
        return int(held) if key == "intValue" else held
    return None


def told(given):
    return {a["key"]: plain(a["value"]) for a in given or []}


def loaded(value):
    return json.loads(value) if isinstance(value, str) else value or []


def text(parts, kind="text"):
    return "\n".join(p.get("content") or "" for p in parts if p.get("type") == kind)


def calls_of(parts):
    return [(p["name"], p.get("arguments") or {}) for p in parts if p.get("type") == "tool_call"]


def request(held, events):
    if "gen_ai.output.messages" in held:
        context = [("system", text(loaded(held["gen_ai.system_instructions"])), ())] if (
            "gen_ai.system_instructions" in held) else []
        for message in loaded(held.get("gen_ai.input.messages")):
            answers = [p for p in message["parts"] if p["type"] == "tool_call_response"]
            context += [("tool", p["response"], ()) for p in answers] or [
                (message["role"], text(message["parts"]), tuple(n for n, _ in calls_of(message["parts"])))]
        parts = loaded(held["gen_ai.output.messages"])[0]["parts"]
        ids = [p["id"] for p in parts if p["type"] == "tool_call"]
        return context, f"{text(parts, 'reasoning')}\n{text(parts)}", calls_of(parts), ids
    if "gen_ai.prompt.0.role" in held:
        context = [(held["gen_ai.prompt.0.role"], held["gen_ai.prompt.0.content"], ())]
        return context, held["gen_ai.completion.0.content"], [], []
    context = [(n.split(".")[1], e["content"], ()) for n, e in events if n.endswith(".message")]
    message = json.loads(next(e["message"] for n, e in events if n == "gen_ai.choice"))
    asked = message.get("tool_calls") or []
    calls = [(c["function"]["name"], arguments(c["function"]["arguments"])) for c in asked]
    return context, message["content"], calls, [c["id"] for c in asked]


def sessions(path):
    spans = [s for line in lines(path) for r in line["resourceSpans"] for c in r["scopeSpans"] for s in c["spans"]]
    spans = sorted(((s, told(s["attributes"]), [(e["name"], told(e["attributes"])) for e in s.get("events") or []])
                    for s in spans), key=lambda one: int(one[0]["startTimeUnixNano"]))
    tools = [(s, h) for s, h, _ in spans if h["gen_ai.operation.name"] == "execute_tool"]
    chats = [one for one in spans if one[1]["gen_ai.operation.name"] == "chat"]
    steps = []
    for place, (span, held, events) in enumerate(chats):
        context, words, calls, ids = request(held, events)
        outs = []
        for (name, _), id in zip(calls, ids, strict=True):
            hit = next((t for t in tools if t[1].get("gen_ai.tool.call.id", id) == id
                        and t[1]["gen_ai.tool.name"] == name), None)
            if hit is not None:
                failed = hit[0].get("status", {}).get("code") == 2
                outs.append(Out(text=hit[1].get("gen_ai.tool.call.result") or hit[0]["status"].get("message") or "",
                                failed=failed))
            elif place + 1 < len(chats):
                outs += [Out(text=p["response"]) for m in loaded(chats[place + 1][1].get("gen_ai.input.messages"))
                         for p in m["parts"] if p["type"] == "tool_call_response" and p["id"] == id]
        if span.get("status", {}).get("code") == 2:
            outs.append(Out(text=span["status"]["message"], failed=True))
        tokens = tuple(held.get(f"gen_ai.usage.{new}", held.get(f"gen_ai.usage.{old}"))
                       for new, old in (("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens")))
        steps.append(Step(text=words, calls=calls, outs=outs, tokens=tokens, context=context))
    return [steps]
