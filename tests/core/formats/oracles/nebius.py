"""Nebius' SWE-agent-trajectories by their data set card: `ai` turns, whose last code block is run."""

import re

from support.oracle import Out, Talk, lines

TITLE = "Nebius SWE-agent trajectories"
OWN = ("submit", "edit", "open", "create", "goto", "scroll_up", "scroll_down", "search_dir", "search_file", "find_file")


def sessions(path):
    found = []
    for run in lines(path):
        talk, turns = Talk(), run["trajectory"]
        for n, turn in enumerate(turns):
            text = turn.get("text") or turn.get("system_prompt") or ""
            if turn["role"] != "ai":
                if n == 0 or turns[n - 1]["role"] != "ai" or turn["role"] == "system":
                    talk.say("system" if turn["role"] == "system" else "user", text)
                continue
            block = list(re.finditer(r"```[^\n]*\n(.*?)\n?```", text, re.DOTALL))
            last = block[-1] if block else None
            first = (last[1].split() or [""])[0] if last else ""
            calls = [(first if first in OWN else "command", {"command": last[1]})] if last else []
            after = turns[n + 1] if n + 1 < len(turns) and turns[n + 1]["role"] == "user" else None
            talk.step(text[: last.start()] + text[last.end() :] if last else text, calls,
                      [Out(text=after.get("text") or "", role="user")] if after else [], answer=text, called=False)
        found += [talk.steps] if talk.steps else []
    return found
