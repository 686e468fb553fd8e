"""The filter box of the sessions: words, and terms such as `state:running is:new cost>2 -server:lab`. No Qt.

    word  "a phrase"     in title, task, model, id, format or server        -TERM   not so
    state:S server:S model:S task:S format:S attention:KIND                 begins with or holds S
    is:new  is:attention  is:live  is:imported  is:guided                   is:guided: guidance waits
    steps>N  errors>=N  score<N  cost>N  tokens>N                           what is unknown passes no comparison
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

import msgspec

from core.domain.session import SessionRow

_TERM = re.compile(r'(-?)(?:"([^"]*)"?|(\S+))')
_COMPARED = re.compile(r"(steps|errors|score|cost|tokens)(>=|<=|>|<|=)(\d+(?:\.\d+)?)\Z")
_SAYS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le, "=": operator.eq}
_FIELDS = ("state", "server", "model", "task", "format", "attention")
_IS = ("new", "attention", "live", "imported", "guided")


class Candidate(msgspec.Struct):
    """A session as a query sees it: its row, what its server is called, and the steps that are new to the reader."""

    row: SessionRow
    server: str = ""
    new: int = 0
    _words: str = ""

    @property
    def words(self) -> str:
        """What words are looked for in, in small letters; put together once, for each key asks for it."""
        if not self._words:
            row = self.row
            self._words = " ".join((row.title, row.task, row.model, row.session, row.origin, self.server)).casefold()
        return self._words


Term = Callable[[Candidate], bool]


class SessionQuery:
    """A filter as it was typed. What is no term that is known is a word: nothing typed is an error."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        self._terms = [_term(minus == "-", phrase or plain) for minus, phrase, plain in _TERM.findall(text)
                       if phrase or plain]

    def passes(self, candidate: Candidate) -> bool:
        """Whether a session is listed."""
        for term in self._terms:  # noqa: SIM110 - a generator doubles the price of a key over many sessions
            if not term(candidate):
                return False
        return True


def _term(negated: bool, text: str) -> Term:
    term = _comparison(text) or _quality(text) or _field(text) or _word(text)
    return (lambda candidate: not term(candidate)) if negated else term


def _comparison(text: str) -> Term | None:
    found = _COMPARED.match(text.casefold())
    if found is None:
        return None
    name, says, limit = found[1], _SAYS[found[2]], float(found[3])

    def compare(candidate: Candidate) -> bool:
        row = candidate.row
        value = {"steps": row.steps, "errors": row.errors, "score": row.score, "cost": row.cost_usd,
                 "tokens": row.tokens}[name]
        return value is not None and says(value, limit)

    return compare


def _quality(text: str) -> Term | None:
    name, _, value = text.casefold().partition(":")
    if name != "is" or value not in _IS:
        return None
    tests: dict[str, Term] = {
        "new": lambda it: it.new > 0, "attention": lambda it: bool(it.row.attention),
        "live": lambda it: it.row.origin == "live", "imported": lambda it: it.row.origin != "live",
        "guided": lambda it: it.row.guidance_waiting > 0}
    return tests[value]


def _field(text: str) -> Term | None:
    name, colon, value = text.casefold().partition(":")
    if not colon or not value or name not in _FIELDS:
        return None

    def holds(candidate: Candidate) -> bool:
        row = candidate.row
        text = {"state": row.state, "server": candidate.server, "model": row.model, "task": row.task,
                "format": row.origin, "attention": " ".join(row.attention)}[name].casefold()
        return text.startswith(value) if name == "state" else value in text

    return holds


def _word(text: str) -> Term:
    word = text.casefold()

    return lambda candidate: word in candidate.words
