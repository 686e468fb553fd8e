"""`tiphys queue`: sessions that somebody is to judge, made from a filter, shared by the server."""

from __future__ import annotations

from functools import partial

import click
import msgspec

from core.cli.log_access import account_here, do, reading
from core.cli.number import Whole
from core.cli.output import emit, json_option, say, table
from core.cli.queue_lines import blind_in, item_line, queue_line
from core.domain.errors import Conflict
from core.domain.ids import new_id
from core.domain.plural import counted
from core.domain.queue import AskedSteps, QueueItem, QueueWork, ReviewQueue, in_review
from core.domain.session import SessionRow
from core.domain.session_query import Candidate, SessionQuery
from core.protocol.operations import ChangeQueue, FinishInQueue, GiveBack, MakeQueue, TakeFromQueue
from core.store import log, queues
from core.store.home import Home
from core.store.sqlite import Connection


@click.group()
def queue() -> None:
    """Make review queues, take sessions from them, say who has which and how far they are."""


@queue.command("list")
@json_option
def list_queues(as_json: bool) -> None:
    """List the queues of this home's server, the oldest first."""
    home = Home.default()
    with reading(home) as conn:
        rows, me = {row.session: row for row in log.rows(conn)}, account_here(conn, home)
        lines = [queue_line(one, items, rows, blind_in(one, items, me))
                 for one in queues.queues(conn) for items in [queues.items(conn, one.queue)]]
    if as_json:
        for line in lines:
            emit(line)
        return
    table(("queue", "name", "by", "sessions", "done", "judged", "asked", "agreement", "closed"),
          [(x.queue, x.name, x.by, x.sessions, x.done, x.judged, x.asked, x.agreement, x.closed or None)
           for x in lines])


@queue.command()
@click.argument("name", metavar="QUEUE")
@json_option
def show(name: str, as_json: bool) -> None:
    """Show QUEUE (its name or id) with its sessions: who has each, and how far they are."""
    home = Home.default()
    with reading(home) as conn:
        found = _find(conn, name)
        rows = {row.session: row for row in log.rows(conn)}
        items = queues.items(conn, found.queue)
        only = blind_in(found, items, account_here(conn, home))
    lines = [item_line(found, item, rows[item.session], only) for item in items if item.wanted and item.session in rows]
    if as_json:
        emit({**_plain(queue_line(found, items, rows, only)), "items": lines})
        return
    say(f"{found.name} · made by {found.by}, {found.at:%Y-%m-%d} · {_asks(found.work)}")
    if found.work.rubric:
        say(found.work.rubric)
    table(("session", "title", "steps", "asked", "people", "judged", "done"),
          [(x.session, x.title, x.steps, x.asked, ", ".join(h.person for h in x.people),
            ", ".join(f"{'–' if h.judged is None else h.judged}/{x.asked}" for h in x.people),
            x.done or None) for x in lines])


@queue.command()
@click.argument("name")
@click.argument("sessions", nargs=-1)
@click.option("--filter", "query", default="", help="The sessions that pass it, as in the desktop's list.")
@click.option("--steps", default="all", metavar="all|errors|reports|N", show_default=True,
              help="Which steps, or how many; reports: those that failed, answer or report.")
@click.option("--twice", type=Whole(0, 100), default=0, show_default=True,
              help="Per cent of the sessions that two people judge.")
@click.option("--rubric", default="", help="By what to judge.")
@click.option("--blind", is_flag=True, help="Nobody sees another's word before the own.")
@json_option
def make(name: str, sessions: tuple[str, ...], query: str, steps: str, twice: int, rubric: str, blind: bool,
         as_json: bool) -> None:
    """Make a queue NAME of SESSIONS, or of those that --filter says."""
    if bool(sessions) == bool(query):
        raise click.UsageError("Name either sessions, or what --filter is to choose them by.")
    work = QueueWork(steps=_steps(steps), count=int(steps) if steps.isdecimal() else 0, twice=twice, rubric=rubric,
                     blind=blind, reports=steps == "reports")
    made = new_id()
    result = do(made, MakeQueue(name=name, sessions=sessions or _chosen(query), work=work, filter=query))
    if as_json:
        emit({"queue": made, "name": name, **result})
    else:
        say(f"Made the queue {name} of {counted(int(str(result['sessions'])), 'session')}: {made}")


def _steps(text: str) -> AskedSteps:
    if text in ("all", "errors", "reports"):
        return "all" if text == "all" else "errors"
    if not (text.isascii() and text.isdecimal() and 0 < int(text) < 10**9):
        raise click.BadParameter(f"{text!r} is neither all, errors, reports nor a number of steps.",
                                 param_hint="--steps")
    return "some"


