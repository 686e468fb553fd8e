"""A tiny agent that speaks the Agent Client Protocol and chat, without any code of ours: each turn makes a plan, asks
for leave, and where it gets that writes the files that it was started with and asks its model once."""

import json
import os
import sys
import urllib.request
from pathlib import Path


def send(**message: object) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(**what: object) -> None:
    send(method="session/update", params={"sessionId": "s", "update": what})


def read() -> dict:
    return json.loads(sys.stdin.readline() or "null")


history: list[dict] = []


def turn(text: str) -> str:
    history.append({"role": "user", "content": text})
    update(sessionUpdate="plan", entries=[{"content": "Ask first", "status": "in_progress"}])
    send(id="leave", method="session/request_permission", params={
        "sessionId": "s", "toolCall": {"toolCallId": "1", "title": "touch it"},
        "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"},
                    {"optionId": "no", "name": "No", "kind": "reject_once"}]})
    if read()["result"]["outcome"].get("optionId") != "yes":
        return "end_turn"
    for name in sys.argv[1:]:
        Path(name).write_text("by leave")
    body = json.dumps({"model": "m", "messages": history, "tools": [
        {"type": "function", "function": {"name": "noop", "parameters": {}}}]}).encode()
    request = urllib.request.Request(f"{os.environ['OPENAI_BASE_URL']}/chat/completions", body, {
        "Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        message = json.load(answer)["choices"][0]["message"]
    history.append(message)
    update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": message["content"] or ""})
    return "end_turn"


while (asked := read()) is not None:
    match asked["method"]:
        case "initialize":
            send(id=asked["id"], result={"protocolVersion": int(os.environ.get("ACP_VERSION", "1"))})
        case "session/new":
            send(id=asked["id"], result={"sessionId": "s"})
        case "session/prompt":
            send(id=asked["id"], result={"stopReason": turn(asked["params"]["prompt"][0]["text"])})
