"""opencode's `MessageV2`: messages with parts (words, tools, borders of steps), exported or in tables."""

import json
import sqlite3

from support.oracle import Out, Talk, arguments, lines

TITLE = "opencode session"


def stored(path):
    conn = sqlite3.connect(path)
    for (sid,) in conn.execute("SELECT id FROM session ORDER BY parent_id IS NOT NULL, time_created"):
        messages = []
        for mid, data in conn.execute("SELECT id, data FROM message WHERE session_id = ? ORDER BY id", [sid]):
            parts = conn.execute("SELECT data FROM part WHERE message_id = ? ORDER BY id", [mid]).fetchall()
            messages.append({"info": json.loads(data), "parts": [json.loads(p) for (p,) in parts]})
        yield messages
    conn.close()


def words(message):
    return "\n".join(p.get("text") or "" if p["type"] == "text" else f"[file {p.get('filename') or 'unnamed'}]"
                     for p in message["parts"] if p.get("type") in ("text", "file") and p.get("synthetic") is not True)


def out(state):
    text = state.get("output") if state.get("status") == "completed" else state.get("error")
    code = (state.get("metadata") or {}).get("exit")
    return Out(text=text or "", code=code, failed=bool(code) or state.get("status") == "error")


def answers(parts):
    group = []
    for part in [*parts, {"type": "step-start"}]:
        if part.get("type") == "step-start" and any(p.get("type") in ("text", "reasoning", "tool") for p in group):
            yield group
            group = []
        group.append(part)


def talk_of(messages):
    talk = Talk()
    for message in messages:
        info = message["info"]
        if info.get("role") == "user":
            if text := words(message):
                talk.say("user", text)
        elif info.get("summary") is True:
            talk.context = [("user", words(message), ())]
        elif info.get("role") == "assistant":
            for group in answers(message["parts"]):
                tools = [p for p in group if p.get("type") == "tool"]
                tokens = next((p for p in reversed(group) if p.get("type") == "step-finish"), info).get("tokens") or {}
                cache = tokens.get("cache") or {}
                text = "\n\n".join(p.get("text") or "" for p in group if p.get("type") == "text")
                thought = "\n\n".join(p.get("text") or "" for p in group if p.get("type") == "reasoning")
                calls = [(p.get("tool") or "unknown", arguments(p["state"].get("input") or {})) for p in tools]
                talk.step(f"{thought}\n{text}", calls,
                          [out(p["state"]) for p in tools if p["state"].get("status") in ("completed", "error")],
                          tokens=(tokens["input"] + cache.get("read", 0) + cache.get("write", 0),
                                  tokens["output"] + tokens.get("reasoning", 0)) if tokens else (None, None),
                          answer=text)
    return talk.steps


def sessions(path):
    if path.read_bytes().startswith(b"SQLite"):
        return [talk_of(messages) for messages in stored(path)]
    found = lines(path)
    return [talk_of(found[0].get("messages", found))]
