"""Cline's `api_conversation_history.json` and its SDK's messages; in old ones calls are XML and results have titles."""

import json
import re

from support.oracle import Out, Talk, arguments, lines

TITLE = "Cline conversation"
TOOLS = ("execute_command|read_file|write_to_file|replace_in_file|apply_diff|insert_content|search_files|list_files|"
         "list_code_definition_names|browser_action|use_mcp_tool|access_mcp_resource|ask_followup_question|"
         "attempt_completion|new_task|plan_mode_respond|load_mcp_documentation|web_fetch|condense|switch_mode|"
         "update_todo_list|use_subagents|subagents")
HIDDEN = ("thinking", "redacted_thinking", "tool_use", "server_tool_use", "tool_result")


def blocks(content):
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def out(block):
    raw = block.get("content")
    try:
        rows = [json.loads(raw)] if isinstance(raw, str) else raw or []
    except ValueError:
        rows = []
    failed = any(isinstance(r, dict) and "query" in r and r.get("success") is False for r in rows)
    plain = isinstance(raw, str) or any("type" in r for r in rows) or not rows
    return Out(text=words(raw) if plain else json.dumps(raw, ensure_ascii=False),
               failed=block.get("is_error") is True or failed)


def outcome(said):
    code = re.match(r"Command failed with exit code (-?\d+)", said)
    fine = said.startswith("Command executed successfully (exit code 0)")
    return {"code": 0 if fine else int(code[1]) if code else None,
            "failed": bool(code) or said.startswith("The user denied this operation.")}


def words(content):
    texts = []
    for b in blocks(content):
        if b["type"] == "file" and isinstance(b.get("content"), str):
            texts.append(f"{b.get('path') or ''}\n{b['content']}")
        elif b["type"] not in HIDDEN:
            texts.append(b.get("text", "") if b["type"] == "text" else f"[{b['type']}]")
    return "\n\n".join(filter(None, texts))


def beside(path, answers):
    found = path.parent / "ui_messages.json"
    if found == path or not found.is_file():
        return []
    asked = [arguments(m["text"]) for m in json.loads(found.read_text()) if m.get("say") == "api_req_started"]
    asked = [r if isinstance(r, dict) else {} for r in asked]
    counted = [(sum(r.get(k) or 0 for k in ("tokensIn", "cacheWrites", "cacheReads")) if "tokensIn" in r else None,
                r.get("tokensOut")) for r in asked]
    return counted if len(counted) == answers else []


def sessions(path):
    found = lines(path)
    whole = found[0] if isinstance(found[0].get("messages"), list) else {"messages": found}
    messages, talk = whole["messages"], Talk()
    counted = beside(path, sum(m["role"] == "assistant" for m in messages))
    if whole.get("system_prompt"):
        talk.say("system", whole["system_prompt"])
    for n, m in enumerate(messages):
        content = blocks(m["content"])
        if m["role"] != "assistant":
            if n == 0 or messages[n - 1]["role"] != "assistant":
                talk.say("user", words(content))
            continue
        after = messages[n + 1] if n + 1 < len(messages) else {}
        reply = blocks(after["content"]) if after.get("role") == "user" else []
        titled = re.compile(rf"(?s)\[(?:{TOOLS})\b.*?\] Result:\n?")
        text, calls = words(content), [(b["name"], b.get("input", {})) for b in content if b["type"] == "tool_use"]
        native = [name for name, _ in calls]
        shown = text
        if not calls:
            calls = [(name, {k: v.strip() for k, v in re.findall(r"(?s)<(\w{1,40})>(.*?)</\1>", inner)})
                     for name, inner in re.findall(rf"(?s)<({TOOLS})>(.*?)</\1>", text)]
            shown = re.sub(rf"(?s)<({TOOLS})>.*?</\1>", "", text) if calls else text
        outs = [out(b) for b in reply if b["type"] == "tool_result"] or [
            Out(text=b["text"], role="user", **outcome(titled.sub("", b["text"], count=1)))
            for b in reply if b["type"] == "text" and titled.match(b["text"])]
        used = m.get("metrics") or {}
        tokens = used.get("tokens") or {}
        counts = (tokens["prompt"] + (tokens.get("cached") or 0), tokens.get("completion")) if "prompt" in tokens else (
            used.get("inputTokens"), used.get("outputTokens"))
        if counted:
            place = sum(x["role"] == "assistant" for x in messages[:n])
            counts = counts if counts != (None, None) else counted[place]
        thought = "\n".join(b["thinking"] for b in content if b.get("thinking"))
        talk.step(f"{thought}\n{shown}", calls, outs, answer=text, tokens=counts, called=False)
        talk.context[-1 - len(outs)] = ("assistant", text, tuple(native))
        for b in reply:
            said = words([b])
            if said and not titled.match(said):
                talk.say("user", said)
    return [talk.steps]
