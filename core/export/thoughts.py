"""Where a chat template shows what a model thought before an answer (`Message.reasoning`), found by rendering.

A thought stands behind the prompt that a server gives, up to and with the first mark behind it (`</think>`, `<|end|>`,
`<channel|>`) and the white space there; what follows is the answer. Templates of reasoning models differ in which
thoughts they show: only those of the last loop of calls, only beside calls, only the last one. So each kind of answer
is tried, and a thought that has no place is never put anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec

from core.domain.errors import InvalidInput
from core.domain.message import Message
from core.export.spans import stop_after
from core.export.template import FOLLOWING, NO_FRAME, TextFrame

_MARK = re.compile(r"\s*([<\[◁][^<>\[\]◁▷\s]{1,40}[>\]▷])\s*")
_THOUGHT = "Rt1x"


class ThoughtPlaces(msgspec.Struct, frozen=True, kw_only=True):
    """How a template shows thoughts: the text that `opens` one behind a prompt ("" where the prompt does), the mark
    that `closes` it, and what frames the answer behind it: without calls (`plain`), the text beside calls (`beside`);
    None where such an answer has no place for a thought. `calls`: calls without a text have one."""

    opens: str
    closes: str
    plain: TextFrame | None = None
    beside: TextFrame | None = None
    calls: bool = False

    @property
    def kinds(self) -> int:
        """In how many of the three kinds of answers a thought has a place."""
        return (self.plain is not None) + (self.beside is not None) + self.calls

    def has_place(self, message: Message) -> bool:
        """Whether the template shows a thought before such an answer."""
        if not message.tool_calls:
            return self.plain is not None
        return self.beside is not None if message.content.strip() else self.calls

    def end(self, message: Message, completion: str) -> int:
        """Where the answer begins behind its thought, or behind the empty one that the template writes; 0 where there
        is none. Raises InvalidInput where the thought is not shown as it was recorded."""
        thought = message.reasoning.strip()
        if self.closes in thought:
            raise InvalidInput("control_token_inside", f"The thought holds the mark {self.closes} that ends thoughts.")
        opened = _behind(completion, self.opens, 0)
        if opened is None and not thought:
            return 0
        begin = None if opened is None else _behind(completion, thought, opened)
        close = None if begin is None else _behind(completion, self.closes, begin)
        if close is None:
            if not thought and self.opens:
                return 0  # the answer itself begins as a thought would
            raise InvalidInput("completion_rewritten", "The chat template does not show the thought before its answer.")
        return close + len(completion[close:]) - len(completion[close:].lstrip())


def _behind(text: str, part: str, start: int) -> int | None:
    """Where `text` goes on behind `part`, which stands at `start` but for white space; None where it does not."""
    start += len(text[start:]) - len(text[start:].lstrip())
    part = part.strip()
    return start + len(part) if text.startswith(part, start) else None


Ways = Callable[[Message], Iterator[tuple[str, partial[str]]]]
"""For an answer to a question: the prompt before it, and the ways in which a text may hold it."""


def find_places(ways: Ways, asks: Ways, call: Message, stops: Sequence[str]) -> ThoughtPlaces:
    """How a template shows thoughts; `ways` are those of answers without tools, `asks` with, `call` is an answer that
    calls one. Raises InvalidInput (no_place_for_thoughts)."""
    words = Message(role="assistant", content="Ab1x", reasoning=_THOUGHT)
    called = msgspec.structs.replace(call, content="", reasoning=_THOUGHT)
    beside = msgspec.structs.replace(called, content="Th1x")
    found = [_probe(ways, words, stops), _probe(asks, called, stops), _probe(asks, beside, stops)]
    first = next((f for f in found if f is not None), None)
    if first is None:
        raise InvalidInput("no_place_for_thoughts", "The chat template has no place for recorded thoughts within "
                           "an answer; leave them out (thoughts: drop).")
    same = [f is not None and f[:2] == first[:2] for f in found]
    return ThoughtPlaces(opens=first[0], closes=first[1], calls=same[1],
                         plain=found[0][2] if same[0] and found[0] else None,
                         beside=found[2][2] if same[2] and found[2] else None)


def _probe(ways: Ways, answer: Message, stops: Sequence[str]) -> tuple[str, str, TextFrame] | None:
    for prompt, text in ways(answer):
        try:
            whole = text()
            end, stop = stop_after(whole, len(prompt), stops)
        except InvalidInput:
            continue
        completion = whole[len(prompt) : end - len(stop)]
        if whole.startswith(prompt) and (found := _read(answer, completion)) is not None:
            return found
    return None


def _read(answer: Message, completion: str) -> tuple[str, str, TextFrame] | None:
    """Opening, closing mark and frame of the answer in a completion; None where it does not hold all of them once."""
    opens, shown, rest = completion.partition(_THOUGHT)
    mark = _MARK.match(rest)
    if not shown or mark is None or FOLLOWING in completion or _THOUGHT in rest:
        return None
    rest = rest[mark.end() :]
    if any(c.name not in rest for c in answer.tool_calls):
        return None
    if not answer.content:
        return opens.strip(), mark[1], NO_FRAME
    before, shown, after = rest.partition(answer.content)
    if not shown or any(c.name in before for c in answer.tool_calls):
        return None
    return opens.strip(), mark[1], TextFrame(before=before.strip(), after="" if answer.tool_calls else after.strip())
