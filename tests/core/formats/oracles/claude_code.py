"""Claude Code's session files: lines by `uuid`; an answer is all lines of one `message.id`, a subagent a side chain."""

import re

from support.oracle import Out, Talk, lines

TITLE = "Claude Code session"
COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def blocks(content):
    return [{"type": "text", "text": content}] if isinstance(content, str) else [
        b for b in content or [] if isinstance(b, dict)]


def words(content):
    hidden = ("thinking", "redacted_thinking", "tool_use", "server_tool_use", "tool_result")
    return "\n\n".join(t for b in blocks(content) if b.get("type") not in hidden
                       and (t := b.get("text") or "" if b.get("type") == "text" else f"[{b.get('type') or 'part'}]"))


def out(block, line):
    text, result = words(block.get("content")), line.get("toolUseResult")
    result = result if isinstance(result, dict) else {}
    stated = re.match(r"(?:Error: )?Exit code (\d+)", text) if block.get("is_error") is True else None
    code = result.get("exitCode", int(stated[1]) if stated else None)
    return Out(text=text, code=code, failed=block.get("is_error") is True or result.get("interrupted") is True)


def session(own):
    talk, answers, results, owner = Talk(), {}, {}, {}
    for line in own:
        message = line.get("message") if isinstance(line.get("message"), dict) else {}
        if line["type"] == "assistant":
            name = message.get("id") or line.get("uuid") or id(line)
            answers.setdefault(name, []).append(line)
            for b in blocks(message.get("content")):
                if b.get("type") in ("tool_use", "server_tool_use"):
                    owner[b.get("id")] = name
        elif line["type"] == "user":
            for b in blocks(message.get("content")):
                if b.get("type") == "tool_result" and b.get("tool_use_id") in owner:
                    results.setdefault(owner[b["tool_use_id"]], []).append(out(b, line))
    done, after, last, queue, told = set(), {}, None, [], []
    for n, line in enumerate(own):
        if last is not None:
            after.setdefault(last.get("uuid"), (n - 1, list(talk.context)))
        last = line
        message = line.get("message") if isinstance(line.get("message"), dict) else {}
        if line["type"] == "assistant":
            name = message.get("id") or line.get("uuid") or id(line)
            if name in done:
                continue
            done.add(name)
            content = [b for x in answers[name] for b in blocks(x["message"].get("content"))]
            last = answers[name][-1]
            usage = last["message"].get("usage") or {}
            counts = [usage[k] for k in COUNTS if isinstance(usage.get(k), int)]
            calls = [(b.get("name"), b.get("input", {})) for b in content if b.get("type") in ("tool_use",
                                                                                             "server_tool_use")]
            thought = "\n".join(b["thinking"] for b in content if b.get("thinking"))
            outs = results.get(name, [])
            if last.get("isApiErrorMessage") is True:
                outs = [*outs, Out(text=words(content), failed=True)]
            talk.step(f"{thought}\n{words(content)}", calls, outs, answer=words(content),
                      tokens=(sum(counts) if counts else None, usage.get("output_tokens")))
        elif line["type"] == "user" and (text := words(message.get("content"))):
            if line.get("isCompactSummary"):
                talk.context = []
            went, then = after.get(line.get("parentUuid"), (n, None))
            left = own[went + 1 : n]
            fresh = [x for x in left if x["type"] == "assistant" and (x["message"].get("id") or x.get("uuid")) not in [
                y["message"].get("id") or y.get("uuid") for y in own[: went + 1] if y["type"] == "assistant"]]
            if then is not None and fresh and not any(x.get("isCompactSummary") for x in left):
                talk.context = then
            talk.say("user", text)
        elif line["type"] == "attachment" and (line.get("attachment") or {}).get("type") == "queued_command":
            prompt = line["attachment"].get("prompt")
            text = words(prompt)
            if text in told:
                told.remove(text)
            elif text:
                queue = [None if x == text else x for x in queue]
                talk.say("user", text)
        elif line["type"] == "queue-operation":
            if line.get("operation") == "enqueue":
                queue.append(words(line.get("content")))
            elif line.get("operation") == "popAll":
                queue = []
            elif line.get("operation") in ("remove", "dequeue") and queue:
                text = queue.pop(0)
                if line["operation"] == "remove" and text:
                    told.append(text)
                    talk.say("user", text)
    return talk.steps


def sessions(path):
    own, chains, root = [], {}, {}
    for line in lines(path):
        line = line if isinstance(line, dict) else {}
        told = line.get("data") if isinstance(line.get("data"), dict) else {}
        if line.get("type") == "progress" and told.get("type") == "agent_progress":
            line = {**told["message"], "isSidechain": True, "agentId": told["agentId"]}
        if not isinstance(line, dict) or line.get("type") not in ("user", "assistant", "attachment", "system",
                                                                  "queue-operation"):
            continue
        if "session_id" in line and "sessionId" not in line:
            caller = line.get("parent_tool_use_id") or ""
            line = {**line, "isSidechain": bool(caller), "agentId": caller}
        if not line.get("isSidechain"):
            own.append(line)
            continue
        if line.get("uuid") in root:
            continue
        key = line.get("agentId") or root.get(line.get("parentUuid")) or line.get("uuid") or "sidechain"
        root[line.get("uuid")] = key
        chains.setdefault(key, []).append(line)
    return [steps for chain in (own, *chains.values()) if (steps := session(chain))]
