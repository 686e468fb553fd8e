"""The invariants I1–I10, judged from the files that a run left behind, not from the programs' own words."""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
from faults.evidence import Evidence, Message

from core.domain.events import (
    GuidanceChangeRefused,
    GuidanceDelivered,
    GuidanceEdited,
    GuidanceQueued,
    GuidanceWithdrawn,
    NoteAdded,
    Placed,
    StepAdded,
    StepStarted,
    VerdictGiven,
    blobs_of,
)
from core.domain.progress import Progress, StepWord, judgements, recount
from core.domain.session import FINAL_STATES, SessionRow, advance
from core.domain.step import decode_body
from core.domain.trajectory import fold
from core.store import blobs, log
from core.store.backup import damage
from core.store.sqlite import connect

FAIR_REFUSALS = {"session_over", "no_session"}
"""Why a message may be refused in a run; each refusal is visible to its sender."""

PEACEFUL = ("database is locked", "disk I/O error", "database or disk is full")
"""I10: no exception text may stand in a log but these: what a broken disk says of itself."""


class Violation(NamedTuple):
    """One broken promise. `what`: lost, repeated, disordered, or other."""

    invariant: str
    what: str
    about: str


def check(evidence: Evidence) -> list[Violation]:
    """Every violation of I1–I7 and I10 (I8 and I9 need a clock and a scale: the run measures them)."""
    found: list[Violation] = []
    for session in evidence.events:
        shown = Shown(evidence, session)
        found += [*_steps(evidence, session, shown), *_order(evidence, session, shown), *_log(evidence, session)]
        found += _guidance(evidence, session, shown)
    found += [*_notes(evidence), *_lost_sessions(evidence), *_acts(evidence), *_copies(evidence), *_acks(evidence)]
    return [*found, *_files(evidence), *_outcries(evidence)]


class Shown:
    """What the model saw of a session: per step the tokens of its one context, in their order."""

    def __init__(self, evidence: Evidence, session: str) -> None:
        self.contexts: dict[int, tuple[str, ...]] = {}
        self.different: list[int] = []
        hashes: dict[int, str] = {}
        for line in evidence.prompts.get(session, []):
            if hashes.setdefault(line["step"], line["hash"]) != line["hash"]:
                self.different.append(line["step"])
            self.contexts.setdefault(line["step"], tuple(line["tokens"]))
        self.first: dict[str, int] = {}
        self.edited: set[str] = set()
        self.times: dict[int, Counter[str]] = {}
        for step in sorted(self.contexts):
            self.times[step] = Counter(token.removesuffix("~e") for token in self.contexts[step])
            for token in self.contexts[step]:
                name = token.removesuffix("~e")
                self.first.setdefault(name, step)
                if name != token:
                    self.edited.add(name)


# ---- I1: every message is somewhere, once


def _guidance(evidence: Evidence, session: str, shown: Shown) -> Iterator[Violation]:
    queued = Counter(f.guidance for f in evidence.facts(session, GuidanceQueued))
    delivered = defaultdict(list)
    for fact in evidence.facts(session, GuidanceDelivered):
        delivered[fact.guidance].append(fact.step)
    withdrawn = {f.guidance for f in evidence.facts(session, GuidanceWithdrawn)}
    edited = {f.guidance for f in evidence.facts(session, GuidanceEdited)}
    over = evidence.rows[session].state in FINAL_STATES
    sent = evidence.guides[session]
    for one in sent:
        name, steps = one.token, delivered[one.token]
        if _refused(evidence, one):
            yield from _fair(evidence, one, bool(queued[name] or steps or name in shown.first))
            continue
        if not queued[name]:
            yield Violation("I1", "lost", f"guidance {name} is not in the log")
        if queued[name] > 1 or len(steps) > 1:
            yield Violation("I1", "repeated", f"guidance {name}: queued {queued[name]}, delivered {steps}")
        if not steps and not over and name not in withdrawn:
            yield Violation("I1", "lost", f"guidance {name} was never delivered")
        if name in withdrawn and (steps or name in shown.first):
            yield Violation("I1", "other", f"guidance {name} was withdrawn and delivered all the same")
        yield from _seen(name, steps, shown, name in edited)
    for name in set(queued) - {m.token for m in sent}:
        yield Violation("I1", "other", f"guidance {name} was never sent")
    yield from _decisions(evidence, session)


def _seen(name: str, steps: list[int], shown: Shown, edited: bool) -> Iterator[Violation]:
    """The log's word against the model's eyes."""
    first = shown.first.get(name)
    if steps and steps[0] in shown.contexts and first != steps[0]:
        yield Violation("I1", "lost", f"guidance {name}: delivered at {steps}, the model saw it first at {first}")
    if first is None:
        return
    if not steps:
        yield Violation("I1", "repeated", f"guidance {name}: shown at {first}, but not said to be delivered")
    if edited != (name in shown.edited):
        yield Violation("I1", "other", f"guidance {name}: edited {edited}, the model saw the other text")
    for step, seen in shown.times.items():
        times = seen[name] if step >= first else 1
        if times != 1:
            yield Violation("I1", "repeated" if times else "lost", f"guidance {name}: {times} times in step {step}")


