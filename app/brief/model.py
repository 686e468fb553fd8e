"""A session in brief: what was asked, what came of it, where the reader was, where it failed, what was remarked. No Qt
widgets."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.desk.remark_words import words_of_note, writer_of
from app.kit.safe_text import one_line
from core.domain.blindness import seen
from core.domain.progress import Judgement, judgement_of
from core.domain.request import headline, plain_words
from core.domain.steps import ERROR
from core.domain.trajectory import Trajectory

BINS = 28
MOST_REMARKS = 3
MOST_READ = 3_000
"""Steps of which the changed lines are added up; of longer sessions only the files are counted."""


class Bin(msgspec.Struct, frozen=True):
    """Some steps in a row: how many failed, and what was decided of them (the most telling word of them)."""

    errors: int = 0
    word: Judgement | None = None


class RemarkInBrief(msgspec.Struct, frozen=True):
    """Who remarked what on which step (0: the session)."""

    person: str
    step: int
    text: str


class Brief(msgspec.Struct, frozen=True):
    """All of it. `is_begun`: the log's begin, which has the task, is here; `submitted` counts what was handed in;
    `place` is the step that the reader goes on at (0: the first), with its title."""

    task: str
    rest: str
    handed_in: str
    submitted: int
    changed: tuple[int, int, int]
    place: int
    place_title: str
    bins: tuple[Bin, ...]
    last: int
    remarks: tuple[RemarkInBrief, ...]
    more_remarks: int
    is_begun: bool


def brief(trajectory: Trajectory, place: int, reader: str, own: str) -> Brief:
    """`place` is where the reader was (0: nowhere); `reader` whom others' words are hidden from ("": nobody), `own` the
    reader's key."""
    first, rest = _task(trajectory)
    at = trajectory.index_of(place) if place else None
    remarks = _remarks(trajectory, reader, own)
    return Brief(task=first, rest=rest, handed_in=_handed_in(trajectory),
                 submitted=len(trajectory.submissions), changed=_changed(trajectory), place=place,
                 place_title=trajectory.steps[at].head.title if at is not None else "",
                 bins=_bins(trajectory, reader), last=trajectory.steps.numbers[-1] if len(trajectory.steps) else 0,
                 remarks=tuple(remarks[:MOST_REMARKS]), more_remarks=max(0, len(remarks) - MOST_REMARKS),
                 is_begun=trajectory.created is not None)


def _task(trajectory: Trajectory) -> tuple[str, str]:
    created = trajectory.created
    if created is None:
        return "", ""
    text = headline(created.task.description) or created.task.description[:4000] or created.task.title
    lines = [line for line in (one_line(plain_words(line), 400) for line in text.split("\n")) if line]
    return (lines[0] if lines else "", one_line(" ".join(lines[1:]), 180))


def _handed_in(trajectory: Trajectory) -> str:
    """The last step's own words where it ends without an action: what the agent said it had done."""
    last = trajectory.steps[-1].head if len(trajectory.steps) else None
    return one_line(plain_words(last.title), 160) if last is not None and not last.tools else ""


def _changed(trajectory: Trajectory) -> tuple[int, int, int]:
    """Files that were changed, lines added and removed."""
    files = {(one.host, one.path) for one in trajectory.files}
    heads = [entry.head for entry in trajectory.steps] if len(trajectory.steps) <= MOST_READ else []
    return len(files), sum(head.added for head in heads), sum(head.removed for head in heads)


def _bins(trajectory: Trajectory, reader: str) -> tuple[Bin, ...]:
    steps = trajectory.steps
    count = min(BINS, len(steps))
    if not count:
        return ()
    errors: list[int] = [0] * count
    words: list[Judgement | None] = [None] * count
    for at, flags in enumerate(steps.flags):
        if flags & ERROR:
            errors[at * count // len(steps)] += 1
    for at, opinions in steps.opinions.items():
        word = judgement_of(seen(opinions.verdicts, reader).values(), len(steps.shape(at).tools))
        place = at * count // len(steps)
        words[place] = _stronger(words[place], word)
    return tuple(Bin(n, word) for n, word in zip(errors, words, strict=True))


def _stronger(one: Judgement | None, other: Judgement | None) -> Judgement | None:
    """What is masked or unsure shows before what is kept."""
    order: Sequence[Judgement | None] = (None, "keep", "unsure", "partly", "mask")
    return max((one, other), key=order.index)


def _remarks(trajectory: Trajectory, reader: str, own: str) -> list[RemarkInBrief]:
    """The newest first; to a blind reader only their own."""
    found = [(note.at, RemarkInBrief("" if note.author.key == own else writer_of(note), trajectory.steps.numbers[at],
                                     one_line(words_of_note(note), 200)))
             for at, opinions in trajectory.steps.opinions.items() for note in opinions.notes
             if not reader or note.author.key == reader]
    return [remark for _, remark in sorted(found, key=lambda pair: pair[0], reverse=True)]
