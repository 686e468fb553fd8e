"""`codex exec --json` by codex-rs `exec_events.rs`: items in the order in which they began, each in its last form."""

import json

from support.oracle import Out, Talk, lines

TITLE = "Codex exec stream"
HIDDEN = ("id", "type", "item_type", "status", "aggregated_output", "exit_code", "result", "error", "tool")
SAID = ("agent_message", "assistant_message")


def sessions(path):
    items, order = {}, []
    for n, event in enumerate(e for e in lines(path) if isinstance(e, dict)):
        if str(event.get("type")).startswith("item."):
            item = event.get("item") or {}
            name = item.get("id") or n
            order += [name] if name not in items else []
            items[name] = item
    talk, said, thought = Talk(), [], []

    def step(calls=(), outs=()):
        talk.step("\n".join(thought + said), calls, outs, answer="\n".join(said), called=False)
        said.clear()
        thought.clear()

    for item in (items[name] for name in order):
        kind = item.get("type") or item.get("item_type")
        if kind in SAID:
            said.append(item["text"])
        elif kind == "reasoning":
            thought.append(item["text"])
        elif kind != "error":
            shown = {k: v for k, v in item.items() if k not in HIDDEN}
            raw = item.get("aggregated_output", item.get("result"))
            text = "" if raw is None else raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
            code = item.get("exit_code")
            failed = bool(code) or bool(item.get("error")) or item.get("status") == "failed"
            step([(item.get("tool") or kind, shown)],
                 [] if item.get("status") == "in_progress" else [Out(text=text, code=code, failed=failed)])
    if said or thought:
        step()
    return [talk.steps] if talk.steps else []
