"""Where in a step a remark stands: words of its text, found again wherever they moved.

As the Web Annotation Data Model (W3C Recommendation, 23 February 2017, §4.2.4 and §4.2.5) does it: the exact words with
some before and after them, and the place where they stood, which only decides between equal ones.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from core.domain.bounds import Count, Name, Total
from core.domain.step import StepBody

MOST_EXACT, MOST_BESIDE = 2_000, 60
"""Characters of an anchor's words, and of those before and after them."""

_PROOF, _NEARLY = 24, 20
"""So many characters of words and neighbours prove that they are the same; so many of a side are nearly all of it."""

_MOST_WORDS = 400
_MOST_PLACES = 1_000
_WORD = re.compile(r"\w+")

StepPart = Literal["thought", "action", "output"]


class TextAnchor(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Words of one text of a step: of its thought, of an argument of its `action`-th action (counted from 1), or of
    what came back for it (0: for none of them). `start` counts characters."""

    part: StepPart
    exact: Annotated[str, Meta(max_length=MOST_EXACT)]
    action: Count = 0
    name: Name = ""
    start: Total = 0
    prefix: Annotated[str, Meta(max_length=MOST_BESIDE)] = ""
    suffix: Annotated[str, Meta(max_length=MOST_BESIDE)] = ""


class StepText(msgspec.Struct, frozen=True, kw_only=True):
    """One text of a step; the fields name it as an `TextAnchor` does."""

    part: StepPart
    text: str
    action: int = 0
    name: str = ""


class AnchoredText(msgspec.Struct, frozen=True):
    """The words of an anchor in a text that a step has now."""

    text: StepText
    start: int
    stop: int


def texts_of(body: StepBody) -> Iterator[StepText]:
    """A step's texts in reading order; an argument that is no text is shown as JSON."""
    if body.thought:
        yield StepText(part="thought", text=body.thought)
    numbers: dict[str, int] = {}
    for number, action in enumerate(body.actions, 1):
        numbers[action.call_id] = number
        for name, value in action.arguments.items():
            text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
            yield StepText(part="action", text=text, action=number, name=name[:500])
    for observation in body.observations:
        yield StepText(part="output", text=observation.output.text, action=numbers.get(observation.call_id, 0))


def anchor_of(body: StepBody, selected: str, before: str = "") -> TextAnchor | None:
    """The anchor of words that a reader selected in what is drawn of a step; None where no text of it holds them.

    What is drawn differs from the text in spaces and marks, so words are compared. `before` is what is drawn before
    them, and chooses between equal ones. Of a selection over several texts the longest line that is found counts.
    """
    texts = list(texts_of(body))
    for words in (selected, *sorted(selected.splitlines(), key=len, reverse=True)):
        found = _best(((text, *place) for text in texts for place in _word_places(text.text, words)), before)
        if found is not None:
            return _anchor(*found)
    return None


def find(anchor: TextAnchor, body: StepBody) -> AnchoredText | None:
    """Where the words stand in a step; None where it has them no more, though it may have the same elsewhere."""
    found = [place for text in texts_of(body) for at in _places(text.text, anchor.exact)
             if _is_same(anchor, place := AnchoredText(text, at, at + len(anchor.exact)))]
    return max(found, key=lambda place: _likeness(anchor, place), default=None)


def find_drawn(anchor: TextAnchor, drawn: str) -> tuple[int, int] | None:
    """Where in what is drawn of a step the words of an anchor stand that `find` finds: of equal ones those whose
    neighbours are most like its own."""
    before, after = _WORD.findall(anchor.prefix), _WORD.findall(anchor.suffix)[::-1]
    return max(_word_places(drawn, anchor.exact), default=None, key=lambda place: (
        _common_end(_WORD.findall(drawn[max(0, place[0] - 200) : place[0]]), before)
        + _common_end(_WORD.findall(drawn[place[1] : place[1] + 200])[::-1], after)))


def _is_same(anchor: TextAnchor, place: AnchoredText) -> bool:
    """Whether these are the anchor's words and not equal ones: one side is as it was, the other nearly so. A side that
    ends where the text now begins or ends was cut; one that ended with its text proves nothing in the midst of another.
    Few letters prove it only where they stood before."""
    text, here = place.text, _slot(place.text) == _slot(anchor)
    before = _common_end(text.text[: place.start], anchor.prefix)
    after = _common_end(text.text[place.stop : place.stop + MOST_BESIDE][::-1], anchor.suffix[::-1])
    if before + after + len(anchor.exact) < _PROOF and before + after < len(text.text) - len(anchor.exact):
        return here and place.start == anchor.start
    left = before == place.start or (before == len(anchor.prefix) and (here or before == MOST_BESIDE))
    right = after == len(text.text) - place.stop or (after == len(anchor.suffix) and (here or after == MOST_BESIDE))
    return (left and (right or after >= _NEARLY)) or (right and before >= _NEARLY)


def _slot(text: TextAnchor | StepText) -> tuple[str, int, str]:
    return text.part, text.action, text.name


def words_pattern(text: str) -> re.Pattern[str] | None:
    """What finds the words of a text one after the other, whatever lies between them; None for no words."""
    words = _WORD.findall(text)[:_MOST_WORDS]
    return re.compile(r"\W+".join(map(re.escape, words))) if words else None


def _likeness(anchor: TextAnchor, place: AnchoredText) -> tuple[bool, int, int]:
    text = place.text
    same = _slot(text) == _slot(anchor)
    beside = _common_end(text.text[: place.start], anchor.prefix) + _common_end(
        text.text[place.stop : place.stop + MOST_BESIDE][::-1], anchor.suffix[::-1])
    return same, beside, -abs(place.start - anchor.start)


def _anchor(text: StepText, start: int, stop: int) -> TextAnchor:
    stop = min(stop, start + MOST_EXACT)
    return TextAnchor(part=text.part, action=text.action, name=text.name, start=start, exact=text.text[start:stop],
                  prefix=text.text[max(0, start - MOST_BESIDE) : start], suffix=text.text[stop : stop + MOST_BESIDE])


def _best(places: Iterable[tuple[StepText, int, int]], before: str) -> tuple[StepText, int, int] | None:
    wanted = _WORD.findall(before[-200:])
    return max(places, default=None, key=lambda place: _common_end(
        _WORD.findall(place[0].text[max(0, place[1] - 200) : place[1]]), wanted))


def _common_end(one: Sequence[str], other: Sequence[str]) -> int:
    """How many of the last entries are equal."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _word_places(text: str, selected: str) -> Iterator[tuple[int, int]]:
    """Where the words of a selection stand one after the other, whatever lies between them."""
    pattern = words_pattern(selected)
    if pattern is None:
        sign = selected.strip()
        yield from ((at, at + len(sign)) for at in _places(text, sign))
        return
    for _, found in zip(range(_MOST_PLACES), pattern.finditer(text), strict=False):
        yield found.span()


def _places(text: str, exact: str) -> Iterator[int]:
    at = text.find(exact) if exact else -1
    for _ in range(_MOST_PLACES):
        if at < 0:
            return
        yield at
        at = text.find(exact, at + 1)
