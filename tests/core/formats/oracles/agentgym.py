"""AgentGym by its README (AgentTraj, AgentInstruct), and WebShop's human logs: ReAct texts, or visited pages."""

import json
import re

from support.oracle import Out, Talk, lines

TITLE = "AgentGym trajectories"


def action(text):
    if fenced := re.fullmatch(r"(\w+)?\s*```[^\n]*\n(.*?)\n?```\s*", text, re.DOTALL):
        return fenced[1] or "code", {"command": fenced[2]}
    if named := re.fullmatch(r"([A-Za-z_]\w*)\s*[(\[](.*)[)\]]\s*", text, re.DOTALL):
        return named[1], {"text": named[2]}
    return (text, {}) if re.fullmatch(r"\w{1,40}", text) else ("action", {"command": text})


def row_of(row):
    talk, acted = Talk(), False
    turns = [(t.get("from", t.get("role")), t.get("value", t.get("content"))) for t in row["conversations"]]
    for n, (who, text) in enumerate(turns):
        if who not in ("gpt", "assistant"):
            if not acted:
                talk.say("system" if who == "system" else "user", text)
            acted = False
            continue
        react = re.match(r"(?is)\s*(?:Thought|Think)s?\s*:(.*?)(?:\n|^)\s*Act(?:ion)?\s*:\s*(.*)", text)
        after = turns[n + 1] if n + 1 < len(turns) else ("", "")
        acted = bool(react) and after[0] in ("human", "user")
        talk.step(react[1] if react else text, [action(react[2].strip())] if react else [],
                  [Out(text=after[1], role="user")] if acted else [], answer=text, called=False)
    return talk.steps


def sessions(path):
    rows = [r for r in lines(path) if isinstance(r, dict)]
    pages = [r for r in rows if {"page", "url", "goal"} <= r.keys()]
    if pages:
        talk = Talk()
        for page in pages:
            shown = page.get("content")
            talk.step("", [(page["page"], {"url": page["url"]})],
                      [Out(text=json.dumps(shown, ensure_ascii=False))] if shown else [], called=False)
        return [talk.steps]
    known, found = set(), []
    for row in rows:
        name = json.dumps(row, sort_keys=True)
        if name not in known and (steps := row_of(row)):
            known.add(name)
            found.append(steps)
    return found
