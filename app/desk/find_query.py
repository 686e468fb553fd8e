"""What is searched when a reader looks for text: the drawn line of an item, and all that a step's body says. No Qt."""

from __future__ import annotations

import re

import msgspec

from core.domain.blindness import seen_opinions
from core.domain.step import StepBody
from core.domain.trajectory import Item, Trajectory

MAX_WORDS = 400
"""Characters of a search that are looked at."""


class Query(msgspec.Struct, frozen=True):
    """What is looked for: words as they stand, in either case, or a regular expression."""

    words: str = ""
    regex: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing is looked for."""
        return not self.words.strip()

    def pattern(self) -> re.Pattern[str] | None:
        """What matches; None for an empty query. Raises re.error for a wrong expression."""
        if self.is_empty:
            return None
        words = self.words[:MAX_WORDS]
        return re.compile(words if self.regex else re.escape(words.strip()), re.IGNORECASE | re.MULTILINE)


def text_of_item(trajectory: Trajectory, item: Item, reader: str) -> str:
    """What the list draws of an item, with what was said about it, as far as a blind `reader` may see it: notes,
    reasons, tags."""
    if item.kind == "guidance":
        return trajectory.guidance[str(item.ref)].text
    if item.kind == "summary":
        return trajectory.summaries[str(item.ref)].text
    if item.kind == "score":
        return trajectory.scores[int(item.ref)].message
    if item.kind == "submission":
        return ""
    entry = trajectory.steps[int(item.ref)]
    head = entry.head
    opinions = seen_opinions(entry, reader)
    texts = [head.title, head.error_kind, *head.tools, *opinions.tags]
    texts += [verdict.reason for verdict in opinions.verdicts.values()]
    texts += [note.text for note in opinions.notes]
    return "\n".join(texts)


def text_of_body(body: StepBody) -> str:
    """Thought, actions with their arguments, and what came back."""
    texts = [body.thought]
    for action in body.actions:
        texts += [action.tool, action.malformed]
        texts += [f"{key}: {value if isinstance(value, str) else _json(value)}" for key, value in
                 action.arguments.items()]
    for seen in body.observations:
        texts += [seen.output.text, f"{seen.error.kind}: {seen.error.message}" if seen.error else "",
                 _json(seen.data) if seen.data else ""]
    return "\n".join(t for t in texts if t)


def items_with(trajectory: Trajectory | None, words: str, reader: str = "") -> list[int]:
    """The items whose line or notes hold some words, whatever the case."""
    wanted = words.casefold().strip()
    if trajectory is None or not wanted:
        return []
    return [i for i, item in enumerate(trajectory.items) if wanted in text_of_item(trajectory, item, reader).casefold()]


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
