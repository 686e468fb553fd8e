"""Goose's `conversation/message.rs`: words, thinking, requests and responses of tools, in lines or a table."""

import json
import sqlite3

from support.oracle import Out, Talk, lines

TITLE = "Goose session"


def out(part):
    result = part["toolResult"]
    value = result.get("value") or {}
    shown = value if isinstance(value, list) else value.get("content") or []
    text = "\n".join(p.get("text") or "" for p in shown if (p.get("annotations") or {}).get("audience") != ["user"])
    return Out(text=text or result.get("error") or "", failed=result.get("status") == "error" or (
        isinstance(value, dict) and value.get("isError") is True))


def talk_of(messages):
    talk = Talk()
    for place, message in enumerate(messages):
        parts = message.get("content") or []
        text = "\n".join(p.get("text") or "" for p in parts if p["type"] == "text")
        if message.get("role") == "user" and text:
            talk.say("user", text)
        elif message.get("role") == "assistant":
            outs = []
            for after in messages[place + 1 :]:
                if not any(p["type"] == "toolResponse" for p in after["content"]):
                    break
                outs += [out(p) for p in after["content"] if p["type"] == "toolResponse"]
            thought = "\n".join(p.get("thinking") or "" for p in parts if p["type"] == "thinking")
            asked = [p["toolCall"]["value"] for p in parts if p["type"] == "toolRequest"]
            talk.step(f"{thought}\n{text}", [(c["name"], c["arguments"]) for c in asked], outs, answer=text)
    return talk.steps


def sessions(path):
    if not path.read_bytes().startswith(b"SQLite"):
        return [talk_of(lines(path)[1:])]
    conn = sqlite3.connect(path)
    found = []
    for (name,) in conn.execute("SELECT id FROM sessions ORDER BY id").fetchall():
        rows = conn.execute("SELECT role, content_json FROM messages WHERE session_id = ? ORDER BY id", [name])
        found.append(talk_of([{"role": role, "content": json.loads(content)} for role, content in rows]))
    conn.close()
    return found
