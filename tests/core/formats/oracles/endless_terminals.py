"""Endless Terminals' solutions by `harbor/agent`: `<command>` or `<action>`, the answer ends in `(exit_code=n)`."""

import re

from support.oracle import Out, Talk, lines

TITLE = "Endless Terminals solutions"


def sessions(path):
    found = []
    for run in lines(path)[0]["results"]:
        talk, messages = Talk(), run["messages"]
        for n, m in enumerate(messages):
            if m["role"] != "assistant":
                if n == 0 or messages[n - 1]["role"] != "assistant":
                    talk.say(m["role"], m["content"])
                continue
            part = re.search(r"<(command|action)>(.*?)</\1>", m["content"], re.DOTALL)
            calls = [] if not part else [("command", {"command": part[2]})] if part[1] == "command" else [
                (part[2].strip() or "action", {})]
            outs = []
            if n + 1 < len(messages) and messages[n + 1]["role"] != "assistant":
                code = re.search(r"\(exit_code=(-?\d+)\)\s*\Z", messages[n + 1]["content"])
                code = int(code[1]) if code else None
                outs = [Out(text=messages[n + 1]["content"], code=code, failed=bool(code), role="user")]
            text = m["content"].replace(part[0], "", 1) if part else m["content"]
            talk.step(text, calls, outs, answer=m["content"], called=False)
        found += [talk.steps] if talk.steps else []
    return found
