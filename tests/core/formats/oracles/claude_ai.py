"""Claude.ai's export as it is known: conversations of `chat_messages`, whose contents are blocks."""

from support.oracle import Out, Talk, lines

TITLE = "Claude.ai export"


def texts(blocks):
    return "\n\n".join(b.get("text") or "" if b.get("type") == "text" else f"[{b.get('type') or 'part'}]"
                       for b in blocks if b.get("type") not in ("thinking", "tool_use", "tool_result", "token_budget"))


def sessions(path):
    found = []
    for value in lines(path):
        talk = Talk()
        for message in value["chat_messages"]:
            blocks = message.get("content") or [{"type": "text", "text": message.get("text") or ""}]
            if message["sender"] == "human":
                parts = [texts(blocks) or message.get("text") or ""]
                parts += [f"[{a.get('file_name') or 'attachment'}]\n{a.get('extracted_content')}"
                          for a in message.get("attachments") or []]
                parts += [f"[{f.get('file_name') or 'file'}]" for f in message.get("files") or []]
                talk.say("user", "\n".join(parts))
                continue
            groups = [[]]
            for block in (b for b in blocks if b.get("type") != "token_budget"):
                if block.get("type") != "tool_result" and any(b.get("type") == "tool_result" for b in groups[-1]):
                    groups.append([])
                groups[-1].append(block)
            for group in groups:
                thought = "\n".join(b.get("thinking") or "" for b in group if b.get("type") == "thinking")
                text = texts(group)
                called = [b for b in group if b.get("type") == "tool_use"]
                talk.step(f"{thought}\n{text}", [(b.get("name") or "unknown", b.get("input", {})) for b in called],
                          [Out(text=texts(b.get("content") or []) if not isinstance(b.get("content"), str)
                               else b["content"], failed=b.get("is_error") is True)
                           for b in group if b.get("type") == "tool_result"], answer=text)
        found.append(talk.steps)
    return found
