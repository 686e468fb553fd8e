"""What a judge answered, read strictly: a turn that was asked for, or each of its actions, with true or false."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

from core.domain.message import Message
from core.llm.model import ToolSpec
from core.store.home import make_private_folder, read_small, write_private

_REASON = 500


class TurnOpinion(msgspec.Struct, frozen=True):
    """What the model says of one turn; of its actions by number where it says different things of them, and then `keep`
    is None."""

    keep: bool | None
    reason: str = ""
    actions: dict[int, TurnOpinion] = {}

    @property
    def by_action(self) -> dict[int, TurnOpinion]:
        """The same by action; 0 is the turn as a whole."""
        return self.actions or {0: self}


def judge_tool(about: str) -> ToolSpec:
    """The tool by which a judge answers."""
    about_reasons = "For each turn that is filtered out, by the same key: why, in one short sentence."
    return ToolSpec(name="judge_results", description=about, parameters={
        "type": "object", "properties": {
            "judge_results": {"type": "object", "additionalProperties": {"type": "boolean"}},
            "reasons": {"type": "object", "description": about_reasons, "additionalProperties": {"type": "string"}}},
        "required": ["judge_results"]})


def read_answer(message: Message, asked: Mapping[int, int]) -> dict[int, TurnOpinion]:
    """The opinions of an answer on the turns that were asked for, which have so many actions each; empty where it is
    not in the form asked."""
    for text in [*(c.arguments for c in message.tool_calls), message.content]:
        found = {n: _settled(o, asked[n]) for n, o in read_opinions(text).items() if n in asked}
        if opinions := {n: o for n, o in found.items() if o is not None}:
            return opinions
    return {}


def _settled(opinion: TurnOpinion, count: int) -> TurnOpinion | None:
    """One opinion, or one for each of a turn's `count` actions; None where it names an action that is not there, or
    leaves one out and says nothing of the turn."""
    whole = TurnOpinion(opinion.keep, opinion.reason)
    parts = {n: opinion.actions.get(n, whole) for n in range(1, max(count, 1) + 1)}
    if set(opinion.actions) - set(parts) or any(part.keep is None for part in parts.values()):
        return None
    if len({part.keep for part in parts.values()}) > 1:
        return TurnOpinion(None, opinion.reason, parts)
    reasons = dict.fromkeys(part.reason for part in parts.values() if part.reason)
    return TurnOpinion(parts[1].keep, "; ".join(reasons)[:_REASON])


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
    reason_of = {_place(k): v for k, v in reasons.items()} if isinstance(reasons, dict) else {}
    found: dict[int, TurnOpinion] = {}
    for key, value in turns.items() if isinstance(turns, dict) else ():
        place = _place(key)
        opinion = _opinion(value, reason_of.get(place))
        if place is not None and opinion is not None:
            turn, action = place
            held = found.get(turn, TurnOpinion(None))
            found[turn] = (msgspec.structs.replace(held, actions={**held.actions, action: opinion}) if action else
                           msgspec.structs.replace(opinion, actions=held.actions))
    return found


def _place(key: str) -> tuple[int, int] | None:
    """The turn and its action (0: all of it) that a key names: "turn 7", "turn 7.2"."""
    turn, dot, action = key.lower().removeprefix("turn").strip().partition(".")
    if not all(d.isascii() and d.isdecimal() and len(d) < 10 for d in ((turn, action) if dot else (turn,))):
        return None
    return None if dot and not int(action) else (int(turn), int(action or 0))


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
        return read_small(self._folder / f"{key}.json", dict[int, TurnOpinion], {})

    def put(self, key: str, opinions: dict[int, TurnOpinion]) -> None:
        """Keep an answer."""
        write_private(self._folder / f"{key}.json", msgspec.json.encode(opinions))