def _decisions(evidence: Evidence, session: str) -> Iterator[Violation]:
    """Each change that was asked for is decided at most once."""
    decided = Counter(
        f.request
        for f in evidence.facts(session, GuidanceEdited, GuidanceWithdrawn, GuidanceChangeRefused)
        if f.request
    )
    for request, times in decided.items():
        if times > 1:
            yield Violation("I1", "repeated", f"change {request} was decided {times} times")


def _notes(evidence: Evidence) -> Iterator[Violation]:
    """Notes and verdicts: what is only told to the log."""
    written = Counter(f.text[1:-1] for s in evidence.events for f in evidence.facts(s, NoteAdded))
    written += Counter(f.reason[1:-1] for s in evidence.events for f in evidence.facts(s, VerdictGiven))
    for one in evidence.messages:
        if one.kind not in ("note", "verdict"):
            continue
        times = written[one.token]
        if _refused(evidence, one):
            yield from _fair(evidence, one, bool(times))
        elif times != 1:
            yield Violation("I1", "repeated" if times else "lost", f"{one.kind} {one.token}: {times} times in the log")


def _lost_sessions(evidence: Evidence) -> Iterator[Violation]:
    for one in evidence.messages:
        if one.session not in evidence.events and not _refused(evidence, one):
            yield Violation("I1", "lost", f"{one.kind} {one.token}: there is no session {one.session}")


def _refused(evidence: Evidence, one: Message) -> bool:
    return evidence.replies.get(one.command, {}).get("type") == "nak"


def _fair(evidence: Evidence, one: Message, has_effect: bool) -> Iterator[Violation]:
    code = evidence.replies[one.command]["code"]
    if has_effect:
        yield Violation("I1", "repeated", f"{one.kind} {one.token} was refused ({code}), but has an effect")
    if code not in FAIR_REFUSALS:
        yield Violation("I1", "lost", f"{one.kind} {one.token} was refused: {code}")


# ---- I2, I3: order, and the same step always the same


def _order(evidence: Evidence, session: str, shown: Shown) -> Iterator[Violation]:
    yield from _sorted([f.guidance for f in evidence.facts(session, GuidanceQueued)], f"log of {session}")
    yield from _sorted([f.guidance for f in evidence.facts(session, GuidanceDelivered)], f"deliveries of {session}")
    remarks = [e.fact for e in evidence.events[session] if e.author.kind == "person"]  # rules speak at the end, too
    told = [f.text if isinstance(f, NoteAdded) else f.reason for f in remarks
            if isinstance(f, NoteAdded | VerdictGiven)]
    yield from _sorted([text[1:-1] for text in told], f"notes and verdicts of {session}")
    if shown.contexts:
        last = shown.contexts[max(shown.contexts)]
        yield from _sorted([t.removesuffix("~e") for t in last], f"context of {session}")


def _sorted(names: Sequence[str], where: str) -> Iterator[Violation]:
    last: dict[str, str] = {}
    for name in names:
        client = name.split(".")[0]
        if name < last.get(client, ""):
            yield Violation("I2", "disordered", f"{name} after {last[client]} in the {where}")
        last[client] = name


def _steps(evidence: Evidence, session: str, shown: Shown) -> Iterator[Violation]:
    for step in shown.different:
        yield Violation("I3", "other", f"step {step} of {session} was asked with two contexts")
    added = [f.head.number for f in evidence.facts(session, StepAdded)]
    started = [f.number for f in evidence.facts(session, StepStarted)]
    if added != list(range(1, len(added) + 1)) or started[: len(added)] != added or len(set(started)) != len(started):
        yield Violation("I3", "other", f"steps of {session}: started {started}, added {added}")
    for fact in evidence.facts(session, StepStarted):
        new = [n for n, first in shown.first.items() if first == fact.number]
        if fact.number in shown.contexts and sorted(new) != sorted(fact.guidance):
            yield Violation("I3", "other", f"step {fact.number} of {session} says {fact.guidance}, shown was {new}")


def _acts(evidence: Evidence) -> Iterator[Violation]:
    """No action twice (R8), and none of an answer that was forgotten (R9)."""
    for act, times in Counter((a["session"], a["step"], a["call"]) for a in evidence.acts).items():
        if times > 1:
            yield Violation("I3", "repeated", f"action {act} was carried out {times} times")
    with evidence.server() as conn:
        calls = {
            (s, f.head.number): {a.call_id for a in decode_body(blobs.get(conn, f.body)).actions}
            for s in evidence.events
            for f in evidence.facts(s, StepAdded)
            if blobs.holds(conn, f.body)
        }
    for act in evidence.acts:
        known = calls.get((act["session"], act["step"]))
        if known is not None and act["call"] not in known:
            yield Violation("I3", "other", f"an action of a forgotten answer was carried out: {act}")


