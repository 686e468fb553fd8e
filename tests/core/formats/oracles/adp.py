"""The Agent Data Protocol by its `schema`: actions, each with the observations after it."""

import json

from support.oracle import Out, Talk, lines

TITLE = "Agent Data Protocol"
ACTIONS = ("message_action", "code_action", "api_action")


def seen(item):
    value = next((item[k] for k in ("content", "axtree", "html", "url") if item.get(k)), "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def sessions(path):
    found, known = [], set()
    for row in lines(path):
        if json.dumps(row, sort_keys=True) in known:
            continue
        known.add(json.dumps(row, sort_keys=True))
        talk, items, at = Talk(), row["content"], 0
        while at < len(items):
            item, at = items[at], at + 1
            if item["class_"] not in ACTIONS:
                talk.say("user", seen(item))
                continue
            outs = []
            while at < len(items) and items[at]["class_"] not in ACTIONS and not (
                    item["class_"] == "message_action" and items[at].get("source") == "user"):
                outs.append(Out(text=seen(items[at])))
                at += 1
            thought = item.get("description") or ""
            if item["class_"] == "message_action":
                talk.step(f"{thought}\n{item.get('content') or ''}", [], outs)
            elif item["class_"] == "code_action":
                talk.step(thought, [(item.get("language") or "code", {"command": item.get("content") or ""})], outs,
                          called=False)
            else:
                talk.step(thought, [(item["function"], item.get("kwargs") or {})], outs)
        found += [talk.steps] if talk.steps else []
    return found
