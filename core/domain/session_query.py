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
_FIELDS = ("state", "server", "model", "task", "format", "attention")
_IS = ("new", "attention", "live", "imported", "guided", "undecided", "done")
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


def _known(text: str) -> Term | None:
    return _comparison(text) or _quality(text) or _result(text) or _field(text) or _of_queue(text)


def _comparison(text: str) -> Term | None:
    found = _COMPARED.match(text.casefold())
    if found is None:
        return None
    name, says, limit = found[1], _SAYS[found[2]], float(found[3])
    if name == "judged":
        return _judged(says, limit, is_share=bool(found[4]))
    if found[4]:
        return None

    def compare(candidate: Candidate) -> bool:
        row = candidate.row
        value = {"steps": row.steps, "errors": row.errors, "score": row.score, "cost": row.cost_usd,
                 "tokens": row.tokens}[name]
        return value is not None and says(value, limit)

    return compare


def _judged(says: Callable[[float, float], bool], limit: float, *, is_share: bool) -> Term:
    def compare(candidate: Candidate) -> bool:
        review = candidate.in_review
        if not is_share:
            return says(review.judged, limit)
        return review.asked > 0 and says(100 * review.judged / review.asked, limit)

    return compare


def _of_queue(text: str) -> Term | None:
    name, colon, value = text.casefold().partition(":")
    if not colon or not value or name not in ("queue", "assigned"):
        return None
    if name == "queue":
        return lambda it: any(value in queue.casefold() for queue in it.in_review.queues)
    if value == ME:
        return lambda it: it.in_review.is_mine
    if value == NOBODY:
        return lambda it: bool(it.in_review.queues) and not it.in_review.people
    return lambda it: any(value == person.casefold() for person in it.in_review.people)


def _quality(text: str) -> Term | None:
    name, _, value = text.casefold().partition(":")
    if name != "is" or value not in _IS:
        return None
    tests: dict[str, Term] = {
        "new": lambda it: it.new > 0, "attention": lambda it: bool(it.row.attention),
        "live": lambda it: it.row.origin == "live", "imported": lambda it: it.row.origin != "live",
        "guided": lambda it: it.row.guidance_waiting > 0,
        "undecided": lambda it: it.in_review.judged < it.in_review.asked,
        "done": lambda it: it.in_review.is_done}
    return tests[value]


def _result(text: str) -> Term | None:
    """What came of it: `failed` was scored and gained nothing, `none` was not scored."""
    tests: dict[str, Term] = {"score:failed": lambda it: it.row.score is not None and it.row.score <= 0,
                              "score:none": lambda it: it.row.score is None}
    return tests.get(text.casefold())


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
