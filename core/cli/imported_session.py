"""Which session of the log a session of a file is: one that is here or a part of it, a fork, or one of its own.

Steps decide, never their numbers: see `core.formats.run_alignment`.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence

import msgspec

from core.domain.blob import blob_hash
from core.domain.events import (
    Branched,
    SessionCreated,
    StepAdded,
    TerminalOutput,
    decode_event,
    encode_event,
    make_event,
)
from core.domain.verdict import Author
from core.formats import registry, reimport
from core.formats.continuation import joined
from core.formats.imported import Imported
from core.formats.run_alignment import Alignment, StepSequence, align
from core.formats.session_span import SessionSpan, goes_on, is_own_name
from core.store import blobs, log
from core.store.beginnings import begun_with
from core.store.sqlite import Connection, scalar

_ROOT = re.compile(r"(.+-[0-9a-f]{24})(?:-[0-9a-f]{12})?\Z")
MOST_ALIKE, MOST_OTHERS, MOST_UNNAMED = 64, 16, 10_000
"""Sessions that a file is compared with: those of its name that begin with its first step, others, and those that begin
with its first step where it has no name."""


class Placement(msgspec.Struct, frozen=True):
    """A file's session as the session of the log that it is; `is_part` as in `missing_events`; by how many numbers
    its steps are later there."""

    session: Imported
    is_part: bool = False
    shift: int = 0


class _Candidate(msgspec.Struct, frozen=True):
    name: str
    run: StepSequence
    alignment: Alignment
    span: SessionSpan | None
    bodies: Sequence[bytes]

    @property
    def end(self) -> float:
        return self.span.last if self.span else 0.0


Renamed = MutableMapping[str, tuple[str, int]]
"""How sessions of one file are called here, and by how many numbers their steps are later, by their own names."""


def placed(conn: Connection, session: Imported, renamed: Renamed) -> Placement:
    """The session of the log that a session of a file is. `renamed` has the file's sessions before this one."""
    child = _with_parent(session, renamed)
    found = _place(conn, child) if session.is_named else Placement(_known_by_content(conn, child))
    renamed[session.session] = found.session.session, found.shift
    return found


def _place(conn: Connection, session: Imported) -> Placement:
    if not log.head(conn, session.session):
        return Placement(_forked_elsewhere(conn, session))
    if _is_written_elsewhere(conn, session.session):
        return Placement(session)  # nothing but what it lacks is looked for: its own runner writes it
    run = StepSequence(session.bodies, session.blobs.__getitem__)
    if not len(run):
        return Placement(session)
    span = _span(session.format, session.bodies)
    return _among(conn, session, run, span, _family(conn, session.session, run))


def _among(conn: Connection, session: Imported, run: StepSequence, span: SessionSpan | None, names: Sequence[str]
           ) -> Placement:
    """Which of some sessions it is, or one of its own beside them."""
    found = [_candidate(conn, name, run, session.format, span) for name in names]
    for kind in ("same", "grows"):
        if fitting := [c for c in found if c.alignment.kind == kind and (len(c.run) or c.name == session.session)]:
            return _joined(session, run, max(fitting, key=lambda c: c.alignment.shared))
    if before := [c for c in found if c.alignment.kind == "apart" and _may_go_on(session, c, span)]:
        return _joined(session, run, max(before, key=lambda c: c.end))
    own = _apart(session, run, found, span)
    if log.head(conn, own.session) and own.session not in names:  # one of very many
        return _among(conn, session, run, span, [*names, own.session])
    return Placement(own)


def _candidate(conn: Connection, name: str, run: StepSequence, format: str, span: SessionSpan | None) -> _Candidate:
    bodies = [p.body for p in log.read_all(conn, name)]
    held = StepSequence(bodies, lambda hash: blobs.get(conn, hash))
    held_span = _span(format, bodies)
    is_exact = span is not None and held_span is not None and span.is_exact
    is_new = is_exact and goes_on(held_span, span)
    how = Alignment("apart") if is_new else align(held, run, is_within=is_exact and not goes_on(span, held_span))
    return _Candidate(name, held, how, held_span, bodies)


def _span(format: str, bodies: Sequence[bytes]) -> SessionSpan | None:
    return next((known.span(bodies) for known in registry.formats() if known.name == format), None)


def _root(session: str) -> str:
    match = _ROOT.match(session)
    return match[1] if match else session


def _family(conn: Connection, session: str, run: StepSequence) -> list[str]:
    """The sessions that files of that name have given, the first one first: of very many those that begin alike."""
    root = _root(session)
    within = (f"{root}-", f"{root}.")
    rows = conn.execute("SELECT id FROM session WHERE id > ? AND id < ? ORDER BY id LIMIT ?", (*within, MOST_OTHERS))
    alike = _begun_with(conn, *within, run, MOST_ALIKE)
    found = [root, session, _name(session, "", 0, run), *alike, *(name for (name,) in rows)]
    return [name for name in dict.fromkeys(found) if log.head(conn, name)]


def _is_written_elsewhere(conn: Connection, session: str) -> bool:
    """Whether a session was made here, or is only known from what people said of it."""
    writer = scalar(conn, "SELECT journal FROM session WHERE id = ?", session)
    return not str(writer).startswith(f"import:{session}")


def _joined(session: Imported, run: StepSequence, to: _Candidate) -> Placement:
    """The session as the one that holds its steps, or those before them."""
    how = to.alignment
    own = reimport.renamed(session, to.name) if to.name != session.session else session
    if not len(to.run):
        return Placement(own)
    is_new = how.kind == "apart"
    first = to.run.steps[-1].number + 1 if is_new else to.run.steps[how.shift].number
    by = first - run.steps[0].number
    return Placement(joined(own, to.bodies, how.shift, by, how.shared), how.is_part, by)


