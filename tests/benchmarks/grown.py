"""Large files of each format, made of our own small samples: as long runs, or as many rows, with outputs of 2 kB."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from core.formats.json_text import parse

SAMPLES = Path(__file__).parents[1] / "core" / "formats" / "foreign"

_IDS = {"id", "uuid", "parentUuid", "call_id", "tool_call_id", "tool_use_id", "source_call_id", "messageId", "cause",
        "llm_response_id", "action_id", "callID", "messageID", "span_id", "spanId", "parentSpanId", "parentId",
        "step_id", "item_id", "instance_id", "parent_run_id", "toolCallId", "parentObservationId", "parent"}
_TEXTS = {"content", "text", "output", "observation", "stdout", "value", "thought", "aggregated_output", "result"}
_WORDS = ("loss", "train", "def", "return", "gradient", "0.0312", "epoch", "\t", "\n", "the", "path/to/file.py", "error:",
          '"quoted"', "—", "ok", "import", "assert x == y", "\u001b[0m")


class Grower:
    """Gives values again, with names of their own and with longer texts."""

    def __init__(self, seed: int = 1) -> None:
        self._chance = random.Random(seed)
        self._pages = [" ".join(self._chance.choices(_WORDS, k=450)) for _ in range(200)]

    def again(self, value: Any, turn: int, key: str = "", names: bool = True) -> Any:
        """The value in its `turn`-th repetition; texts of some length are about 2 kB then."""
        if isinstance(value, dict):
            return {k: self.again(v, turn, k, names) for k, v in value.items()}
        if isinstance(value, list):
            return [self.again(v, turn, key, names) for v in value]
        if key in _IDS and turn and names and value not in (None, "", True, False):
            return value + turn * 1000 if isinstance(value, int) else f"{value}-{turn}"
        if key in _TEXTS and isinstance(value, str) and " " in value and value[:1] not in "{[<":
            return f"{value}\n{turn} {self._chance.choice(self._pages)}"
        return value


def lines(path: Path, sample: Path, size: int, head: int = 1) -> None:
    """A file of lines of about `size` bytes; the first `head` lines stand once."""
    values = [v for line in sample.read_text().splitlines() if (v := parse(line.encode())) and not v.problem]
    values = [v.value for v in values if isinstance(v.value, dict)]
    grower = Grower()
    with path.open("w") as file:
        for value in values[:head]:
            file.write(json.dumps(value) + "\n")
        for turn in itertools.count():
            for value in values[head:]:
                file.write(json.dumps(grower.again(value, turn)) + "\n")
            if file.tell() >= size:
                return


def items(path: Path, sample: Path, size: int, *where: str | int) -> None:
    """A JSON text of about `size` bytes; the list at `where` is as long as that needs, the rest stands once."""
    whole = json.loads(sample.read_text())
    parent: Any = {"": whole}
    key: str | int = ""
    for name in where:
        parent, key = parent[key], name
    one, grower = parent[key], Grower()
    parent[key] = ["@HERE@"]
    before, after = json.dumps(whole[""] if where == ("",) else whole if where else parent[""]).split('"@HERE@"')
    with path.open("w") as file:
        file.write(before)
        for turn in itertools.count():
            file.write(", " * bool(turn) + json.dumps([grower.again(v, turn) for v in one])[1:-1])
            if file.tell() >= size:
                break
        file.write(after)


def _lines(sample: str, head: int = 1) -> Callable[[Path, int], None]:
    return lambda path, size: lines(path, SAMPLES / sample, size, head)


def _items(sample: str, *where: str | int) -> Callable[[Path, int], None]:
    return lambda path, size: items(path, SAMPLES / sample, size, *where)


MADE: dict[str, tuple[str, Callable[[Path, int], None]]] = {
    "claude-code": ("a.jsonl", _lines("claude.jsonl", 0)),
    "codex-cli": ("a.jsonl", _lines("codex_long.jsonl")),
    "codex-exec": ("a.jsonl", _lines("codex_exec.jsonl")),
    "openhands-sdk": ("a.jsonl", _lines("sdk.jsonl")),
    "openhands": ("a.json", _items("openhands.json")),
    "openhands-output": ("a.jsonl", _lines("openhands_output.jsonl", 0)),
    "gemini-cli": ("a.json", _items("gemini.json", "messages")),
    "cline": ("a.json", _items("cline_sdk.json", "messages")),
    "mini-swe-agent": ("a.traj.json", _items("mini.traj.json", "messages")),
    "atif": ("a.json", _items("atif.json", "steps")),
    "inspect": ("a.json", _items("inspect.json", "samples")),
    "sharegpt": ("a.json", _items("sharegpt.json")),
    "agentgym": ("a.json", _items("agentgym.json")),
    "nebius": ("a.json", _items("nebius.json")),
    "agent-data-protocol": ("a.json", _items("adp.json")),
    "endless-terminals": ("a.json", _items("endless.json", "results")),
    "innovatorbench": ("a.json", _items("innovator.json", "messages")),
    "openai-chat": ("a.jsonl", lambda path, size: lines(path, SAMPLES.parent / "files" / "chat.jsonl", size, 0)),
    "swe-agent": ("a.traj", lambda path, size: items(path, SAMPLES.parent / "files" / "with_query.traj", size,
                                                     "trajectory")),
}
"""The name of a file of each format, and what makes it that large."""


def names() -> Iterator[str]:
    """The formats that there are large files of."""
    yield from MADE
