"""Gemini CLI's chat recordings by its `chatRecordingService`: `{sessionId, messages}`, lines of them, or contents."""

import json

from support.oracle import Out, Talk, lines

TITLE = "Gemini CLI chat"


def words(content):
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content] if content else []
    return "\n".join(p if isinstance(p, str) else "" if p.keys() & {"functionCall", "functionResponse"} or p.get(
        "thought") is True else p["text"] if p.get("text") else f"[{next(iter(p), 'part')}]" for p in parts)


def out(call):
    texts, failed = [], False
    for part in call.get("result") or []:
        if (part.get("functionResponse") or {}).get("id") not in (None, "", call.get("id")):
            continue
        response = (part.get("functionResponse") or {}).get("response") or {}
        failed = failed or bool(response.get("error"))
        shown = response.get("output", response.get("error"))
        texts.append(part.get("text", "") if shown is None else shown if isinstance(shown, str) else json.dumps(
            shown, ensure_ascii=False))
    text = "\n".join(filter(None, texts)) or (call.get("resultDisplay") if isinstance(
        call.get("resultDisplay"), str) else "") or ""
    return Out(text=text, failed=failed or call.get("status") in ("error", "cancelled"))


def is_answer(one):
    return isinstance(one.get("content"), list) and any("functionResponse" in p for p in one["content"])


def recorded(found):
    """The messages in order, and each history (`$set`) that took the place of those before it."""
    head = next((r for r in found if "sessionId" in r), {})
    kept, last = {}, None
    for n, one in enumerate([*(head.get("messages") or []), *found]):
        if back := one.get("$rewindTo"):
            old = [m.get("id") for m in last["history"]] if last else []
            names = list(kept)
            cut = names.index(back) if back in kept else names.index(last["at"]) + 1 if back in old else 0
            kept = {k: v for i, (k, v) in enumerate(kept.items()) if i < cut or (back in old and v is last)}
            if back in old:
                last["history"] = last["history"][: old.index(back)]
        elif one.get("type") in ("user", "gemini"):
            kept[one.get("id") or n] = one
        elif isinstance((one.get("$set") or {}).get("messages"), list):
            last = kept[n] = {"history": one["$set"]["messages"], "at": n}
            last["is_new"] = any(m["type"] == "user" and m.get("id") not in kept and not is_answer(m)
                                 for m in last["history"])
    return kept.values()


def checkpoint(contents):
    made = []
    for one in contents:
        parts = one["parts"]
        if one.get("role") == "model":
            made.append({"type": "gemini", "content": [p for p in parts if not p.get("thought")],
                         "thoughts": [{"description": p["text"]} for p in parts if p.get("thought")],
                         "toolCalls": [dict(p["functionCall"]) for p in parts if "functionCall" in p]})
        elif answers := [p["functionResponse"] for p in parts if "functionResponse" in p]:
            for call, answer in zip(made[-1]["toolCalls"], answers, strict=False):
                call["result"] = [{"functionResponse": answer}]
        else:
            made.append({"type": "user", "content": parts})
    return made


def answer(one):
    parts = one["content"] if isinstance(one.get("content"), list) else []
    calls = list(one.get("toolCalls") or [])
    calls += [c for p in parts if (c := p.get("functionCall")) and c["id"] not in [d["id"] for d in calls]]
    thoughts = [p["text"] for p in parts if p.get("thought") is True] or [
        ": ".join(filter(None, (t.get("subject"), t.get("description")))) for t in one.get("thoughts") or []]
    return (words(one.get("content")), "\n".join(thoughts), [(c["name"], c.get("args") or {}) for c in calls],
            [out(c) for c in calls if c.get("result") or c.get("status")])


def sessions(path):
    found = [r for r in lines(path) if isinstance(r, dict)]
    talk = Talk()
    for one in checkpoint(found) if all("parts" in r for r in found) else recorded(found):
        if "history" in one:
            talk.context = []
            for past in one["history"]:
                if past["type"] == "user" and not is_answer(past):
                    talk.say("user", words(past.get("content")))
                elif past["type"] == "gemini":
                    text, _, calls, outs = answer(past)
                    talk.say("assistant", text, [name for name, _ in calls])
                    for each in outs:
                        talk.say("tool", each.text)
        elif one["type"] == "user":
            if not is_answer(one):
                talk.say("user", words(one.get("content")))
        else:
            tokens = one.get("tokens") or {}
            text, thought, calls, outs = answer(one)
            talk.step(f"{thought}\n{text}", calls, outs, answer=text, tokens=(
                None if tokens.get("input") is None else tokens["input"] + (tokens.get("tool") or 0),
                None if tokens.get("output") is None else tokens["output"] + (tokens.get("thoughts") or 0)))
    return [talk.steps] if talk.steps else []
