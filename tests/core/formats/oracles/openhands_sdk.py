"""OpenHands' SDK by `openhands/sdk/event`: ActionEvents of one `llm_response_id` with what answers their calls."""

import json

from support.oracle import Out, Talk, arguments, lines

TITLE = "OpenHands SDK conversation"
RESULTS = ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation")


def words(parts):
    return parts if isinstance(parts, str) else "\n".join(
        p.get("text") or f"[{p.get('type') or 'part'}]" for p in parts or [])


def out(event):
    if event["kind"] != "ObservationEvent":
        return Out(text=event.get("error") or event.get("rejection_reason") or "", failed=True)
    seen = event["observation"]
    text, code = words(seen.get("content")) or seen.get("output") or "", seen.get("exit_code")
    return Out(text=text, code=code, failed=seen.get("is_error") is True or bool(code) or seen.get("timeout") is True)


def used(event):
    if event["kind"] != "ConversationStateUpdateEvent" or event.get("key") != "stats":
        return None
    counts = ((event["value"].get("usage_to_metrics") or {}).get("default") or {}).get("accumulated_token_usage")
    return counts if counts or (event["value"].get("usage_to_metrics") or {}).get("default") else None


def sessions(path):
    if path.name == "base_state.json":
        events = [json.loads(p.read_text()) for p in sorted((path.parent / "events").glob("*.json"))]
    else:
        events = [e for e in lines(path) if isinstance(e, dict)]
    talk, before, tokens, group = Talk(), (0, 0), (None, None), []
    acts = [e for e in events if e["kind"] == "ActionEvent"]
    ids, calls = {e["id"] for e in acts}, {e.get("tool_call_id") for e in acts}

    def close():
        nonlocal tokens
        if not group:
            return
        made = []
        for e in group:
            function = (e.get("tool_call") or {}).get("function") or e.get("tool_call") or {}
            raw = function.get("arguments") or {k: v for k, v in (e.get("action") or {}).items() if k != "kind"}
            made.append((e.get("tool_name") or function.get("name") or "unknown", arguments(raw)))
        thought = "\n".join(words(e.get("thought")) for e in group)
        outs = [out(r) for e in group for r in events if r["kind"] in RESULTS
                and r.get("tool_call_id") == e.get("tool_call_id")]
        talk.step(f"{group[0].get('reasoning_content') or ''}\n{thought}", made, outs, answer=thought, tokens=tokens)
        tokens = (None, None)
        group.clear()

    for event in events:
        kind = event["kind"]
        orphan = kind in RESULTS and event.get("action_id") not in ids and event.get("tool_call_id") not in calls
        if kind == "ActionEvent":
            if group and event.get("llm_response_id") != group[0].get("llm_response_id"):
                close()
            group.append(event)
        elif (counts := used(event)) is not None:
            close()
            now = (counts.get("prompt_tokens") or 0, counts.get("completion_tokens") or 0)
            new, before = (now[0] - before[0], now[1] - before[1]), now
            tokens = new if sum(new) == counts.get("per_turn_token") else (None, None)
        elif kind == "SystemPromptEvent":
            close()
            talk.say("system", (event.get("system_prompt") or {}).get("text") or "")
        elif kind == "MessageEvent":
            close()
            text = words(event["llm_message"].get("content"))
            if event["source"] == "agent":
                talk.step(f"{event['llm_message'].get('reasoning_content') or ''}\n{text}", answer=text, tokens=tokens)
                tokens = (None, None)
            else:
                talk.say("user", text)
        elif kind == "Condensation":
            close()
            talk.context = []
            talk.say("user", event.get("summary") or "Earlier events were left out.")
        elif orphan:
            close()
            talk.step("", [(event["tool_name"] or "unknown", {})], [out(event)], called=False, tokens=tokens)
            tokens = (None, None)
    close()
    return [talk.steps]
