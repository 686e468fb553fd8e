"""Cline's `ui_messages.json` by `shared/ExtensionMessage.ts`: a step from each `api_req_started` to the next."""

import json

from support.oracle import Out, Talk, arguments, lines

TITLE = "Cline window messages"
CALLS = ("tool", "command", "use_mcp_server", "browser_action", "browser_action_launch", "mcp_server_request_started",
         "completion_result", "followup", "plan_mode_respond", "act_mode_respond", "new_task")
COUNTS = ("tokensIn", "cacheWrites", "cacheReads")
OUTPUTS = ("command_output", "mcp_server_response", "browser_action_result", "codebase_search_result", "subtask_result")
ERRORS = ("error", "diff_error", "api_req_failed", "clineignore_error", "rooignore_error", "mistake_limit_reached",
          "command_permission_denied")


def call(kind, text):
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, dict):
        name = value.pop("tool", "") or value.get("toolName") or kind
        return name, value
    return {"command": "execute_command", "completion_result": "attempt_completion"}.get(kind, kind), {
        "command" if kind == "command" else "text": text}


def sessions(path):
    messages = [m for m in lines(path) if m.get("partial") is not True]
    start = next(n for n, m in enumerate(messages) if m.get("say") == "api_req_started")
    asked = next((m.get("text") or "" for m in messages[:start] if m.get("say") in ("task", "text")), "")
    talk, now, later = Talk(), None, []
    talk.say("user", asked)

    def close():
        nonlocal now
        if now and (now["text"] or now["why"] or now["calls"] or now["outs"]):
            text = "\n".join(now["text"])
            talk.step("\n".join([*now["why"], text]), now["calls"], [o for _, o in now["outs"]], answer=text,
                      tokens=now["tokens"])
        for said in later:
            talk.say("user", said)
        later.clear()
        now = None

    for m in messages[start:]:
        kind, text = m[m["type"]], m.get("text") or ""
        if kind == "api_req_started":
            close()
            used = arguments(text) if isinstance(arguments(text), dict) else {}
            read = sum(used.get(k) or 0 for k in COUNTS) if "tokensIn" in used else None
            now = {"text": [], "why": [], "calls": [], "outs": [], "tokens": (read, used.get("tokensOut"))}
        elif now is None:
            continue
        elif kind == "reasoning":
            now["why"].append(text or m.get("reasoning") or "")
        elif kind == "text" and text:
            now["text"].append(text)
        elif kind in CALLS and text:
            now["calls"].append(call(kind, text))
        elif kind in OUTPUTS and text:
            last = now["outs"][-1] if now["outs"] else None
            if last and last[0] == len(now["calls"]) and not last[1].failed:
                last[1].text += f"\n{text}"
            else:
                now["outs"].append((len(now["calls"]), Out(text=text)))
        elif kind in ERRORS:
            now["outs"].append((len(now["calls"]), Out(text=text, failed=True)))
        elif kind in ("user_feedback", "user_feedback_diff") and text:
            later.append(text)
        elif kind == "condense_context":
            close()
            talk.context = []
            talk.say("user", (m.get("contextCondense") or {}).get("summary") or text
                     or "The context was condensed; the file does not say to what.")
    close()
    return [talk.steps]
