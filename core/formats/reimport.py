"""What a second import of a file that has grown, or was converted, adds to the session of the first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from core.domain.blob import blob_hash
from core.domain.events import Event, SessionStateChanged, StepAdded, TerminalOutput, decode_event, encode_event
from core.domain.step import Usage
from core.formats.imported import Imported

_STEP = re.compile(r"(.*-step-\d+)(?:-[0-9a-f]{12})?$")
OPEN_ENDS = ("end_not_recorded", "file_grows")
"""Reasons of a state that say that the file may go on."""


def missing_events(session: Imported, held: Mapping[str, bytes]) -> list[bytes]:
    """The events that `held` (id → body) lacks, in order.

    A step whose content has changed, as by a result that came late, gets another event under an id of its own: it takes
    the place of the version before, and people's opinions on the step stay; the event says what the versions before
    have added to the sums. Output of a terminal goes on from where the held output ends.
    """
    found: list[bytes] = []
    lengths: dict[str, int] = {}
    versions = _versions(held)
    for body in session.bodies:
        event = decode_event(body)
        if isinstance(event.fact, TerminalOutput):
            _continue(event, event.fact, session, held, lengths, found)
        elif event.id not in held:
            found.append(body)
        elif isinstance(event.fact, StepAdded) and (
                changed := _next_version(event, event.fact, versions.get(event.id, ()), held)
        ):
            found.append(changed)
    return found


def first_body(session: Imported) -> str:
    """The payload of the first step: what an earlier import of the same run must hold too."""
    return next((f.body for b in session.bodies if isinstance(f := decode_event(b).fact, StepAdded)), "")


def is_same_run(held: Sequence[bytes], session: Imported) -> bool:
    """Whether held events are a state, earlier or equal, of a session that only its content names.

    So it is where all steps are equal; or where the run had no end then and its steps are the first of the session's,
    of which only the last of several may differ, for its result may have come late.
    """
    before, after = _steps(held), _steps(session.bodies)
    if not before or len(before) > len(after):
        return False
    if before == after:
        return True
    begins = before == after[: len(before)] or (len(before) > 1 and before[:-1] == after[: len(before) - 1])
    return begins and not _has_end(held)


def without_open_end(session: Imported) -> tuple[Imported, SessionStateChanged | None]:
    """The session without an end that only says that the file stops here, and that end."""
    event = decode_event(session.bodies[-1])
    fact = event.fact
    if not isinstance(fact, SessionStateChanged) or (fact.state != "stopped" and fact.reason not in OPEN_ENDS):
        return session, None
    return msgspec.structs.replace(session, bodies=session.bodies[:-1]), fact


def renamed(session: Imported, name: str) -> Imported:
    """The same session under another name."""
    old, new = session.session.encode(), name.encode()
    return msgspec.structs.replace(session, session=name, bodies=tuple(b.replace(old, new) for b in session.bodies))


def _steps(bodies: Iterable[bytes]) -> list[str]:
    """The payloads of the steps in order, each in its last version."""
    found: dict[int, str] = {}
    for body in bodies:
        if isinstance(fact := decode_event(body).fact, StepAdded):
            found[fact.head.number] = fact.body
    return [found[n] for n in sorted(found)]


def _has_end(bodies: Iterable[bytes]) -> bool:
    states = [f for b in bodies if isinstance(f := decode_event(b).fact, SessionStateChanged)]
    return bool(states) and states[-1].reason not in OPEN_ENDS


def _versions(held: Mapping[str, bytes]) -> dict[str, list[bytes]]:
    """The versions of each step in order, by the id of the first."""
    found: dict[str, list[bytes]] = {}
    for name, body in held.items():
        if match := _STEP.match(name):
            found.setdefault(match[1], []).append(body)
    return found


def _next_version(event: Event, fact: StepAdded, bodies: Sequence[bytes], held: Mapping[str, bytes]) -> bytes | None:
    """The step's next version, or None where the last one held is the same."""
    versions = [f for body in bodies if isinstance(f := decode_event(body).fact, StepAdded)]
    counted = next((v.head.usage for v in reversed(versions) if v.head.usage != Usage()), Usage())
    if not versions or (_content(versions[-1]) == _content(fact) and fact.head.usage in (counted, Usage())):
        return None
    name = f"{event.id}-{blob_hash(_content(fact) + msgspec.json.encode(fact.head.usage))[:12]}"
    if name in held:
        return None
    changed = msgspec.structs.replace(fact, counted=counted, is_error_counted=any(v.head.is_error for v in versions))
    return encode_event(msgspec.structs.replace(event, id=name, fact=changed))


def _content(fact: StepAdded) -> bytes:
    return msgspec.json.encode([fact.body, fact.context, fact.completion])


def _continue(event: Event, fact: TerminalOutput, session: Imported, held: Mapping[str, bytes],
              lengths: dict[str, int], found: list[bytes]) -> None:
    """Add output that goes beyond what is held; what was cut off elsewhere at the first reading is not added twice."""
    terminal = f"{fact.host}/{fact.terminal}"
    if not lengths:
        lengths.update(_lengths(held))
    start = lengths.get(terminal, 0)
    if fact.offset + fact.size <= start:
        return
    lengths[terminal] = fact.offset + fact.size
    if fact.offset >= start:
        found.append(encode_event(event))
        return
    data = (fact.data or session.blobs[fact.blob])[start - fact.offset :]
    rest = msgspec.structs.replace(fact, offset=start, size=len(data), data=data, blob="")
    found.append(encode_event(msgspec.structs.replace(event, id=f"{event.id}-{start}", fact=rest)))


def _lengths(held: Mapping[str, bytes]) -> dict[str, int]:
    """How much of each terminal is held, in bytes."""
    lengths = {"": 0}
    for body in held.values():
        if b'"terminal_output"' in body and isinstance(fact := decode_event(body).fact, TerminalOutput):
            terminal = f"{fact.host}/{fact.terminal}"
            lengths[terminal] = max(lengths.get(terminal, 0), fact.offset + fact.size)
    return lengths
