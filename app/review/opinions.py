"""What is shown of the opinions on one step, and the words for who gave them."""

from __future__ import annotations

import msgspec

from app.desk.step_words import author_kind
from app.kit.i18n import translate
from app.kit.safe_text import one_line
from app.review.verdict_book import Decision
from core.domain.step_entry import Note
from core.domain.verdict import Author, StepOutcome, Verdict


class StepOpinions(msgspec.Struct, frozen=True):
    """What the panel shows of one step. `actions` are its tools, `action` is the chosen one (0: the whole step),
    `masked` those that are masked alone; `void` is what the reader chose before the step changed."""

    number: str
    """As the list has it: a subagent's steps by those of its callers, too."""
    title: str
    outcome: StepOutcome
    mine: Decision
    verdicts: tuple[Verdict, ...]
    notes: tuple[Note, ...] = ()
    others_hidden: bool = False
    marked: int = 0
    tags: frozenset[str] = frozenset()
    actions: tuple[str, ...] = ()
    action: int = 0
    masked: tuple[int, ...] = ()
    void: Decision = Decision()


def value_word(value: str) -> str:
    """A verdict's word."""
    return {"keep": translate("ReviewView", "keep"), "mask": translate("ReviewView", "mask"),
            "unsure": translate("ReviewView", "unsure")}.get(value, value)


def author_words(author: Author) -> str:
    """Who gave an opinion: the kind, the name and, of a rule or judge, the version."""
    name = f"{author_kind(author.kind)} {one_line(author.name, 60)}".rstrip()
    if not author.version:
        return name
    return translate("ReviewView", "{name}, version {version}").format(name=name, version=one_line(author.version, 30))
