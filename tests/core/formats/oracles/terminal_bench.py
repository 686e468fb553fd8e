"""terminal-bench trials and asciicasts (asciinema's v1–v3): keys that were sent up to a line's end are a step."""

import ast
import json

from support.oracle import Step

TITLE = "terminal-bench trial or asciicast"


def typed(path):
    """The keys of a cast in the order of its events."""
    text = path.read_text(errors="replace")
    try:
        json.loads(text)
        return []
    except ValueError:
        pass
    keys = []
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, list) and len(event) == 3 and event[1] == "i" and isinstance(event[2], str):
            keys.append(event[2])
    return keys


def steps(keys):
    found, now = [], ""
    for key in keys:
        if now.endswith(("\r", "\n")):
            found, now = [*found, now], ""
        now += key
    return [Step(calls=[("send_keys", {"command": k})], context=[]) for k in ([*found, now] if now else found)]


def sessions(path):
    if path.suffix == ".cast":
        return [steps(typed(path))]
    cast, sent = path.parent / "sessions" / "agent.cast", path.parent / "commands.txt"
    made = steps(typed(cast)) if cast.is_file() else []
    if not made and sent.is_file():
        rows = [ast.literal_eval(line) for line in sent.read_text().splitlines() if line.strip()]
        keys = ["".join(map(str, r)) if isinstance(r, list | tuple) else str(r) for r in rows]
        made = [Step(calls=[("send_keys", {"command": k})], context=[]) for k in keys]
    return [made]