def _chosen(query: str) -> tuple[str, ...]:
    """The sessions that pass a filter, the newest first, as the account of this computer sees them."""
    home, wanted = Home.default(), SessionQuery(query)
    if wanted.not_understood:
        raise click.BadParameter(f"{wanted.not_understood[0]!r} is no term of a filter, as steps>20 or is:imported.",
                                 param_hint="--filter")
    with reading(home) as conn:
        me = account_here(conn, home)
        known = {one.queue: one for one in queues.queues(conn)}
        held: dict[str, list[tuple[ReviewQueue, QueueItem]]] = {}
        for item in queues.items(conn):
            held.setdefault(item.session, []).append((known[item.queue], item))
        reviews = {row.session: (row, held.get(row.session, ())) for row in log.rows(conn)}
        found = [row for row, asked in reviews.values()
                 if wanted.passes(Candidate(row, review=partial(in_review, row, asked, me)))]
    return tuple(row.session for row in sorted(found, key=_begun, reverse=True))


def _begun(row: SessionRow) -> float:
    at = row.began_at or row.created_at
    return at.timestamp() if at else 0.0


@queue.command()
@click.argument("name", metavar="QUEUE")
@click.argument("session", default="")
@click.option("--for", "person", default="", help="Give it to this account; only who made the queue may.")
@json_option
def take(name: str, session: str, person: str, as_json: bool) -> None:
    """Take SESSION of QUEUE, or the first that nobody has."""
    result = do(_id(name), TakeFromQueue(taken=session, person=person))
    emit(result) if as_json else say(f"Took {result['taken']}.")


@queue.command("give-back")
@click.argument("name", metavar="QUEUE")
@click.argument("session")
@click.option("--for", "person", default="", help="Take it from this account; only who made the queue may.")
@json_option
def give_back(name: str, session: str, person: str, as_json: bool) -> None:
    """Have SESSION of QUEUE no more; what was judged stays."""
    do(_id(name), GiveBack(given=session, person=person))
    emit({"session": session}) if as_json else say(f"Gave {session} back.")


@queue.command()
@click.argument("name", metavar="QUEUE")
@click.argument("session")
@click.option("--undo", is_flag=True, help="Not done, after all.")
@json_option
def done(name: str, session: str, undo: bool, as_json: bool) -> None:
    """Be done with SESSION of QUEUE though not all that is asked was judged."""
    do(_id(name), FinishInQueue(finished=session, done=not undo))
    emit({"session": session, "done": not undo}) if as_json else say(f"{'Not done' if undo else 'Done'}: {session}.")


@queue.command()
@click.argument("name", metavar="QUEUE")
@click.option("--add", multiple=True, metavar="SESSION", help="Put a session at its end.")
@click.option("--remove", multiple=True, metavar="SESSION", help="Take a session out.")
@click.option("--name", "fresh", default=None, help="Another name.")
@click.option("--close/--open", "closed", default=None, help="Nothing is to do any more, or there is again.")
@json_option
def change(name: str, add: tuple[str, ...], remove: tuple[str, ...], fresh: str | None, closed: bool | None,
           as_json: bool) -> None:
    """Change QUEUE: only who made it may, or an administrator."""
    result = do(_id(name), ChangeQueue(add=add, remove=remove, name=fresh, closed=closed))
    emit(result) if as_json else say(f"Added {result['added']}, removed {result['removed']}.")


def _id(name: str) -> str:
    with reading(Home.default()) as conn:
        return _find(conn, name).queue


def _find(conn: Connection, name: str) -> ReviewQueue:
    """A queue by its id or its name. Raises NotFound, Conflict (queue_ambiguous)."""
    found = [one for one in queues.queues(conn) if one.name == name]
    if len(found) > 1:
        raise Conflict("queue_ambiguous", f"{len(found)} queues are called {name!r}: name one by its id.", name=name)
    return found[0] if found else queues.queue(conn, name)


def _asks(work: QueueWork) -> str:
    steps = {"all": "all steps", "errors": "the steps that failed", "reports": "errors, answers and reports"}.get(
        work.asks, f"{counted(work.count, 'step')}")
    return f"asks for {steps}" + (f" · {work.twice} % judged twice" if work.twice else "") + (
        " · blind" if work.blind else "")


def _plain(line: object) -> dict[str, object]:
    return msgspec.structs.asdict(line)  # type: ignore[arg-type]
