"""OpenHands before its SDK by `openhands/events`: actions of one response are one step; `cause` names an action."""

import json

from support.oracle import Out, Talk, arguments, lines

SILENT = {"null", "agent_state_changed", "change_agent_state", "recall", "system", "initialize", "condensation",
          "condensation_request", "pause", "resume", "stop", "start", "loop_recovery", "user_rejected"}


def response(event):
    return (event.get("tool_call_metadata") or {}).get("model_response") or {}


def words(event):
    args = event.get("args") or event
    return args.get("content") or args.get("thought") or ""


def out(event):
    extras = event.get("extras") or event
    code = (extras.get("metadata") or {}).get("exit_code", extras.get("exit_code"))
    text = event.get("content") or ""
    failed = bool(code) or event["observation"] == "error" or event.get("success") is False
    failed = failed or extras.get("error") is True
    return Out(text=text if isinstance(text, str) else json.dumps(text), code=code, failed=failed)


def call(event):
    meta = event.get("tool_call_metadata") or {}
    for choice in response(event).get("choices") or []:
        for made in choice["message"].get("tool_calls") or []:
            if made["id"] == meta.get("tool_call_id"):
                return made["function"]["name"], arguments(made["function"]["arguments"])
    args = event.get("args") or {k: v for k, v in event.items() if k != "action"}
    return meta.get("function_name") or event["action"], {
        k: v for k, v in args.items() if k != "thought" and v is not None}


def steps(events, metrics):
    talk, group, old = Talk(), [], not any("id" in e for e in events)

    def close():
        acts, own = [e for e in group if "action" in e], [e for e in group if "observation" in e]
        if not acts:
            return
        outs = [out(o) for a in acts for o in events if "observation" in o and isinstance(o.get("cause"), int)
                and o["cause"] == a.get("id") and o["observation"] not in SILENT] + [out(o) for o in own]
        first = (response(acts[0]).get("choices") or [{}])[0].get("message") or {}
        thought = next((t for a in acts if (t := (a.get("args") or a).get("thought"))), "")
        thought = thought or (words(acts[0]) if acts[0]["action"] == "message" else "")
        used = response(acts[0]).get("usage") or next(
            (u for u in metrics.get("token_usages") or [] if u.get("response_id")
             and u["response_id"] == response(acts[0]).get("id")), {})
        made = [(a, call(a)) for a in acts if a["action"] != "message" or call(a)[0] != "message"]
        native = [c for a, c in made if (a.get("tool_call_metadata") or {}).get("tool_call_id") in [
            m["id"] for m in first.get("tool_calls") or []]]
        talk.step(f"{first.get('reasoning_content') or ''}\n{thought}", [c for _, c in made], outs, called=False,
                  answer=thought, tokens=(used.get("prompt_tokens"), used.get("completion_tokens")))
        talk.context[-1 - len(outs)] = ("assistant", thought, tuple(n for n, _ in native))
        group.clear()

    for n, event in enumerate(events):
        kind = event.get("action") or ""
        agent = event.get("source") == "agent" or (old and n > 0 and "source" not in event)
        if old and group and "observation" in event:
            group.append(event)
        elif kind and kind not in SILENT and agent:
            same = group and response(event).get("id") and response(event)["id"] == response(group[0]).get("id")
            if not same:
                close()
            group.append(event)
        elif kind == "condensation":
            close()
            talk.context = []
            talk.say("user", (event.get("args") or {}).get("summary") or "Earlier events were left out.")
        elif kind and kind not in SILENT:
            close()
            if kind == "message" and words(event):
                talk.say("user", words(event))
    close()
    return talk.steps


def events_of(path):
    if path.parent.name == "events" and path.stem.isdecimal():
        parts = sorted(path.parent.glob("*.json"), key=lambda p: int(p.stem))
        return [json.loads(p.read_text()) for p in parts]
    found = lines(path)
    return found[0]["trajectory"] if isinstance(found[0].get("trajectory"), list) else found


ORACLES = {
    "OpenHands events": lambda path: [steps(events_of(path), {})],
    "OpenHands evaluation output": lambda path: [
        made for row in lines(path) if (made := steps(row["history"], row.get("metrics") or {}))]}
