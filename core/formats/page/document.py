"""The whole page: one file without scripts and without anything from elsewhere, light and dark, ready to print."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from core.domain.blindness import seen_opinions, seen_remarks
from core.domain.errors import NotFound, Unavailable
from core.domain.guidance import FOREIGN_PERSON
from core.domain.items import Item
from core.domain.request import requested
from core.domain.step import StepBody, decode_body
from core.domain.step_entry import Note
from core.domain.steps import ERROR
from core.domain.trajectory import Trajectory
from core.formats.page.foreign import shown
from core.formats.page.step import MOST_OF_A_TEXT, remark, step_section, title_of
from core.formats.page.words import PageWords
from core.store.home import in_place_of

STYLE = (Path(__file__).parents[3] / "resources" / "page.css").read_text(encoding="utf-8")

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What a browser lets this page do: nothing but its own colours (Content Security Policy Level 3)."""


def cited_steps(trajectory: Trajectory, reader: str = "") -> list[int]:
    """The steps of which people said something that a blind `reader` may see: remarks, tags, verdicts."""
    shown_here = ((at, seen_opinions(opinions, reader)) for at, opinions in sorted(trajectory.steps.opinions.items()))
    return [int(trajectory.steps.numbers[at]) for at, one in shown_here
            if one.notes or one.tags or any(v.author.kind == "person" for v in one.verdicts.values())]


def page(trajectory: Trajectory, blob: Callable[[str], bytes], words: PageWords = PageWords(), *,
         cited: Collection[int] | None = None, most: int | None = MOST_OF_A_TEXT, reader: str = "") -> str:
    """A session as an HTML document with the steps that are `cited` (None: those that people spoke of).

    `blob` finds a payload; of each text `most` characters are shown (None: all). What a blind
    `reader` (an author's key) may not see is not on it. Raises NotFound for no such step.
    """
    row = trajectory.row
    numbers = sorted(set(cited_steps(trajectory, reader) if cited is None else cited))
    sections = [step_section(entry, seen_opinions(entry, reader), _body(blob, entry.body), words, most)
                for entry in map(trajectory.step, numbers)]
    title = shown(row.title or trajectory.session)
    return (
        f'<!DOCTYPE html><html lang="{words.language}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{title}</title><style>{STYLE}</style></head><body><header><h1>{title}</h1>"
        f"<dl>{''.join(_facts(trajectory, words))}</dl></header><main>{_task(trajectory, words)}"
        f"{_remarks(seen_remarks(trajectory.notes, reader), words)}<nav><h2>{shown(words.outline)}</h2>"
        f"<ol>{''.join(_outline(trajectory, set(numbers), words))}</ol></nav>"
        f"<h2>{shown(words.steps)}</h2><p class=\"cut\">"
        f"{shown(words.whole.format(n=f'{row.steps:,}', cited=f'{len(numbers):,}'))}</p>"
        f"{''.join(sections) or f'<p>{shown(words.nothing)}</p>'}</main></body></html>\n")


def write(path: Path, text: str) -> None:
    """Write a page, under its name once it is whole. Raises Unavailable."""
    try:
        with in_place_of(path) as part:
            part.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise Unavailable("cannot_write", f"{path} cannot be written: {error.strerror}.", path=str(path)) from error


def _body(blob: Callable[[str], bytes], name: str) -> StepBody:
    try:
        return decode_body(blob(name))
    except NotFound as error:
        raise Unavailable("step_not_here", "A cited step is not on this computer yet; store the session offline first.",
                          blob=name) from error


def _facts(trajectory: Trajectory, words: PageWords) -> Iterator[str]:
    row = trajectory.row
    facts = {
        words.model: row.model,
        words.state: _state(row.state, "" if row.state == "finished" else row.reason, words),
        words.began: f"{row.started_at:%Y-%m-%d %H:%M} UTC" if row.started_at else "", words.count: f"{row.steps:,}",
        words.errors: f"{row.errors:,}", words.score: "" if row.score is None else f"{row.score:.1f}",
        words.cost: "" if row.cost_usd is None else f"${row.cost_usd:,.2f}"}
    yield from (f"<div><dt>{shown(name)}</dt><dd>{shown(value)}</dd></div>" for name, value in facts.items() if value)


def _state(state: str, reason: str, words: PageWords) -> str:
    word = words.states.get(state, state)
    why = words.states.get(reason, reason.replace("_", " "))  # of another program: as its file says it
    return words.because.format(state=word, reason=why) if why else word


def _task(trajectory: Trajectory, words: PageWords) -> str:
    text = trajectory.created.task.description if trajectory.created is not None else ""
    text = requested(text) or text
    return f'<h2>{shown(words.task)}</h2><pre class="task">{shown(text)}</pre>' if text.strip() else ""


def _remarks(made: Sequence[Note], words: PageWords) -> str:
    notes = "".join(map(remark, made))
    return f"<h2>{shown(words.remarks)}</h2>{notes}" if notes else ""


def _outline(trajectory: Trajectory, cited: Collection[int], words: PageWords) -> Iterator[str]:
    """What is no step, the cited steps, and each stretch of others that failed, in order."""
    failed: list[int] = []
    for item in trajectory.items:
        at = int(item.ref) if item.kind == "step" else -1
        is_cited = at >= 0 and trajectory.steps.numbers[at] in cited
        if at >= 0 and not is_cited and trajectory.steps.flags[at] & ERROR:
            failed.append(at)
            continue
        yield from _failures(trajectory, failed, words)
        failed = []
        if at < 0:
            yield f'<li class="{item.kind}">{_turn(trajectory, item, words)}</li>'
        elif is_cited:
            number = trajectory.steps.numbers[at]
            name = shown(words.step.format(n=number))
            yield f'<li><a href="#step-{number}">{name}</a> {shown(title_of(trajectory.steps.at(at).head))}</li>'
    yield from _failures(trajectory, failed, words)


def _failures(trajectory: Trajectory, failed: Sequence[int], words: PageWords) -> Iterator[str]:
    """Steps one after the other that failed, as one line."""
    if failed:
        first, last = (trajectory.steps.numbers[at] for at in (failed[0], failed[-1]))
        name = words.step.format(n=first if first == last else f"{first}–{last}")
        title = title_of(trajectory.steps.at(failed[0]).head)
        yield f'<li>{shown(name)} <em class="error">{shown(words.failed)}</em> {shown(title)}</li>'


def _turn(trajectory: Trajectory, item: Item, words: PageWords) -> str:
    match item.kind:
        case "guidance":
            given = trajectory.guidance[str(item.ref)]
            text = shown((requested(given.text) or given.text)[:2_000])
            if given.author == FOREIGN_PERSON:
                return f"<b>{shown(words.person)}</b> {text}"
            name = words.guidance if given.by_person else words.user
            return f"<b>{shown(name)}</b> {text} <small>{shown(given.author)}</small>"
        case "summary":
            made = trajectory.summaries[str(item.ref)]
            name = shown(words.summary.format(first=made.first, last=made.last))
            return f"<details><summary>{name}</summary><pre>{shown(made.text)}</pre></details>"
        case "submission":
            step = shown(words.step.format(n=trajectory.submissions[int(item.ref)].step))
            return f"<b>{shown(words.submission)}</b> {step}"
        case _:
            score = trajectory.scores[int(item.ref)]
            total = "–" if score.total is None else f"{score.total:.1f}"
            return f"<b>{shown(words.score)}</b> {total} {shown(score.message[:2_000])}"
