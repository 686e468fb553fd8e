"""ShareGPT and LLaMA-Factory by its `data/README.md`: `conversations[{from, value}]`, v1's `messages`."""

import json

from support.oracle import Out, Talk, arguments, lines

TITLE = "ShareGPT or LLaMA-Factory rows"
AGENT = ("gpt", "assistant", "bot", "chatgpt", "bing", "bard", "model", "function_call")
TOOL = ("observation", "tool", "function_response")


def called(text):
    try:
        value = json.loads(text)
    except ValueError:
        return [("unknown", arguments(text))]
    value = [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, dict) and v.get("name")]
    return [(v["name"], arguments(v.get("arguments", {}))) for v in value] or [
        ("unknown", arguments(text))]


def turns(row):
    if "messages" not in row or "conversations" in row:
        if row.get("system"):
            yield "system", "", row["system"], []
        for turn in row["conversations"]:
            calls = called(turn["value"]) if turn["from"] == "function_call" else []
            yield turn["from"], "", turn["value"], calls
        return
    for turn in row["messages"]:
        parts = [(p["type"], str(p["value"])) for p in turn["content"]]
        yield (turn["role"], "\n".join(v for k, v in parts if k == "reasoning"),
               "\n".join(v for k, v in parts if k not in ("reasoning", "tool_call")),
               [c for k, v in parts if k == "tool_call" for c in called(v)])


def sessions(path):
    found, known = [], set()
    for row in lines(path):
        name = json.dumps(row, sort_keys=True)
        if name in known:
            continue
        known.add(name)
        talk, all_ = Talk("person"), list(turns(row))
        for n, (who, reasoning, text, calls) in enumerate(all_):
            if who in AGENT:
                stop = next((k for k in range(n + 1, len(all_)) if all_[k][0] not in TOOL), len(all_))
                shown = "" if who == "function_call" else text
                talk.step(f"{reasoning}\n{shown}", calls, [Out(text=t[2]) for t in all_[n + 1 : stop]], answer=text)
            elif who in TOOL and (n == 0 or not _answers(all_, n)):
                talk.say("tool", text)
            elif who not in TOOL:
                talk.say("system" if who == "system" else "user", text)
        found += [talk.steps] if talk.steps else []
    return found


def _answers(all_, n):
    """Whether a tool's turn follows an agent's, perhaps after other tools'."""
    while n and all_[n][0] in TOOL:
        n -= 1
    return all_[n][0] in AGENT
