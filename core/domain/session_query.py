"""The filter of sessions: words, and terms such as `state:running is:new cost>2 -server:lab judged<50%`.

    word  "a phrase"     in title, task, model, id, format or server        -TERM   not so
    state:S server:S model:S task:S format:S attention:KIND                 begins with or holds S
    queue:NAME  queue:"A NAME"  assigned:me  assigned:NAME  assigned:nobody in a review queue, and who has it there
    is:new  is:attention  is:live  is:imported  is:guided                   is:guided: guidance waits
    is:undecided  is:done                                                   steps are left to judge; done in its queues
    steps>N  errors>=N  score<N  cost>N  tokens>N                           what is unknown passes no comparison
    score:failed  score:none                                                scored and nothing gained; not scored
    judged>N  judged<50%                                                    steps that were judged, or their share
"""

import operator
import re
from collections.abc import Callable

import msgspec

from core.domain.session import SessionRow

_TERM = re.compile(r'(-?)(?:([a-z]*:?)"([^"]*)"?|(\S+))')
_COMPARED = re.compile(r"(steps|errors|score|cost|tokens|judged)(>=|<=|>|<|=)(\d+(?:\.\d+)?)(%?)\Z")
_MEANT = re.compile(r"(?:steps|errors|score|cost|tokens|judged)[<>=]|is:")
"""What begins so was meant as a term, whatever follows."""
_SAYS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le, "=": operator.eq}
_ABOUT_QUEUES = re.compile(r"\b(?:queue|assigned):|\bis:done\b")
ME, NOBODY = "me", "nobody"


class InReview(msgspec.Struct, frozen=True):
    """How far a session is judged, of the steps that are asked for; and the review queues that it is in (their names),
    who has it there, whether the reader does, and whether it is done in all of them."""

    judged: int = 0
    asked: int = 0
    queues: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    is_mine: bool = False
    is_done: bool = False


NO_REVIEW = InReview()


class Candidate(msgspec.Struct):
    """A session as a query sees it: its row, what its server is called, the steps that are new to the reader, and what
    is known of its review, which is asked for only where a term is about it."""

    row: SessionRow
    server: str = ""
    new: int = 0
    review: Callable[[], InReview] = lambda: NO_REVIEW
    _words: str = ""
    _in_review: InReview | None = None

    @property
    def in_review(self) -> InReview:
        """What is known of its review; asked for once."""
        if self._in_review is None:
            self._in_review = self.review()
        return self._in_review

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
        self.is_about_queues = _ABOUT_QUEUES.search(text.casefold()) is not None
        texts = [(minus == "-", f"{name}{phrase}" if phrase else plain)
                 for minus, name, phrase, plain in _TERM.findall(text) if phrase or plain]
        self._terms = [_term(negated, one) for negated, one in texts]
        self.not_understood = tuple(one for _, one in texts if _MEANT.match(one.casefold()) and not _known(one))
        """The terms that are looked for as words, though they were hardly meant so: steps>many, is:odd."""

    def passes(self, candidate: Candidate) -> bool:
        """Whether a session is listed."""
        for term in self._terms:  # noqa: SIM110 - a generator doubles the price of a key over many sessions
            if not term(candidate):
                return False
        return True


def _term(negated: bool, text: str) -> Term:
    term = _known(text) or _word(text)
    return (lambda candidate: not term(candidate)) if negated else term


_TESTS: dict[str, Term] = {
    "is:new": lambda it: it.new > 0, "is:attention": lambda it: bool(it.row.attention),
    "is:live": lambda it: it.row.origin == "live", "is:imported": lambda it: it.row.origin != "live",
    "is:guided": lambda it: it.row.guidance_waiting > 0,
    "is:undecided": lambda it: it.in_review.judged < it.in_review.asked, "is:done": lambda it: it.in_review.is_done,
    "score:failed": lambda it: it.row.score is not None and it.row.score <= 0,
    "score:none": lambda it: it.row.score is None}
_TEXTS: dict[str, Callable[[Candidate], str]] = {
    "state": lambda it: it.row.state, "server": lambda it: it.server, "model": lambda it: it.row.model,
    "task": lambda it: it.row.task, "format": lambda it: it.row.origin,
    "attention": lambda it: " ".join(it.row.attention)}
_AMOUNTS: dict[str, Callable[[Candidate], float | None]] = {
    "steps": lambda it: it.row.steps, "errors": lambda it: it.row.errors, "score": lambda it: it.row.score,
    "cost": lambda it: it.row.cost_usd, "tokens": lambda it: it.row.tokens, "judged": lambda it: it.in_review.judged,
    "judged%": lambda it: 100 * it.in_review.judged / it.in_review.asked if it.in_review.asked else None}


def _known(text: str) -> Term | None:
    return _comparison(text) or _TESTS.get(text.casefold()) or _field(text) or _of_queue(text)


def _comparison(text: str) -> Term | None:
    found = _COMPARED.match(text.casefold())
    amount = _AMOUNTS.get(found[1] + found[4]) if found else None
    if found is None or amount is None:
        return None
    says, limit = _SAYS[found[2]], float(found[3])

    def compare(candidate: Candidate) -> bool:
        value = amount(candidate)
        return value is not None and says(value, limit)

    return compare


def _of_queue(text: str) -> Term | None:
    name, _, value = text.casefold().partition(":")
    if not value or name not in ("queue", "assigned"):
        return None
    if name == "queue":
        return lambda it: any(value in queue.casefold() for queue in it.in_review.queues)
    if value == ME:
        return lambda it: it.in_review.is_mine
    if value == NOBODY:
        return lambda it: bool(it.in_review.queues) and not it.in_review.people
    return lambda it: any(value == person.casefold() for person in it.in_review.people)


def _field(text: str) -> Term | None:
    name, _, value = text.casefold().partition(":")
    shown = _TEXTS.get(name)
    if shown is None or not value:
        return None
    if name == "state":
        return lambda it: shown(it).casefold().startswith(value)
    return lambda it: value in shown(it).casefold()


def _word(text: str) -> Term:
    word = text.casefold()

    return lambda candidate: word in candidate.words
