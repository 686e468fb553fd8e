"""Large files of each format, made of our own small samples: as long runs, or as many rows, with outputs of 2 kB."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.formats.json_text import parse

SAMPLES = Path(__file__).parents[1] / "core" / "formats" / "foreign"

_IDS = {"id", "uuid", "parentUuid", "call_id", "tool_call_id", "tool_use_id", "source_call_id", "messageId", "cause",
        "llm_response_id", "action_id", "messageID", "span_id", "spanId", "parentSpanId", "parentId",
        "step_id", "item_id", "instance_id", "parent_run_id", "toolCallId", "parentObservationId", "parent",
        "callID", "conversation_id", "apiCallId", "gen_ai.tool.call.id"}
_TEXTS = {"content", "text", "output", "observation", "stdout", "value", "thought", "aggregated_output", "result"}
_WORDS = ("loss", "train", "def", "return", "gradient", "0.0312", "epoch", "\t", "\n", "the", "path/to/file.py",
          "error:", '"quoted"', "\u2014", "ok", "import", "assert x == y", "\u001b[0m")


class Grower:
    """Gives values again, with names of their own and with longer texts."""

    def __init__(self, seed: int = 1) -> None:
        self._chance = random.Random(seed)
        self._pages = [" ".join(self._chance.choices(_WORDS, k=450)) for _ in range(200)]

    def again(self, value: Any, turn: int, key: str = "", names: bool = True) -> Any:
        """The value in its `turn`-th repetition; texts of some length are about 2 kB then."""
        if isinstance(value, dict):
            if value.keys() == {"key", "value"}:  # an attribute of OTLP, whose text may be JSON
                named = str(value["key"])
                return {"key": named, "value": {k: self._written(v, turn, named) for k, v in value["value"].items()}}
            return {k: self.again(v, turn, k, names) for k, v in value.items()}
        if isinstance(value, list):
            return [self.again(v, turn, key, names) for v in value]
        if key in _IDS and turn and names and value not in (None, "", True, False):
            return value + turn * 1000 if isinstance(value, int) else f"{value}-{turn}"
        if key == "input_tokens" and isinstance(value, int):
            return value + turn * 1000  # a count that stands still is no answer's
        if key in _TEXTS and isinstance(value, str) and len(value) > 1 and value[0] not in "{[<":
            return f"{value}\n{turn} {self._chance.choice(self._pages)}"
        return value

    def _written(self, value: Any, turn: int, key: str) -> Any:
        if not isinstance(value, str) or value[:1] not in ("[", "{"):
            return self.again(value, turn, key)
        return json.dumps(self.again(json.loads(value), turn, key))


def lines(path: Path, sample: Path, size: int, first: int = 0, stop: int | None = None) -> None:
    """A file of lines of about `size` bytes: the lines before the first, then those up to `stop` again and again."""
    values = [v for line in sample.read_text().splitlines() if isinstance(v := parse(line.encode()).value, dict)]
    grower = Grower()
    with path.open("w") as file:
        file.writelines(json.dumps(value) + "\n" for value in values[:first])
        for turn in itertools.count():
            file.writelines(json.dumps(grower.again(value, turn)) + "\n" for value in values[first:stop])
            if file.tell() >= size:
                return


def items(path: Path, sample: Path, size: int, where: str = "", first: int = 0, stop: int | None = None) -> None:
    """A JSON text of about `size` bytes, whose list (the whole, or the member `where`) is made as `lines` are."""
    whole = json.loads(sample.read_text())
    one, grower = whole[where] if where else whole, Grower()
    before, after = json.dumps({**whole, where: ["@HERE@"]} if where else ["@HERE@"]).split('"@HERE@"')
    with path.open("w") as file:
        file.write(before + "".join(json.dumps(value) + ", " for value in one[:first]))
        for turn in itertools.count():
            file.write(", " * bool(turn) + json.dumps([grower.again(v, turn) for v in one[first:stop]])[1:-1])
            if file.tell() >= size:
                break
        file.write(after)


def _lines(sample: str, first: int = 0, stop: int | None = None) -> Callable[[Path, int], None]:
    return lambda path, size: lines(path, SAMPLES / sample, size, first, stop)


def _items(sample: str, where: str = "", first: int = 0, stop: int | None = None) -> Callable[[Path, int], None]:
    return lambda path, size: items(path, SAMPLES / sample, size, where, first, stop)


MADE: dict[str, tuple[str, Callable[[Path, int], None]]] = {
    "claude-code": ("a.jsonl", _lines("claude.jsonl", 2, 8)),
    "codex-cli": ("a.jsonl", _lines("codex_long.jsonl", 6, 13)),
    "codex-exec": ("a.jsonl", _lines("codex_exec.jsonl", 2)),
    "openhands-sdk": ("a.jsonl", _lines("sdk.jsonl", 3, 7)),
    "openhands": ("a.json", _items("openhands.json", "", 2, 5)),
    "openhands-output": ("a.jsonl", _lines("openhands_output.jsonl")),
    "gemini-cli": ("a.json", _items("gemini.json", "messages", 1, 2)),
    "cline": ("a.json", _items("cline_sdk.json", "messages", 1, 3)),
    "mini-swe-agent": ("a.traj.json", _items("mini.traj.json", "messages", 2, 4)),
    "atif": ("a.json", _items("atif.json", "steps", 2, 3)),
    "inspect": ("a.json", _items("inspect.json", "samples")),
    "sharegpt": ("a.json", _items("sharegpt.json")),
    "agentgym": ("a.json", _items("agentgym.json")),
    "nebius": ("a.json", _items("nebius.json")),
    "agent-data-protocol": ("a.json", _items("adp.json")),
    "endless-terminals": ("a.json", _items("endless.json", "results")),
    "openai-chat": ("a.jsonl", _lines("../files/chat.jsonl")),
    "qwen-code": ("a.jsonl", _lines("qwen.jsonl", 2, 5)),
    "copilot-cli": ("a.jsonl", _lines("copilot.jsonl", 3, 8)),
    "opencode": ("a.json", _items("opencode.json", "messages", 1, 2)),
    "goose": ("a.jsonl", _lines("goose.jsonl", 2, 4)),
    "kimi-cli": ("a.jsonl", _lines("kimi_wire.jsonl", 2, 11)),
    "openai-responses": ("a.json", _items("responses_items.json", "data", 1, 6)),
    "otel": ("a.jsonl", _lines("otel.jsonl", 0, 1)),
    "langfuse": ("a.json", _items("langfuse.json", "observations", 1, 3)),
    "langsmith": ("a.jsonl", _lines("langsmith.jsonl", 1, 3)),
    "tau2-bench": ("a.json", _items("tau2.json", "simulations")),
    "chatgpt": ("a.json", _items("chatgpt.json")),
    "claude-ai": ("a.json", _items("claude_ai.json")),
    "swe-agent": ("a.traj", _items("../files/with_query.traj", "trajectory")),
}
"""The name of a file of each format, and what makes it that large."""


