"""Gemini CLI's chat recordings by its `chatRecordingService`: `{sessionId, messages}`, lines of them, or contents."""

import json

from support.oracle import Out, Talk, lines

TITLE = "Gemini CLI chat"


def words(content):
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content] if content else []
    return "\n".join(p if isinstance(p, str) else p["text"] if p.get("text") else "" if "functionCall" in p
                     else f"[{next(iter(p), 'part')}]" for p in parts)


def out(call):
    texts, failed = [], False
    for part in call.get("result") or []:
        response = (part.get("functionResponse") or {}).get("response") or {}
        failed = failed or bool(response.get("error"))
        shown = response.get("output", response.get("error"))
        texts.append(part.get("text", "") if shown is None else shown if isinstance(shown, str) else json.dumps(
            shown, ensure_ascii=False))
    text = "\n".join(filter(None, texts)) or (call.get("resultDisplay") if isinstance(
        call.get("resultDisplay"), str) else "") or ""
    return Out(text=text, failed=failed or call.get("status") in ("error", "cancelled"))


def recorded(found):
    head = next((r for r in found if "sessionId" in r), {})
    kept = {}
    for n, one in enumerate([*(head.get("messages") or []), *found]):
        if one.get("$rewindTo") in kept:
            names = list(kept)
            kept = {k: kept[k] for k in names[: names.index(one["$rewindTo"])]}
        elif one.get("type") in ("user", "gemini"):
            kept[one.get("id") or n] = one
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


def sessions(path):
    found = [r for r in lines(path) if isinstance(r, dict)]
    talk = Talk()
    for one in checkpoint(found) if all("parts" in r for r in found) else recorded(found):
        if one["type"] == "user":
            talk.say("user", words(one.get("content")))
            continue
        calls, tokens = one.get("toolCalls") or [], one.get("tokens") or {}
        thought = "\n".join(": ".join(filter(None, (t.get("subject"), t.get("description"))))
                            for t in one.get("thoughts") or [])
        talk.step(f"{thought}\n{words(one.get('content'))}", [(c["name"], c.get("args") or {}) for c in calls],
                  [out(c) for c in calls if c.get("result") or c.get("status")], answer=words(one.get("content")),
                  tokens=(None if tokens.get("input") is None else tokens["input"] + (tokens.get("tool") or 0),
                          None if tokens.get("output") is None else tokens["output"] + (tokens.get("thoughts") or 0)))
    return [talk.steps] if talk.steps else []
