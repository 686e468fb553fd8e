"""ATIF by Harbor's RFC: agent steps with calls and results; what is copied from an earlier context is no step."""

import json

from support.oracle import Out, Talk, arguments, lines

TITLE = "ATIF trajectory"


def words(value):
    if not isinstance(value, list):
        return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    places = [(p.get("source") or {}).get("path") for p in value]
    return "\n".join(p["text"] if isinstance(p.get("text"), str) else
                     f"[{p.get('type') or 'part'}{f': {place}' if place else ''}]"
                     for p, place in zip(value, places, strict=True))


def beside(path, name):
    there = path.parent / name if isinstance(name, str) and name and "/" not in name else None
    return json.loads(there.read_text()) if there and there.is_file() else None


def sessions(path):
    return list(run(path, lines(path)[0]))


def run(path, first):
    talk, children, more = Talk(), [], first
    while more:
        embedded = {c.get("trajectory_id") or c.get("session_id"): c for c in more.get("subagent_trajectories") or []}
        copied = handover = False
        for step in more["steps"]:
            text, source = words(step.get("message")), step["source"]
            results = (step.get("observation") or {}).get("results") or []
            if step.get("is_copied_context") and not copied and talk.steps:
                talk.context, copied = [], True
            shown = "\n".join(t for r in results if (t := words(r.get("content"))))
            refs = [ref for r in results for ref in r.get("subagent_trajectory_ref") or []]
            after, handover = handover, False
            if source == "agent" and step.get("is_copied_context"):
                talk.say("assistant", text)
            elif source == "agent":
                used = step.get("metrics") or {}
                calls = [(c["function_name"], arguments(c.get("arguments", {}))) for c in step.get("tool_calls") or []]
                talk.step(f"{step.get('reasoning_content') or ''}\n{text}", calls,
                          [Out(text=words(r.get("content"))) for r in results], answer=text,
                          tokens=(used.get("prompt_tokens"), used.get("completion_tokens")))
            elif source == "user":
                talk.say("user", text)
                handover = after
            elif source != "system":
                pass
            elif talk.steps and (any("summar" in str((r.get("extra") or {}).get("summary")).lower() for r in refs) or (
                    (step.get("extra") or {}).get("context_management") or {}).get("type") == "compaction"):
                talk.context, handover = [], True
                talk.say("user", shown or text)
            elif text or shown:
                talk.say("system", "\n".join(filter(None, (text, shown))))
            for ref in refs:
                child = embedded.pop(ref.get("trajectory_id") or ref.get("session_id"), None) or beside(
                    path, ref.get("trajectory_path"))
                children += [child] if child else []
        children += embedded.values()
        more = beside(path, more.get("continued_trajectory_ref"))
    yield talk.steps
    for child in children:
        yield from run(path, child)
