"""ChatGPT's export as it is known: a tree of messages per conversation, read along the path to its current node."""

import json

from support.oracle import Out, Talk, lines

TITLE = "ChatGPT export"


def words(message):
    content = message.get("content") or {}
    if isinstance(content.get("parts"), list):
        return "\n".join(p if isinstance(p, str) else p.get("text") or f"[{p.get('content_type') or 'part'}]"
                         for p in content["parts"])
    thoughts = "\n".join(f"{t.get('summary') or ''}\n{t.get('content') or ''}" for t in content.get("thoughts") or [])
    standing = "\n".join(content[n] for n in ("user_profile", "user_instructions") if content.get(n))
    return thoughts or content.get("text") or content.get("result") or content.get("content") or standing


def path_of(value):
    node, found = value.get("current_node"), []
    while node in value["mapping"]:
        found.append(value["mapping"][node].get("message"))
        node = value["mapping"][node].get("parent")
    return [m for m in reversed(found) if m]


def call(message):
    text = words(message)
    try:
        given = json.loads(text)
    except ValueError:
        given = None
    return message.get("recipient") or "python", given if isinstance(given, dict) else {"code": text}


def failed(message):
    """By the kind of the result, or by the interpreter's own report of the run."""
    run = (message.get("metadata") or {}).get("aggregate_result") or {}
    ways = ("in_kernel_exception", "system_exception", "timeout_triggered")
    return message["content"].get("content_type") in ("system_error", "execution_error") or any(map(run.get, ways))


def sessions(path):
    found = []
    for value in lines(path):
        talk, thoughts, said, calls, outs = Talk(), [], [], [], []
        messages = path_of(value)
        for place, message in enumerate(messages):
            role, kind = message["author"]["role"], message["content"].get("content_type")
            if role == "assistant":
                if kind == "thoughts" and words(message):
                    thoughts.append(words(message))
                elif message.get("recipient") not in (None, "", "all") or kind == "code":
                    calls.append(call(message))
                elif kind not in ("thoughts", "reasoning_recap") and words(message):
                    said.append(words(message))
            elif role == "tool":
                outs.append(Out(text=words(message), failed=failed(message)))
            elif text := words(message):
                talk.say("user" if role == "user" and kind != "user_editable_context" else "system", text)
            after = messages[place + 1] if place + 1 < len(messages) else None
            over = after is None or after["author"]["role"] in ("user", "system") or (
                role == "tool" and after["author"]["role"] == "assistant") or (said and not calls and not outs)
            if over and (said or calls or thoughts or outs):
                talk.step("\n".join([*thoughts, *said]), calls, outs, answer="\n".join(said))
                thoughts, said, calls, outs = [], [], [], []
        found.append(talk.steps)
    return found
