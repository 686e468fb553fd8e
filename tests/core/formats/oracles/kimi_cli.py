"""Kimi CLI's `wire/types.py` (events of a wire) and `soul/context.py` (messages of a context)."""

import re

from support.oracle import Out, Talk, arguments, lines

TITLE = "Kimi CLI session"


def words(content, kind="text"):
    if isinstance(content, str):
        return content if kind == "text" else ""
    if kind == "think":
        return "".join(p.get("think") or "" for p in content or [] if p.get("type") == "think")
    return "\n".join(p.get("text") or f"[{p.get('type')}]" for p in content or [] if p.get("type") != "think")


def call(one):
    return one["function"]["name"], arguments(one["function"]["arguments"])


def wire(found):
    talk, tokens = Talk(), (None, None)
    said, thought, calls, outs = [], [], [], []
    for kind, held in [*found, ("TurnEnd", {})]:
        is_border = kind in ("TurnBegin", "StepBegin", "SteerInput", "TurnEnd", "CompactionBegin")
        if is_border and (said or thought or calls):
            talk.step(f"{''.join(thought)}\n{''.join(said)}", calls, outs, tokens=tokens, answer="".join(said))
            said, thought, calls, outs, tokens = [], [], [], [], (None, None)
        if kind in ("TurnBegin", "SteerInput"):
            talk.say("user", words(held["user_input"]))
        elif kind == "CompactionEnd":
            talk.context = []
        elif kind == "ContentPart":
            thought.append(held.get("think") or "")
            said.append("" if held["type"] == "think" else words([held]))
        elif kind == "ToolCall":
            calls.append(call(held))
        elif kind == "ToolResult":
            value = held["return_value"]
            note, failed = value.get("message") or "", value.get("is_error") is True
            number = code(note, failed)
            outs.append(Out(text=f"{words(value.get('output'))}\n{note}", failed=failed or bool(number), code=number))
        elif kind == "StatusUpdate" and (used := held.get("token_usage")):
            tokens = (used["input_other"] + used["input_cache_read"] + used["input_cache_creation"], used["output"])
    return talk.steps


def code(said, failed):
    found = re.match(r"Command failed with exit code: (\d+)\.", said)
    return int(found[1]) if found else 0 if said == "Command executed successfully." and not failed else None


def shown(message):
    text = words(message["content"])
    said = re.match(r"\s*<system>(.*?)</system>", text, re.DOTALL)
    said = said[1] if said else ""
    number = code(said.removeprefix("ERROR: "), said.startswith("ERROR: "))
    return Out(text=text, code=number, failed=said.startswith("ERROR: ") or bool(number))


def context(found):
    talk = Talk()
    for place, one in enumerate(found):
        if one["role"] == "assistant":
            outs = []
            for after in found[place + 1 :]:
                if after["role"] != "tool":
                    break
                outs.append(shown(after))
            text = words(one["content"])
            talk.step(f"{words(one['content'], 'think')}\n{text}", [call(c) for c in one.get("tool_calls") or []], outs,
                      answer=text)
        elif one["role"] in ("user", "_system_prompt"):
            talk.say("user" if one["role"] == "user" else "system", words(one["content"]))
    return talk.steps


def sessions(path):
    found = [r for r in lines(path) if isinstance(r, dict)]
    events = [(r["message"]["type"], r["message"]["payload"]) for r in found if isinstance(r.get("message"), dict)]
    inside = {}
    for kind, held in events:
        if kind == "SubagentEvent":
            called = held["parent_tool_call_id"]
            inside.setdefault(called, []).append((held["event"]["type"], held["event"]["payload"]))
    return [wire(events), *map(wire, inside.values())] if events else [
        context([r for r in found if r.get("role") == "_system_prompt" or not r.get("role", "_").startswith("_")])]
