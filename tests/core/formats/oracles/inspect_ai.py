"""Inspect logs by `inspect_ai.log` (EvalSample, ModelEvent, ToolEvent): a step is a model event with its tools'."""

import json
import re
import sys

from support.oracle import Out, Step, Talk

TITLE = "Inspect log"


def unzipped(path):
    """The members' JSON; zipfile reads zstd from Python 3.14 on, its backport before."""
    if sys.version_info < (3, 14):
        from backports.zstd import zipfile
    else:
        import zipfile
    with zipfile.ZipFile(path) as file:
        return {name: json.loads(file.read(name)) for name in file.namelist()}


def words(content):
    if isinstance(content, str):
        return content
    return "\n".join(p.get("text", "") if p["type"] == "text" else f"[{p['type']}]" for p in content or []
                     if p["type"] != "reasoning")


def reasons(content):
    return "" if isinstance(content, str) else "\n".join(
        t for p in content or [] if (t := p.get("reasoning") or p.get("summary") or ""))


def message(m):
    return m["role"], words(m.get("content")), tuple(c["function"] for c in m.get("tool_calls") or [])


def spread(refs, pool):
    return [m for a, b in refs for m in pool[a:b]]


def flat(events):
    for event in events or []:
        if event.get("pending") is not True:
            yield event
        yield from flat(event.get("events"))


def total(used):
    used = used or {}
    if "input_tokens" not in used:
        return used.get("prompt_tokens"), used.get("completion_tokens")
    names = ("input_tokens", "input_tokens_cache_write", "input_tokens_cache_read")
    if used["input_tokens"] is None:
        return None, used.get("output_tokens")
    every, out = used.get("total_tokens"), used.get("output_tokens")
    return every - out if every is not None and out is not None and every >= out else sum(
        used.get(k) or 0 for k in names), out


def session(sample):
    if old := sample.get("transcript"):
        sample = {**sample, "events": old["events"], "attachments": old.get("content")}
    attached = sample.get("attachments") or {}
    whole = json.dumps(sample)
    if attached:
        sample = json.loads(re.sub(r"(?:attachment|tc)://([0-9a-f]+)", lambda m: json.dumps(
            attached[m[1]])[1:-1] if m[1] in attached else m[0], whole))
    pool = sample.get("message_pool") or (sample.get("events_data") or {}).get("messages") or []
    events = list(flat(sample.get("events")))
    tools = {}
    for event in (e for e in events if e.get("event") == "tool"):
        tools.setdefault(event["id"], []).append(event)
    found = []
    for event in (e for e in events if e.get("event") == "model"):
        choice = (event["output"].get("choices") or [{}])[0].get("message") or {}
        outs = []
        for call in choice.get("tool_calls") or []:
            for tool in tools.get(call["id"], [])[:1]:
                error, raw = tool.get("error") or {}, tool.get("result")
                text = words(raw) if isinstance(raw, list) else "" if raw is None else raw if isinstance(
                    raw, str) else json.dumps(raw)
                outs.append(Out(text=text or error.get("message", ""),
                                failed=bool(error) or tool.get("failed") is True))
            tools[call["id"]] = tools.get(call["id"], [])[1:]
        if event.get("error"):
            outs.append(Out(text=event["error"], failed=True))
        given = spread(event["input_refs"], pool) if event.get("input_refs") else event.get("input") or []
        found.append(Step(text=f"{reasons(choice.get('content'))}\n{words(choice.get('content'))}",
                          calls=[(c["function"], c["arguments"]) for c in choice.get("tool_calls") or []], outs=outs,
                          tokens=total(event["output"].get("usage")), context=[message(m) for m in given]))
    return found or spoken(sample.get("messages") or [])


def spoken(messages):
    talk, at = Talk(), 0
    while at < len(messages):
        m, at = messages[at], at + 1
        answers = [m] if m["role"] == "tool" else []
        while m["role"] in ("assistant", "tool") and at < len(messages) and messages[at]["role"] == "tool":
            answers.append(messages[at])
            at += 1
        outs = [Out(text=words(a["content"]), failed=bool(a.get("error"))) for a in answers]
        if m["role"] == "assistant":
            talk.step(f"{reasons(m['content'])}\n{words(m['content'])}", [
                (c["function"], c["arguments"]) for c in m.get("tool_calls") or []], outs, answer=words(m["content"]))
        elif m["role"] == "tool":
            talk.step("", [(a["function"], {}) for a in answers], outs, called=False)
        else:
            talk.say(m["role"], words(m["content"]))
    return talk.steps


def samples(path):
    if not path.read_bytes().startswith(b"PK"):
        return json.loads(path.read_text()).get("samples") or []
    members, found = unzipped(path), []
    for name, value in members.items():
        if re.fullmatch(r"samples/[^/]+\.json", name):
            found.append(value)
        elif shell := re.fullmatch(r"(samples/[^/]+)/sample\.json", name):
            def part(kind, prefix=shell[1]):
                names = sorted((n for n in members if n.startswith(f"{prefix}/{kind}/")),
                               key=lambda n: int(n.rpartition("/")[2][:-5]))
                return [item for n in names for item in members[n]]
            pool = part("messages")
            found.append({**value, "events": part("events"), "events_data": {"messages": pool},
                          "messages": spread(value["message_refs"], pool) if value.get("message_refs") else pool,
                          "attachments": {str(n): text for n, text in enumerate(part("attachments"))}})
    return found


def sessions(path):
    return [steps for sample in samples(path) if (steps := session(sample))]
