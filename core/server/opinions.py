"""Taking over what annotators judged elsewhere, without a server between them: their own words, names and times."""

from datetime import UTC, datetime, timedelta

from core.domain import events as e
from core.domain.errors import InvalidInput
from core.domain.ids import LONGEST_LABEL, is_label
from core.domain.trajectory import Trajectory, fold
from core.domain.verdict import verdict_key
from core.protocol.codec import check_event
from core.protocol.operations import MAX_WORDS, MergeOpinions
from core.server.guidance import MAX_REASON, check_length
from core.store import log
from core.store.sqlite import Connection

AHEAD = timedelta(days=1)
"""How far the clock of another computer may be ahead of ours: of one author's opinions the newest counts, so one of the
future would never be replaced."""

KINDS = ("person", "rule", "judge")


def merge(conn: Connection, session: str, op: MergeOpinions) -> dict[str, object]:
    """Append what is not here yet, byte for byte, in the order given.

    The result counts what was `merged`, what was `known` (here already, or older than the same author's word that is
    here), and what was about steps that are not here or are others (`elsewhere`). Raises InvalidInput (bad_opinion).
    """
    here = _Here(conn, session)
    counts = {"merged": 0, "known": 0, "elsewhere": 0}
    taken: list[bytes] = []
    for opinion in op.opinions:
        body = bytes(opinion.event)
        event = _checked(body)
        if not here.has_step(event, opinion.content):
            counts["elsewhere"] += 1
        elif not here.takes(event):
            counts["known"] += 1
        else:
            counts["merged"] += 1
            taken.append(body)
    if taken:
        log.append(conn, session, taken)
    return dict(counts)


class _Here:
    """What a session holds by now."""

    def __init__(self, conn: Connection, session: str) -> None:
        placed = list(log.read_all(conn, session))
        self._trajectory: Trajectory = fold(session, placed)
        self._ids: set[str] = set()
        self._newest: dict[tuple[object, ...], e.Event] = {}
        for one in placed:
            if isinstance((event := one.event).fact, e.AnnotationFact):
                self.takes(event)

    def takes(self, event: e.Event) -> bool:
        """Whether an opinion is news; from then on it is none."""
        about = _about(event)
        replaces = (self._newest.get(one) for one in (about, _whole(event)))
        if event.id in self._ids or any(newest is not None and newest.at > event.at for newest in replaces):
            return False
        self._ids.add(event.id)
        self._newest[about] = event
        return True

    def has_step(self, event: e.Event, content: str) -> bool:
        """Whether the step that it is about is here, with the same content; step 0 is the session."""
        step = event.fact.step if isinstance(event.fact, e.OpinionFact) else 0
        at = self._trajectory.index_of(step)
        return step == 0 or (at is not None and self._trajectory.step(step).body == content)


def _about(event: e.Event) -> tuple[object, ...]:
    """What an opinion replaces: its author's earlier verdict on the step or action, the earlier word on the tag."""
    match event.fact:
        case e.VerdictGiven() as f:
            return "verdict", f.step, verdict_key(event.author, f.action)
        case e.TagSet() as f:
            return "tag", f.step, f.tag
    return "", event.id


def _whole(event: e.Event) -> tuple[object, ...]:
    """What takes an opinion back beside its own kind: of one on an action, its author's word on the whole step."""
    fact = event.fact
    return ("verdict", fact.step, event.author.key) if isinstance(fact, e.VerdictGiven) else ()


def _checked(body: bytes) -> e.Event:
    event = e.decode_event(check_event(body))
    if not isinstance(event.fact, e.AnnotationFact) or event.author.kind not in KINDS:
        raise InvalidInput("bad_opinion", "Only what people, rules and judges said of steps can be merged.")
    if event.at > datetime.now(UTC) + AHEAD:
        raise InvalidInput("bad_opinion", f"An opinion of {event.at:%Y-%m-%d %H:%M} UTC is of the future.")
    _check_bounds(event)
    return event


def _check_bounds(event: e.Event) -> None:
    """What is said elsewhere is as short as what is said here."""
    author, fact = event.author, event.fact
    if not is_label(author.name) or (author.version and not is_label(author.version)):
        raise InvalidInput("bad_opinion", f"{author.name[:80]!r} cannot be the name of who gave an opinion.")
    match fact:
        case e.VerdictGiven():
            check_length(fact.reason, MAX_REASON)
        case e.NoteAdded():
            check_length(fact.text, MAX_WORDS)
        case e.TagSet():
            check_length(fact.tag, LONGEST_LABEL)
