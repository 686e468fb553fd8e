"""Langfuse's observations and LangSmith's runs, by their public APIs: requests to a model, and runs of tools."""

import json

from support.oracle import Out, Step, arguments, lines


def loaded(value):
    try:
        return json.loads(value) if isinstance(value, str) and value[:1] in ("[", "{") else value
    except ValueError:
        return value


def message(value):
    """(role, text, calls with their ids) of OpenAI's messages and of LangChain's."""
    held = value.get("kwargs") or value
    role = held.get("role") or {"human": "user", "ai": "assistant"}.get(held.get("type"), held.get("type"))
    calls = [(c["id"], c["function"]["name"], arguments(c["function"]["arguments"])) if "function" in c else
             (c["id"], c["name"], c["args"]) for c in held.get("tool_calls") or []]
    return role, held.get("content") or "", calls


def step(given, made, outs, tokens):
    _, text, calls = message(made) if isinstance(made, dict) else ("assistant", made, [])
    context = [(role, words, tuple(n for _, n, _ in called)) for role, words, called in map(message, given)]
    return Step(text=text, calls=[(name, given) for _, name, given in calls], tokens=tokens, context=context,
                outs=[outs[id] for id, _, _ in calls if id in outs])


def langfuse(path):
    (trace,) = lines(path)
    found = trace["observations"]
    outs = {o["metadata"]["tool_call_id"]: Out(text=o["output"], failed=o["level"] == "ERROR") for o in found
            if o["type"] == "TOOL"}
    steps = []
    for one in (o for o in found if o["type"] == "GENERATION"):
        given = loaded(one["input"])
        given = given.get("messages", given) if isinstance(given, dict) else given
        given = given if isinstance(given, list) else [{"role": "user", "content": one["input"]}] if given else []
        used = one.get("usageDetails") or one["usage"]
        read = used["input"] + used.get("input_cached_tokens", 0)
        steps.append(step(given, loaded(one["output"]), outs, (read, used["output"])))
    return [steps]


def langsmith(path):
    runs = lines(path)
    tools = [(r, r["outputs"].get("output") or {}) for r in runs if r["run_type"] == "tool"]
    held = [(r, output.get("kwargs") or output) for r, output in tools]
    outs = {output["tool_call_id"]: Out(text=output["content"], failed=bool(r["error"]))
            for r, output in held if output}
    models = [r for r in runs if r["run_type"] == "llm"]
    for run in (r for r, output in held if not output):  # what the model was told of it stands in the next prompt
        asks = [m for m in models if m["start_time"] < run["start_time"]][-1:]
        calls = [c for m in asks for c in m["outputs"]["generations"][0][0]["message"]["kwargs"]["tool_calls"]]
        call = next((c["id"] for c in calls if c["name"] == run["name"] and c["id"] not in outs), "")
        later = models[models.index(asks[0]) + 1 :][:1] if asks else []
        said = [m["kwargs"]["content"] for r in later for m in r["inputs"]["messages"][0]
                if m["kwargs"].get("tool_call_id") == call]
        outs |= {call: Out(text=said[0] if said else run["error"], failed=True)} if call else {}
    steps = []
    for run in (r for r in runs if r["run_type"] == "llm"):
        given, made = run["inputs"]["messages"], run["outputs"]
        given = given[0] if isinstance(given[0], list) else given
        made = made["generations"][0][0]["message"] if "generations" in made else made["choices"][0]["message"]
        used = (made.get("kwargs") or {}).get("usage_metadata")
        steps.append(step(given, made, outs, (used["input_tokens"], used["output_tokens"]) if used else
                          (run["prompt_tokens"], run["completion_tokens"])))
    return [steps]


ORACLES = {"Langfuse traces": langfuse, "LangSmith runs": langsmith}
