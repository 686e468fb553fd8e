"""A small agent of our own for tests, on the standard library alone: one shell tool, any of the four dialects.

Usage: scripted_agent.py DIALECT [--resume] [--compact-at N] [--subagents]. It keeps its history in ~/history.json,
so that it can be taken up; it asks again when it is cut off or refused for a while; after N steps it begins anew with
a summary; with --subagents it has a second tool, Task, which works on a prompt in a conversation of its own.
"""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

DIALECT = sys.argv[1]
BASE = os.environ["ANTHROPIC_BASE_URL"]
TOKEN = os.environ["OPENAI_API_KEY"]
HISTORY = Path.home() / "history.json"
COMPACT_AT = int(sys.argv[sys.argv.index("--compact-at") + 1]) if "--compact-at" in sys.argv else 0
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
SYSTEM = "You are a test."


def person(text):
    return {"chat": {"role": "user", "content": text},
            "anthropic": {"role": "user", "content": [{"type": "text", "text": text}]},
            "responses": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]},
            "gemini": {"role": "user", "parts": [{"text": text}]}}[DIALECT]


TASK = {"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]}


def request_of(items, tools=True):
    names = [("bash", SCHEMA)] + ([("Task", TASK)] if tools == "all" and "--subagents" in sys.argv else [])
    if DIALECT == "chat":
        body = {"model": "scripted", "messages": [{"role": "system", "content": SYSTEM}, *items], "unknown_field": 1.50}
        given = [{"type": "function", "function": {"name": name, "description": "Run.", "parameters": schema}}
                 for name, schema in names]
        path = "/v1/chat/completions"
    elif DIALECT == "anthropic":
        body = {"model": "scripted", "max_tokens": 1000, "system": [{"type": "text", "text": SYSTEM}], "stream": True,
                "messages": marked(items)}
        given = [{"name": name, "description": "Run.", "input_schema": schema} for name, schema in names]
        path = "/v1/messages?beta=true"
    elif DIALECT == "responses":
        body = {"model": "scripted", "instructions": SYSTEM, "input": items, "store": False, "stream": True}
        given = [{"type": "function", "name": name, "description": "Run.", "parameters": schema}
                 for name, schema in names]
        path = "/v1/responses"
    else:
        body = {"systemInstruction": {"parts": [{"text": SYSTEM}]}, "contents": items}
        given = [{"functionDeclarations": [{"name": name, "description": "Run.", "parameters": schema}
                                           for name, schema in names]}]
        path = "/v1beta/models/scripted:streamGenerateContent?alt=sse"
    return path, {**body, "tools": given} if tools else body


def marked(items):
    """The mark of the cache moves with the end, as real agents have it."""
    last = {**items[-1], "content": [*items[-1]["content"][:-1],
                                     {**items[-1]["content"][-1], "cache_control": {"type": "ephemeral"}}]}
    return [*items[:-1], last] if last["role"] == "user" else items


def ask(items, tools=True):
    path, body = request_of(items, tools)
    for attempt in range(60):
        try:
            made = urllib.request.Request(BASE + path, json.dumps(body).encode(), {
                "Content-Type": "application/json", "Authorization": "Bearer " + TOKEN,
                "X-Attempt": str(attempt), "Accept-Encoding": "gzip"})
            with urllib.request.urlopen(made, timeout=600) as answer:
                raw = answer.read().decode()
            return answered(raw)
        except (OSError, ValueError, EOFError, StopIteration, urllib.error.HTTPError):
            time.sleep(0.2)
    sys.exit(3)


def events(raw):
    found = [json.loads(line[6:]) for line in raw.splitlines() if line.startswith("data: {")]
    if any("error" in one for one in found):
        raise ValueError(raw)
    return found


def answered(raw):
    """The items of an answer, and its calls as (id, name, arguments)."""
    if DIALECT == "chat":
        message = json.loads(raw)["choices"][0]["message"]
        calls = [(c["id"], c["function"]["name"], json.loads(c["function"]["arguments"]))
                 for c in message.get("tool_calls", [])]
        return [message], calls
    if DIALECT == "anthropic":
        blocks, found = {}, events(raw)
        next(e for e in found if e["type"] == "message_stop")
        for event in found:
            if event["type"] == "content_block_start":
                blocks[event["index"]] = event["content_block"]
            elif event["type"] == "content_block_delta":
                for key, value in event["delta"].items():
                    if key == "partial_json":
                        blocks[event["index"]]["input"] = json.loads(value)
                    elif key != "type":
                        blocks[event["index"]][key] = blocks[event["index"]].get(key, "") + value
        made = [{"role": "assistant", "content": [*blocks.values()]}]
        return made, [(b["id"], b["name"], b["input"]) for b in blocks.values() if b["type"] == "tool_use"]
    if DIALECT == "responses":
        output = next(e for e in events(raw) if e["type"] == "response.completed")["response"]["output"]
        return output, [(i["call_id"], i["name"], json.loads(i["arguments"])) for i in output
                        if i["type"] == "function_call"]
    content = events(raw)[0]["candidates"][0]["content"]
    calls = [(f"own-{n}-{time.monotonic_ns()}", p["functionCall"]["name"], p["functionCall"]["args"])
             for n, p in enumerate(p for p in content["parts"] if "functionCall" in p)]
    for (id, _, _), part in zip(calls, [p for p in content["parts"] if "functionCall" in p], strict=False):
        part["functionCall"]["id"] = id  # it names calls anew, as the real one does
    return [content], calls


def results(done):
    """What came back for calls, as the dialect has it."""
    if DIALECT == "chat":
        return [{"role": "tool", "tool_call_id": id, "content": text} for id, _, text in done]
    if DIALECT == "anthropic":
        return [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}
                                             for id, _, text in done]}]
    if DIALECT == "responses":
        return [{"type": "function_call_output", "call_id": id, "output": text} for id, _, text in done]
    return [{"role": "user", "parts": [{"functionResponse": {"id": id, "name": name, "response": {"output": text}}}
                                       for id, name, text in done]}]


def work(items, tools, after=lambda items: None):
    """Ask and do until the model asks for nothing more; gives its last words."""
    while True:
        said, calls = ask(items, tools)
        done = [(id, name, carry_out(name, arguments)) for id, name, arguments in calls]
        items += [*said, *results(done)] if calls else said
        after(items)
        if not calls:
            return json.dumps(said)


def carry_out(name, arguments):
    return work([person(arguments["prompt"])], "some") if name == "Task" else run(arguments["command"])


def run(command):
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    return f"{done.stdout}{done.stderr}\nExit code: {done.returncode}"


def main():
    items = json.loads(HISTORY.read_text()) if "--resume" in sys.argv else [person(os.environ["TIPHYS_TASK"])]
    steps = 0

    def after(items):
        nonlocal steps
        HISTORY.write_text(json.dumps(items))
        steps += 1
        if steps == COMPACT_AT:
            said, _ = ask([*items, person("Please create a detailed summary of our conversation.")], tools=False)
            items[:] = [person("TASK-MAIN, summarised: " + json.dumps(said)[:200])]

    work(items, "all", after)


main()
