"""What an independent reader says of a foreign file, and how it differs from what was imported.

An oracle is a few lines that take the raw file apart by the format's own description. It knows nothing of the
importer's code; the words below are all that both share.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.imported import bodies, trajectory

from core.domain.message import decode_message
from core.formats.imported import Imported

Words = tuple[str, str, tuple[str, ...]]
"""A message of a context: role, text, names of the tools that it calls."""


@dataclass(kw_only=True)
class Out:
    """What came back: its text, its exit code, whether it is marked as failed."""

    text: str = ""
    code: int | None = None
    failed: bool = False
    role: str = "tool"


@dataclass(kw_only=True)
class Step:
    """One answer of the model. A call whose arguments are no JSON has their text. None: not in the file."""

    text: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    outs: list[Out] = field(default_factory=list)
    tokens: tuple[int | None, int | None] = (None, None)
    context: list[Words] | None = None
    turns: list[tuple[str, str]] | None = None
    """A user's words since the step before, each with whose they are; what comes before the first is the task."""


class Talk:
    """Steps whose contexts are the words so far. `user` names who speaks as the user, where that is compared."""

    def __init__(self, user: str = "") -> None:
        self.steps: list[Step] = []
        self.context: list[Words] = []
        self._user, self._turns = user, list[tuple[str, str]]()

    def say(self, role: str, text: str, calls: Sequence[str] = ()) -> None:
        """A message enters the context."""
        self.context.append((role, text, tuple(calls)))
        if role == "user" and self.steps:
            self._turns.append((self._user, plain(text)))

    def step(self, text: str = "", calls: Sequence[tuple[str, Any]] = (), outs: Sequence[Out] = (), *,
             tokens: tuple[int | None, int | None] = (None, None), answer: str | None = None,
             called: bool = True, context: list[Words] | None = None) -> None:
        """An answer with its results. `answer` is the message's own text where `text` is a part or more of it;
        `called`: the message holds its calls apart from its text."""
        self.steps.append(Step(text=text, calls=list(calls), outs=list(outs), tokens=tokens,
                               context=list(self.context) if context is None else context,
                               turns=self._turns if self._user else None))
        self._turns = []
        self.say("assistant", text if answer is None else answer, [name for name, _ in calls] if called else ())
        for out in outs:
            self.say(out.role, out.text)


Oracle = Callable[[Path], list[list[Step]]]


def lines(path: Path) -> list[Any]:
    """The objects of a file of lines, of a JSON list, or the one object; what is broken is passed over."""
    text = path.read_text(encoding="utf-8", errors="replace").removeprefix("\ufeff")
    try:
        value = json.loads(text)
        return value if isinstance(value, list) else [value]
    except ValueError:
        return list(_each(text))


def _each(text: str) -> Iterator[Any]:
    for line in text.splitlines() if "\x85" not in text and "\u2028" not in text else text.split("\n"):
        try:
            yield json.loads(line)
        except ValueError:
            yield from _behind_one_another(line)


def _behind_one_another(line: str) -> list[Any]:
    """The objects of a line that holds nothing but several of them."""
    found: list[Any] = []
    try:
        while line.startswith("{"):
            value, end = json.JSONDecoder().raw_decode(line)
            found.append(value)
            line = line[end:].lstrip()
    except ValueError:
        return []
    return [] if line else found


def arguments(raw: Any) -> Any:
    """The arguments of a call, which may be JSON text."""
    if not isinstance(raw, str):
        return raw
    try:
        return json.loads(raw or "{}")
    except ValueError:
        return raw


def differences(session: Imported, wanted: list[Step]) -> list[str]:
    """One line for each thing that was imported otherwise than the oracle reads it."""
    read, folded = bodies(session), trajectory(session)
    if len(read) != len(wanted):
        return [f"{len(read)} steps, not {len(wanted)}"]
    found = []
    messages: dict[str, Words] = {}
    for body, step, entry in zip(read, wanted, folded.steps, strict=True):
        usage = entry.head.usage
        pairs = {
            "text": (plain(body.thought), plain(step.text)),
            "calls": ([(a.tool, a.arguments) for a in body.actions], [(n, _object(a)) for n, a in step.calls]),
            "outputs": ([plain(o.output.text) for o in body.observations], [plain(o.text) for o in step.outs]),
            "codes": ([o.exit_code for o in body.observations], [o.code for o in step.outs]),
            "failed": ([o.is_error for o in body.observations], [o.failed for o in step.outs]),
            "tokens": ((usage.input_tokens, usage.output_tokens), step.tokens)}
        if step.turns is not None:
            pairs["turns"] = ([(g.author, plain(g.text)) for g in folded.guidance.values()
                               if g.delivered_step == body.number], step.turns)
        if step.context is not None:
            given = []
            for ref in folded.context(body.number):
                if ref.hash not in messages:
                    message = decode_message(session.blobs[ref.hash])
                    messages[ref.hash] = (message.role, plain(message.content),
                                          tuple(c.name for c in message.tool_calls))
                given.append(messages[ref.hash])
            pairs["context"] = (given, [(role, plain(text), calls) for role, text, calls in step.context])
        found += [f"step {body.number}: {what}: {_short(got, want)}" for what, (got, want) in pairs.items()
                  if got != want]
    return found


def _object(raw: Any) -> Any:
    """As an action holds arguments: text that is no JSON as `text`, what is no object as `value`."""
    if isinstance(raw, str):
        return {"text": raw}
    return raw if isinstance(raw, dict) else {"value": raw}


def plain(text: str) -> str:
    """The lines that say something, each with its indentation: what parts are joined with is nobody's words."""
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip()).strip()


def _short(got: Any, want: Any) -> str:
    """Both, from a little before the place where they begin to differ."""
    if isinstance(got, list) and isinstance(want, list):
        at = next((n for n, (a, b) in enumerate(zip(got, want, strict=False)) if a != b), min(len(got), len(want)))
        head = f"at {at} of {len(got)} and {len(want)}: "
        got, want = (v[at] if at < len(v) else "nothing" for v in (got, want))
        return head + _short(str(got), str(want))
    a, b = str(got), str(want)
    at = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return f"{a[max(0, at - 20) : at + 100]!r}, not {b[max(0, at - 20) : at + 100]!r}"
