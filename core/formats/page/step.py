"""A cited step of a page: its texts with the words that remarks stand on, and the opinions beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from core.domain.anchor import AnchoredText, StepText, find, texts_of
from core.domain.request import plain_words
from core.domain.step import StepBody, StepHead
from core.domain.step_entry import Note, Opinions, StepEntry
from core.formats.page.foreign import shown
from core.formats.page.words import PageWords

MOST_OF_A_TEXT = 20_000
"""Characters of one text of a step, unless the whole is asked for."""


LONGEST_TITLE = 120


def step_section(entry: StepEntry, opinions: Opinions, body: StepBody, words: PageWords,
                 most: int | None = MOST_OF_A_TEXT) -> str:
    """The step as an HTML section, with the opinions on it that may show."""
    head = entry.head
    title = f"{shown(words.step.format(n=head.number))} <small>{shown(title_of(head))}</small>"
    failed = f' <em class="error">{shown(words.failed)}</em>' if head.is_error else ""
    places = {note: find(note.anchor, body) for note in opinions.notes if note.anchor is not None}
    parts = "".join(_texts(body, places, words, most))
    return (f'<section class="step" id="step-{head.number}"><h3>{title}{failed}</h3>'
            f'<div class="texts">{parts}</div><aside>{"".join(_opinions(opinions, places, words))}</aside></section>')


def title_of(head: StepHead) -> str:
    """What a step did, in one line without the marks of its prose."""
    title = plain_words(head.title)
    return title if len(title) <= LONGEST_TITLE else f"{title[:LONGEST_TITLE].rstrip()}…"


def remark(note: Note, about: str = "") -> str:
    """A remark with who made it, when, and on what."""
    who = f"{shown(note.author.name or note.author.kind)}, <time>{note.at:%Y-%m-%d %H:%M} UTC</time>"
    return f'<p class="remark">{about}{shown(note.text)}<small>{who}</small></p>'


def _texts(body: StepBody, places: Mapping[Note, AnchoredText | None], words: PageWords,
           most: int | None) -> Iterator[str]:
    tools = {number: action.tool for number, action in enumerate(body.actions, 1)}
    for text in texts_of(body):
        if not text.text:
            continue
        marks = [place for place in places.values() if place is not None and place.text == text]
        marked, cut = _marked(text.text, marks, most), ""
        if most is not None and len(text.text) > most:
            cut = f'<p class="cut">{shown(words.cut.format(shown=f"{most:,}", total=f"{len(text.text):,}"))}</p>'
        yield f'<h4>{shown(_name(text, tools, words))}</h4><pre class="{text.part}">{marked}</pre>{cut}'


def _name(text: StepText, tools: Mapping[int, str], words: PageWords) -> str:
    if text.part == "thought":
        return words.thought if tools else words.answer
    tool = tools.get(text.action, "")
    return f"{tool} · {text.name}" if text.part == "action" else f"{words.output} · {tool}".rstrip(" ·")


def _marked(text: str, marks: Sequence[AnchoredText], most: int | None) -> str:
    """The text with what is marked in it; marks that overlap become one."""
    pieces, at, end = [], 0, len(text) if most is None else min(most, len(text))
    for start, stop in sorted((m.start, min(m.stop, end)) for m in marks):
        start = max(start, at)
        if start < stop:
            pieces.append(f"{shown(text[at:start])}<mark>{shown(text[start:stop])}</mark>")
            at = stop
    return "".join(pieces) + shown(text[at:end])


def _opinions(opinions: Opinions, places: Mapping[Note, AnchoredText | None], words: PageWords) -> Iterator[str]:
    for verdict in opinions.verdicts.values():
        value = getattr(words, verdict.value)
        why = f": {shown(verdict.reason)}" if verdict.reason else ""
        on = f" ({verdict.action})" if verdict.action else ""
        who = shown(verdict.author.name or verdict.author.kind)
        yield f'<p class="verdict {verdict.value}"><b>{shown(value)}</b>{on}{why}<small>{who}</small></p>'
    if opinions.tags:
        yield f'<p class="tags">{"".join(f"<span>{shown(tag)}</span>" for tag in sorted(opinions.tags))}</p>'
    for note in opinions.notes:
        yield remark(note, _quote(note, places.get(note), words))


def _quote(note: Note, place: AnchoredText | None, words: PageWords) -> str:
    if note.anchor is None:
        return ""
    exact = plain_words(note.anchor.exact)
    quoted = exact if place is not None else words.gone.format(words=exact)
    return f"<q>{shown(quoted[:300])}</q>"
