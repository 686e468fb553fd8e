"""What a judge answered, read strictly: a turn that was asked for with true or false, and nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from pathlib import Path

import msgspec

from core.domain.message import Message
from core.llm.model import ToolSpec
from core.store.home import make_private_folder, write_private

_REASON = 500


class TurnOpinion(msgspec.Struct, frozen=True):
    """What the model says of one turn."""

    keep: bool
    reason: str = ""


def judge_tool(about: str) -> ToolSpec:
    """The tool by which a judge answers."""
    about_reasons = "For each turn that is filtered out, by the same key: why, in one short sentence."
    return ToolSpec(name="judge_results", description=about, parameters={
        "type": "object", "properties": {
            "judge_results": {"type": "object", "additionalProperties": {"type": "boolean"}},
            "reasons": {"type": "object", "description": about_reasons, "additionalProperties": {"type": "string"}}},
        "required": ["judge_results"]})


def read_answer(message: Message, asked: Collection[int]) -> dict[int, TurnOpinion]:
    """The opinions of an answer on the turns that were asked for; empty where it is not in the form asked."""
    for text in [*(c.arguments for c in message.tool_calls), message.content]:
        if opinions := {n: o for n, o in read_opinions(text).items() if n in asked}:
            return opinions
    return {}


def read_opinions(text: str) -> dict[int, TurnOpinion]:
    """Opinions by step of an answer; empty where it is not in the form asked."""
    start = text.find("{")
    try:
        answer, _ = json.JSONDecoder().raw_decode(text, start) if start >= 0 else ({}, 0)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(answer, dict):
        return {}
    turns: object = answer.get("judge_results", answer)
    reasons: object = answer.get("reasons")
    reason_of = {_number(k): v for k, v in reasons.items()} if isinstance(reasons, dict) else {}
    found = {n: _opinion(v, reason_of.get(n)) for k, v in turns.items() if (n := _number(k)) is not None
             } if isinstance(turns, dict) else {}
    return {n: o for n, o in found.items() if o is not None}


def _number(key: str) -> int | None:
    digits = key.lower().removeprefix("turn").strip()
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else None


def _opinion(value: object, reason: object = None) -> TurnOpinion | None:
    """A boolean, or an object with `keep` and `reason`, which some models write though it was not asked for."""
    if isinstance(value, dict):
        return None if isinstance(keep := value.get("keep"), dict) else _opinion(keep, value.get("reason", reason))
    if not isinstance(value, bool):
        return None
    return TurnOpinion(value, " ".join(reason.split())[:_REASON] if isinstance(reason, str) else "")


class OpinionCache:
    """Opinions on disk by the content that was judged: the same turns, prompt and model are not paid for twice."""

    def __init__(self, folder: Path) -> None:
        """Makes the folder. Raises Unavailable."""
        self._folder = make_private_folder(folder)

    @staticmethod
    def key(model: str, *texts: str) -> str:
        """One name for a question to a model."""
        return hashlib.sha256("\x00".join([model, *texts]).encode("utf-8", "surrogatepass")).hexdigest()

    def get(self, key: str) -> dict[int, TurnOpinion]:
        """What was answered; empty for a question that was not, or whose file cannot be read."""
        try:
            return msgspec.json.decode((self._folder / f"{key}.json").read_bytes(), type=dict[int, TurnOpinion])
        except (OSError, msgspec.DecodeError):
            return {}

    def put(self, key: str, opinions: dict[int, TurnOpinion]) -> None:
        """Keep an answer."""
        write_private(self._folder / f"{key}.json", msgspec.json.encode(opinions))
