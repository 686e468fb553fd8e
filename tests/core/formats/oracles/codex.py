"""Codex rollouts by codex-rs: `protocol` (RolloutItem), `core/rollout_reconstruction`, `compact`, `unified_exec`."""

import json
import re

from support.oracle import Out, Talk, arguments, lines

TITLE = "Codex CLI rollout"
CALLS = {"function_call", "custom_tool_call", "local_shell_call", "web_search_call"}
ADDED = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<permissions", "<INSTRUCTIONS>",
         "<turn_aborted>", "<collaboration_mode>", "<user_shell_command>", "<skill>", "<subagent_notification>")
REFUSED = ("failed in sandbox", "execution error: ", "exec_command failed", "write_stdin failed", "unsupported call",
           "apply_patch verification failed", "tool call error: ", "failed to parse function arguments",
           "aborted by user")


def words(content):
    return content if isinstance(content, str) else "\n".join(
        p.get("text") or f"[{p.get('type') or 'part'}]" for p in content or [])


def call(item):
    raw = item.get("arguments", item.get("input", item.get("action", {})))
    name = item.get("name") or item["type"].removesuffix("_call")
    return name, {"input": raw} if item["type"] == "custom_tool_call" and isinstance(raw, str) else arguments(raw)


def out(item, ends=()):
    end = next((p for p in ends if p.get("call_id") == item.get("call_id")), {})
    raw, whole = item.get("output"), {}
    if isinstance(raw, str) and raw.startswith("{"):
        try:
            whole = json.loads(raw)
        except ValueError:
            whole = {}
    elif isinstance(raw, dict):
        whole = raw
    inner = whole.get("output", whole.get("content")) if whole.keys() & {"output", "content"} else raw
    text = inner if isinstance(inner, str) else words(inner) if isinstance(inner, list) else json.dumps(
        inner, ensure_ascii=False)
    code = end.get("exit_code", (whole.get("metadata") or {}).get("exit_code"))
    before = text.split("Output:")[0] if "Output:" in text[:2000] else text.split("\n")[0]
    stated = re.search(r"(?im)^(?:process exited with code|exit code:?) (-?\d+)|^failed in sandbox.*exit code: (-?\d+)",
                       before)
    if code is None and stated:
        code = int(stated[1] or stated[2])
    return Out(text=text, code=code, failed=bool(code) or whole.get("success") is False or text.startswith(REFUSED)
               or end.get("success") is False or "Err" in (end.get("result") or {}))


def sessions(path):
    records = [r for r in lines(path) if isinstance(r, dict)]
    flat = [(r["type"], r["payload"]) if isinstance(r.get("payload"), dict) else
            ("response_item" if "type" in r else "session_meta", r) for r in records]
    meta = next((p for kind, p in flat if kind == "session_meta"), {})
    outs = [p for kind, p in flat if kind == "response_item" and str(p.get("type")).endswith("_call_output")]
    ends = [p for kind, p in flat if kind == "event_msg" and str(p.get("type")).endswith("_end")]
    talk, current, pending, total, turns, added = Talk(), None, (None, None), None, [], []
    first = meta.get("instructions") or (meta.get("base_instructions") or {}).get("text")
    if first:
        talk.say("system", first)
    base = len(talk.context)
    counted = any(p.get("type") == "token_count" and p.get("info") for kind, p in flat if kind == "event_msg")

    def close():
        nonlocal current
        if current and (current["texts"] or current["calls"] or current["thought"]):
            found = []
            for name, _ in current["calls"]:
                found += [out(o, ends) for o in outs if o.get("call_id") == name]
            talk.step("\n".join(current["thought"] + current["texts"]), [c for _, c in current["calls"]], found,
                      tokens=current["tokens"], answer="\n".join(current["texts"]))
        current = None

    def say(role, text):
        (turns if role == "user" and not text.lstrip().startswith(ADDED) else added).append(len(talk.context))
        talk.say("user" if role == "user" else "system", text)

    for kind, item in flat:
        what = item.get("type")
        if kind == "event_msg" and what == "token_count" and item.get("info"):
            used = item["info"].get("last_token_usage") or {}
            all_ = item["info"].get("total_token_usage") or used
            if all_ == total or not (used.get("input_tokens") or used.get("output_tokens")):
                total = all_
                continue
            total, tokens = all_, (used.get("input_tokens"), used.get("output_tokens"))
            if current is None or current["done"] or current["led"]:
                close()
                pending = tokens
            else:
                current["tokens"], current["done"] = tokens, True
        elif kind == "event_msg" and what == "thread_rolled_back" and item["num_turns"] and turns:
            close()
            cut = turns[max(0, len(turns) - item["num_turns"])]
            while cut > turns[0] and cut - 1 in added:
                cut -= 1
            talk.context = talk.context[:cut]
            turns[:], added[:] = [n for n in turns if n < cut], [n for n in added if n < cut]
        elif kind == "compacted":
            close()
            pending, old, said, opening = (None, None), talk.context, list(turns), [
                n for n in added if turns and n < turns[0]]
            talk.context, turns[:], added[:] = old[:base], [], []
            if isinstance(item.get("replacement_history"), list):
                for one in item["replacement_history"]:
                    if one.get("type", "message") == "message" and one.get("role") != "assistant":
                        say(one.get("role", "user"), words(one.get("content")))
                    elif one.get("type", "message") == "message":
                        talk.say("assistant", words(one.get("content")))
                    elif one["type"] in CALLS:
                        talk.say("assistant", "", [call(one)[0]])
                    elif one["type"].endswith("_call_output"):
                        talk.say("tool", out(one).text)
                    elif "compaction" in one["type"]:
                        say("user", "[encrypted summary]")
            else:
                for n in [*opening, *said]:
                    say(*old[n][:2])
                say("user", item.get("message") or "(no summary available)")
        elif kind != "response_item":
            continue
        elif str(what).endswith("_call_output"):
            if current:
                current["answered"] = True
        elif what in ("message", None) and item.get("role") != "assistant":
            if text := words(item.get("content")):
                close()
                say(item["role"], text)
        elif what in CALLS | {"message", "reasoning", None}:
            if current and (current["done"] or (not counted and current["answered"])):
                close()
            if current is None:
                current = {"texts": [], "thought": [], "calls": [], "tokens": pending, "done": False,
                           "led": pending != (None, None), "answered": False}
                pending = (None, None)
            if what == "reasoning":
                current["thought"] += [p["text"] for p in (item.get("summary") or []) + (item.get("content") or [])]
            elif what in CALLS:
                current["calls"].append((item.get("call_id"), call(item)))
            else:
                current["texts"].append(words(item.get("content")))
    close()
    return [talk.steps] if talk.steps else []
