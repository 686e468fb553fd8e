"""Chat completions by OpenAI's API reference: rows of `messages`, tau-bench's `traj`, or its printed messages."""

import json
import re

from support.oracle import Out, Talk, arguments, lines

TITLE = "OpenAI chat messages"
ROLES = {"developer": "system", "function": "tool"}


def words(content):
    return "\n".join(map(part, content)) if isinstance(content, list) else content or ""


def part(p):
    text = p if isinstance(p, str) else p.get("text", p.get("refusal"))
    return text if isinstance(text, str) else f"[{p.get('type') or p.get('content_type') or 'part'}]"


def calls(m):
    made = [c.get("function") or c["custom"] for c in m.get("tool_calls") or []]
    made += [m["function_call"]] if m.get("function_call") else []
    return [(c.get("name") or "unknown", {"input": c["input"]} if "input" in c else arguments(c.get("arguments", "")))
            for c in made]


def printed(text):
    turns = re.split(r"(?m)^(system|user|assistant|tool): ?", text)[1:]
    for role, said in zip(turns[::2], turns[1::2], strict=True):
        said = said.removesuffix("\n")
        yield {"role": role, "content": None if role == "assistant" and said == "None" else said}


def session(row):
    messages = list(row.get("messages", row.get("traj")) or printed(row.get("messages_display") or ""))
    reply = ((row.get("response") or {}).get("choices") or [{}])[0].get("message") or {}
    if reply.get("role") == "assistant":
        messages.append(reply)
    used = (row.get("response") or {}).get("usage") or {} if reply else {}
    has_calls = any(calls(m) or m["role"] in ("tool", "function") for m in messages)
    talk = Talk("simulated user" if "messages" not in row else "person" if has_calls else "user")
    for n, m in enumerate(messages):
        role = ROLES.get(m["role"], m["role"])
        if role == "assistant":
            after = messages[n + 1 :]
            stop = next((k for k, a in enumerate(after) if a["role"] == "assistant"), len(after))
            answers = [a for a in after[:stop] if a["role"] in ("tool", "function")]
            reasoning = m.get("reasoning_content") or m.get("reasoning") or ""
            last = reply and n == len(messages) - 1
            talk.step(f"{reasoning}\n{words(m.get('content'))}", calls(m) or [("unknown", {})] * len(answers),
                      [Out(text=words(a.get("content"))) for a in answers],
                      tokens=(used.get("prompt_tokens"), used.get("completion_tokens")) if last else (None, None))
            del talk.context[-1 - len(answers) :]
        talk.say(role, words(m.get("content")), [name for name, _ in calls(m)])
    return talk.steps


def sessions(path):
    rows = lines(path)
    bare = path.read_text()[:1] == "[" and all(isinstance(r, dict) and "role" in r and "content" in r for r in rows)
    if bare:
        rows = [{"messages": rows}]
    known, found = set(), []
    for row in (r for r in rows if isinstance(r, dict)):
        name = json.dumps(row, sort_keys=True)
        if name not in known and (steps := session(row)):
            known.add(name)
            found.append(steps)
    return found
