"""The sum of what people say of a session's steps, kept with the log so that no list has to read it.

The log decides: `follow` reads again what it holds of each step that was touched, in the transaction that appends.
"""

from collections.abc import Iterable

import msgspec

from core.domain.events import Event, StepAdded, VerdictGiven, decode_stored
from core.domain.progress import Judgement, StepWord, judgements, recount
from core.domain.session import SessionRow
from core.domain.verdict import PEOPLE, Verdict, take
from core.store.sqlite import Connection, scalar


def follow(conn: Connection, row: SessionRow, events: Iterable[Event]) -> SessionRow:
    """The row after these events of its log, which were appended: with the sum that they make."""
    events = list(events)
    touched = {e.fact.step for e in events if isinstance(e.fact, VerdictGiven) and e.author.kind in PEOPLE}
    fresh = {e.fact.head.number for e in events if isinstance(e.fact, StepAdded)}
    if fresh and _has_verdicts(conn, row.session):
        touched |= {step for step in fresh if _has_verdicts(conn, row.session, step)}
    if not touched:
        return row
    if scalar(conn, "SELECT 1 FROM uncounted WHERE session = ?", row.session):
        return count(conn, row)
    return _restate(conn, row, touched)


def count(conn: Connection, row: SessionRow) -> SessionRow:
    """The row with the sum over the whole log of its session, which is made anew."""
    conn.execute("DELETE FROM judged_step WHERE session = ?", (row.session,))
    conn.execute("DELETE FROM uncounted WHERE session = ?", (row.session,))
    found = conn.execute("SELECT DISTINCT step FROM event INDEXED BY event_of_verdict "
                         "WHERE session = ? AND kind = 'verdict_given'", (row.session,))
    return _restate(conn, msgspec.structs.replace(row, judged={}), {step for (step,) in found})


def uncounted(conn: Connection) -> list[str]:
    """The sessions whose sum is still to be made."""
    return [session for (session,) in conn.execute("SELECT session FROM uncounted ORDER BY session")]


def shared_judgements(conn: Connection, session: str, first: str, second: str
                      ) -> list[tuple[Judgement, Judgement, int]]:
    """What two people (keys) say of the steps that both judged: each pair of words, and on how many steps."""
    sql = """SELECT a.judgement, b.judgement, count(*) FROM judged_step a JOIN judged_step b
             ON b.session = a.session AND b.step = a.step AND b.person = ?3
             WHERE a.session = ?1 AND a.person = ?2 GROUP BY 1, 2 ORDER BY 1, 2"""
    return conn.execute(sql, (session, first, second)).fetchall()


def forget(conn: Connection, session: str) -> None:
    """The session is deleted."""
    conn.execute("DELETE FROM judged_step WHERE session = ?", (session,))
    conn.execute("DELETE FROM uncounted WHERE session = ?", (session,))


def _restate(conn: Connection, row: SessionRow, steps: Iterable[int]) -> SessionRow:
    judged = row.judged
    for step in sorted(steps):
        before, after = _stored(conn, row.session, step), _judgements(conn, row.session, step)
        if before != after:
            _store(conn, row.session, step, after)
            judged = recount(judged, before, after)
    return row if judged is row.judged else msgspec.structs.replace(row, judged=judged)


def _has_verdicts(conn: Connection, session: str, step: int | None = None) -> bool:
    sql = ("SELECT 1 FROM event INDEXED BY event_of_verdict WHERE session = ? AND kind = 'verdict_given' "
           f"{'AND step = ?' if step is not None else ''} LIMIT 1")
    return scalar(conn, sql, session, *([step] if step is not None else [])) is not None


def _stored(conn: Connection, session: str, step: int) -> dict[str, StepWord]:
    sql = "SELECT person, judgement, is_error, is_report FROM judged_step WHERE session = ? AND step = ?"
    return {person: StepWord(word, bool(is_error), bool(is_report))
            for person, word, is_error, is_report in conn.execute(sql, (session, step))}


def _store(conn: Connection, session: str, step: int, words: dict[str, StepWord]) -> None:
    conn.execute("DELETE FROM judged_step WHERE session = ? AND step = ?", (session, step))
    conn.executemany("INSERT INTO judged_step VALUES (?, ?, ?, ?, ?, ?)",
                     [(session, step, person, word.judgement, word.is_error, word.is_report)
                      for person, word in words.items()])


def _judgements(conn: Connection, session: str, step: int) -> dict[str, StepWord]:
    """What the log says of a step, read as a trajectory is folded; nothing of one that was not fresh yet."""
    sql = """SELECT seq, body FROM event INDEXED BY event_of_verdict
             WHERE session = ?1 AND step = ?2 AND kind = 'verdict_given'
             UNION ALL SELECT seq, body FROM event INDEXED BY event_of_step
             WHERE session = ?1 AND step = ?2 AND kind = 'step_added' ORDER BY 1"""
    verdicts: dict[str, Verdict] = {}
    telling: StepAdded | None = None
    for _, body in conn.execute(sql, (session, step)):
        event = decode_stored(bytes(body))
        match event.fact:
            case StepAdded() as fact:
                if telling is not None and fact.is_rewritten:
                    verdicts.clear()
                telling = fact
            case VerdictGiven() as fact:
                at = event.at if fact.action else None
                take(verdicts, Verdict(author=event.author, value=fact.value, action=fact.action, at=at), event.at)
    if telling is None:
        return {}
    found = judgements(verdicts.values(), len(telling.head.tools))
    return {person: StepWord(word, telling.head.is_error, telling.head.is_report) for person, word in found.items()}
