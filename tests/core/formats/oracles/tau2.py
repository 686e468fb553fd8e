"""tau2-bench's pydantic models: `Results.simulations`, each with its messages."""

import json

from support.oracle import Out, Talk

TITLE = "tau2-bench results"


def sessions(path):
    value = json.loads(path.read_text(errors="replace"))
    found = []
    for run in value.get("simulations") or [value]:
        talk = Talk("simulated user")
        if policy := ((value.get("info") or {}).get("environment_info") or {}).get("policy"):
            talk.say("system", policy)
        messages = [m for one in run["messages"] for m in one.get("tool_messages") or [one]]
        answers = {m["id"]: m for m in messages if m["role"] == "tool" and m.get("requestor") != "user"}
        for one in messages:
            calls = one.get("tool_calls") or []
            if one["role"] == "user" and not calls:
                talk.say("user", one.get("content") or "")
            elif one["role"] == "assistant":
                used = one.get("usage") or {}
                hits = [answers[c["id"]] for c in calls if c["id"] in answers]
                talk.step(one.get("content") or "", [(c["name"], c["arguments"]) for c in calls],
                          [Out(text=m.get("content") or "", failed=m.get("error") is True) for m in hits],
                          tokens=(used.get("prompt_tokens"), used.get("completion_tokens")))
        found.append(talk.steps)
    return found
