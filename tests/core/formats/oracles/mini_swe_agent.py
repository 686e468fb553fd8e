"""mini-swe-agent by its `run/utilities/inspector.py`: an assistant message with what follows it."""

import re

from support.oracle import Out, Talk, arguments, lines

TITLE = "mini-swe-agent trajectory"
BLOCK = r"```(?:mswea_bash_command|bash)\s*\n(.*?)\n?```"
HUMAN = ("UserInterruption", "UserRejection", "UserNewTask")


def words(content):
    return content if isinstance(content, str) else "\n".join(p.get("text", "") for p in content or [])


def sessions(path):
    found = lines(path)
    run = found[0] if isinstance(found[0], dict) and "messages" in found[0] else {"messages": found}
    talk, messages = Talk(), run["messages"]
    starts = [n for n, m in enumerate(messages) if m["role"] == "assistant" or (m.get("extra") or {}).get("actions")]
    for m in messages[: starts[0]]:
        talk.say("system" if m["role"] == "system" else "user", words(m.get("content")))
    for start, stop in zip(starts, [*starts[1:], len(messages)], strict=True):
        message = messages[start]
        extra, text = message.get("extra") or {}, words(message.get("content"))
        after = [m for m in messages[start + 1 : stop] if m["role"] != "exit"]
        human = [m for m in after if (m.get("extra") or {}).get("interrupt_type") in HUMAN]
        native = [(c["function"]["name"], arguments(c["function"]["arguments"]))
                  for c in message.get("tool_calls") or []]
        blocks = re.findall(BLOCK, text, re.DOTALL)
        calls = [("bash", {"command": a.get("command")}) for a in extra.get("actions") or []] or native or [
            ("bash", {"command": b}) for b in blocks if len(blocks) == 1]
        outs = []
        for m in (m for m in after if m not in human):
            more, shown = m.get("extra") or {}, words(m.get("content"))
            tag = re.match(r"\s*<returncode>(-?\d+)</returncode>", shown)
            code = more.get("returncode", int(tag[1]) if tag else None)
            if more.get("exception_info") == "action was not executed" and code == -1:
                code, more = None, {}
            failed = bool(code) or bool(more.get("exception_info")) or more.get("interrupt_type") == "FormatError"
            outs.append(Out(text=shown, code=code, failed=failed, role="tool" if m["role"] == "tool" else "user"))
        usage = (extra.get("response") or {}).get("usage") or {}
        talk.step(text, calls, outs, tokens=(usage.get("prompt_tokens"), usage.get("completion_tokens")),
                  called=False)
        talk.context[-1 - len(outs)] = ("assistant", text, tuple(name for name, _ in native))
        for m in human:
            talk.say("user", words(m.get("content")))
    return [talk.steps]
