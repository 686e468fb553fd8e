"""Our own archive by its description: `tiphys.json`, `events.jsonl`, and payloads named by their hash."""

import json
import zipfile

from support.oracle import Out, Step

TITLE = "Tiphys archive"


def sessions(path):
    with zipfile.ZipFile(path) as file:
        def blob(name):
            return json.loads(file.read(f"blobs/{name}"))
        events = [json.loads(line) for line in file.read("events.jsonl").splitlines()]
        found, context = [], []
        for fact in (e["fact"] for e in events if e["fact"]["type"] == "step_added"):
            before, context = context, []
            for part in fact["context"]["parts"]:
                if part["type"] == "kept":
                    context += before[part["start"] : part["stop"]]
                else:
                    m = blob(part["hash"])
                    context.append((m["role"], m.get("content", ""), tuple(c["name"] for c in m.get("tool_calls", []))))
            body, used = blob(fact["body"]), fact["head"].get("usage", {})
            outs = [Out(text=o.get("output", {}).get("text", ""), code=o.get("exit_code"),
                        failed=bool(o.get("error")) or o.get("status") in ("timeout", "killed", "refused", "failed"))
                    for o in body.get("observations", [])]
            found.append(Step(text=body.get("thought", ""), outs=outs, context=list(context),
                              calls=[(a["tool"], a.get("arguments", {})) for a in body.get("actions", [])],
                              tokens=(used.get("input_tokens"), used.get("output_tokens"))))
    return [found]