# ---- I4–I7: logs, copies, files


def _copies(evidence: Evidence) -> Iterator[Violation]:
    for replica in evidence.replicas:
        with contextlib.closing(connect(replica, readonly=True)) as conn:
            for session in [r.session for r in log.rows(conn)]:
                held = [p.body for p in log.read_all(conn, session)]
                if held != evidence.bodies.get(session, [])[: len(held)]:
                    yield Violation("I4", "other", f"{replica.name} is no prefix of the log of {session}")
                if log.head(conn, session) != len(held):
                    yield Violation("I4", "lost", f"{replica.name} holds {len(held)} events of {session}, not as told")


def _log(evidence: Evidence, session: str) -> Iterator[Violation]:
    with evidence.server() as conn:
        placed = [*log.read_all(conn, session)]
        seqs = [p.seq for p in placed]
        rows = conn.execute("SELECT head FROM session WHERE id = ?", (session,)).fetchone()
    if seqs != list(range(1, len(seqs) + 1)) or rows[0] != len(seqs):
        yield Violation("I5", "lost", f"the log of {session} has a gap")
    journal = evidence.journal(session)
    ours = [
        b for b, e in zip(evidence.bodies[session], evidence.events[session], strict=True) if e.author.kind == "agent"
    ]
    if ours != journal[: len(ours)]:
        yield Violation("I5", "other", f"the log of {session} is not its runner's journal")
    elif evidence.rows[session].state in FINAL_STATES and len(ours) < len(journal):
        yield Violation("I5", "lost", f"the log of {session} lacks {len(journal) - len(ours)} entries of the journal")
    row = SessionRow(session=session)
    for seq, event in enumerate(evidence.events[session], 1):
        row = advance(row, seq, event)
    is_whole = seqs == list(range(1, len(seqs) + 1))
    judged = _judged(session, placed) if is_whole else evidence.rows[session].judged
    if msgspec.structs.replace(row, judged=judged) != evidence.rows[session]:
        yield Violation("I5", "other", f"the row of {session} is not the fold of its log")


def _judged(session: str, placed: list[Placed]) -> dict[str, Progress]:
    """How far people judged a session, by the fold of all its events: the server counts them one by one."""
    found: dict[str, Progress] = {}
    for entry in fold(session, placed).steps:
        words = judgements(entry.verdicts.values(), len(entry.head.tools))
        found = recount(found, {}, {
            who: StepWord(word, entry.head.is_error, entry.head.is_report) for who, word in words.items()})
    return found


def _acks(evidence: Evidence) -> Iterator[Violation]:
    for replica in evidence.replicas:
        for _, id_, session, op, state in evidence.outbox(replica):
            if state == "queued":
                yield Violation("I8", "lost", f"{replica.name} still waits for an answer to {op['op']} in {session}")
            elif id_ not in evidence.replies:
                yield Violation("I6", "lost", f"{op['op']} {id_} in {session} was acknowledged, and is not held")


def _files(evidence: Evidence) -> Iterator[Violation]:
    databases = [evidence.home / "server.db", *evidence.replicas, *evidence.home.glob("sessions/*/journal.db")]
    for path in databases:
        with contextlib.closing(connect(path, readonly=True)) as conn:
            if told := damage(conn):
                yield Violation("I7", "other", f"{path.name}: {told}")
    with evidence.server() as conn:
        for session in evidence.events:
            named = [n for e in evidence.events[session] for n in blobs_of(e.fact)]
            if lacking := blobs.missing(conn, named):
                yield Violation("I7", "lost", f"{len(lacking)} payloads of {session} are not held")


def _outcries(evidence: Evidence) -> Iterator[Violation]:
    for path in evidence.logs():
        text = path.read_text(errors="replace")
        for part in text.split("Traceback (most recent call last)")[1:]:
            if "/core/" not in part:
                continue  # the bench's own: a hand-started second runner whose token was just made void, say
            said = next((line for line in part.splitlines() if line and not line.startswith((" ", ":"))), "")
            if not any(one in said for one in PEACEFUL):
                yield Violation("I10", "other", f"{path.name}: {said[:200]}")


def tally(violations: Sequence[Violation]) -> dict[str, Any]:
    """How often each kind of harm was done, and three examples."""
    counts = Counter(v.what for v in violations)
    kinds = ("lost", "repeated", "disordered", "other")
    return {**{k: counts[k] for k in kinds}, "examples": [f"{v.invariant} {v.about}" for v in violations[:3]]}