def _may_go_on(session: Imported, before: _Candidate, span: SessionSpan | None) -> bool:
    facts = [decode_event(body).fact for body in session.bodies]
    name = next((f.task.id for f in facts if isinstance(f, SessionCreated)), "")
    return is_own_name(name) and goes_on(before.span, span) and not any(isinstance(f, TerminalOutput) for f in facts)


# ---- sessions of their own -------------------------------------------------------------------------


def _apart(session: Imported, run: StepSequence, found: Sequence[_Candidate], span: SessionSpan | None) -> Imported:
    """A session of its own, with what it has to do with those of its name."""
    forked = max(found, key=lambda c: c.alignment.shared)
    shared = forked.alignment.shared if forked.alignment.kind == "forks" else 0
    held = next((c for c in found if c.alignment.kind == "holds"), None)
    after = next((c for c in found if goes_on(span, c.span)), None)
    if shared:
        remark = _shares(shared, forked.name)
    elif held is not None:
        remark = f"Session {held.name} is a part of this one, which has steps before it."
    elif after is not None:
        remark = (f"Its file has the name of session {after.name} and comes before it; no step is in both, so it is a "
                  "session of its own.")
    else:
        remark = (f"Its file has the name of session {found[0].name}, but no step is in both, so it is a session of "
                  "its own.")
    name = _name(session.session, forked.name if shared else "", shared, run)
    own = reimport.renamed(session, name)
    return _branched(own, forked, remark) if shared else _remarked(own, remark)


def _name(session: str, parent: str, shared: int, run: StepSequence) -> str:
    """The name of a session of its own: by the step from which on it is another than its parent."""
    step = run.steps[shared]
    what = msgspec.json.encode([parent, shared, run.own(shared), step.item, step.at])
    return f"{_root(session)}-{blob_hash(what)[:12]}"


def _forked_elsewhere(conn: Connection, session: Imported) -> Imported:
    """The session, with the one of another name that it shares its past with: both begin with the same message."""
    facts = (decode_event(body).fact for body in session.bodies if b'"step_added"' in body)
    first = next((fact for fact in facts if isinstance(fact, StepAdded)), None)
    if first is None or not first.item:
        return session
    run = StepSequence(session.bodies, session.blobs.__getitem__)
    found = []
    for name in _begun_with(conn, f"{session.format}-", f"{session.format}.", run, MOST_OTHERS):
        candidate = _candidate(conn, name, run, session.format, None)
        if candidate.alignment.shared and not candidate.alignment.shift:
            found.append(candidate)
    if not found:
        return session
    nearest = max(found, key=lambda c: c.alignment.shared)
    return _branched(session, nearest, _shares(nearest.alignment.shared, nearest.name))


def _begun_with(conn: Connection, after: str, before: str, run: StepSequence, most: int) -> list[str]:
    first = run.steps[0]
    return begun_with(conn, after, before, first.item, first.body, most)


def _shares(steps: int, name: str) -> str:
    return f"Its first {steps} steps are steps of session {name} too." if steps > 1 else (
        f"Its first step is a step of session {name} too.")


def _branched(session: Imported, parent: _Candidate, remark: str) -> Imported:
    """The session with the one, and the step of it, that it goes on from, unless it names one itself."""
    step = parent.run.steps[parent.alignment.shift + parent.alignment.shared - 1].number
    first, *rest = session.bodies
    event = make_event(Branched(parent=parent.name, step=step), Author(kind="import", name=session.format),
                       at=decode_event(first).at, id=f"{session.session}-branched")
    rest = [b for b in rest if not (isinstance(f := decode_event(b).fact, Branched) and f.parent == parent.name)]
    return _remarked(msgspec.structs.replace(session, bodies=(first, encode_event(event), *rest)), remark)


def _remarked(session: Imported, remark: str) -> Imported:
    return msgspec.structs.replace(session, warnings=(*session.warnings, remark))


def _with_parent(session: Imported, renamed: Renamed) -> Imported:
    """The session, where its parent in the file has another name here."""
    changed: dict[int, bytes] = {}
    for place, event in enumerate(map(decode_event, session.bodies[:2])):
        if isinstance(fact := event.fact, Branched) and renamed.get(fact.parent, ("", 0)) != (fact.parent, 0):
            name, shift = renamed.get(fact.parent, (fact.parent, 0))
            fact = msgspec.structs.replace(fact, parent=name, step=fact.step + shift if fact.step else 0)
            changed[place] = encode_event(msgspec.structs.replace(event, fact=fact))
    bodies = [changed.get(place, body) for place, body in enumerate(session.bodies)] if changed else session.bodies
    return msgspec.structs.replace(session, bodies=bodies)


def _known_by_content(conn: Connection, session: Imported) -> Imported:
    """The session under the name of an earlier state of it, where its file has grown and gives it no name."""
    if log.head(conn, session.session):
        return session
    run = StepSequence(session.bodies, session.blobs.__getitem__)
    for name in _begun_with(conn, f"{session.format}-", f"{session.format}.", run, MOST_UNNAMED) if len(run) else ():
        held = [p.body for p in log.read_all(conn, name)]
        if reimport.is_same_run(held, session, lambda hash: blobs.get(conn, hash)):
            return reimport.renamed(session, name)
    return session
