"""`tiphys own-log`: the record that an agent of its own wrote, held against the session that its requests made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from core.cli.log_access import reading
from core.cli.output import emit, json_option, say, table
from core.domain.errors import NotFound
from core.domain.events import SessionCreated, decode_event
from core.domain.ids import root_session
from core.domain.plural import counted
from core.domain.session import SessionRow
from core.formats import registry
from core.formats.own_record import RecordDifference, RecordedStep, differences, recorded, shared
from core.gateway.recipe import recipe_of
from core.store import blobs, log
from core.store.home import Home
from core.store.sqlite import Connection


@click.command("own-log")
@click.argument("session")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, exists=True))
@json_option
def own_log(session: str, files: tuple[Path, ...], as_json: bool) -> int:
    """Hold the record that SESSION's agent wrote itself, in FILES, against the session; status 1 where they differ.

    Without FILES they are looked for where the agent's recipe says, in a home on this computer.
    """
    home = Home.default()
    with reading(home) as conn:
        paths = files or tuple(_written(conn, home, log.row(conn, session)))
        if not paths:
            raise NotFound("no_own_log", f"No record of its own was found for session {session}: name its file.",
                           session=session)
        ours = [(one.session, _steps(conn, one.session)) for one in log.rows(conn)
                if root_session(one.session) == session]
    held = _matched(sorted(ours), [record for path in paths for record in _read(path)])
    found = [(name, len(steps), None if record is None else differences(steps, record)) for name, steps, record in held]
    if as_json:
        emit({"session": session, "files": [str(path) for path in paths],
              "held": [{"session": name, "steps": steps, "differences": msgspec.to_builtins(rows)}
                       for name, steps, rows in found]})
    else:
        _show(found)
    return int(any(one.what != "unsent" for _, _, rows in found for one in rows or ()))


def _show(found: list[tuple[str, int, list[RecordDifference] | None]]) -> None:
    rows = [(name, one.step or "none", one.other or "none", one.what, one.ours, one.theirs)
            for name, _, differing in found for one in differing or ()]
    if rows:
        table(("session", "step", "in its record", "what", "session says", "record says"), rows)
    for name, steps, differing in found:
        say(f"{name}: {counted(steps, 'step')}, " + ("of which it has no record" if differing is None else
                                          f"{len(differing)} differences from its record"))


def _written(conn: Connection, home: Home, row: SessionRow) -> Iterator[Path]:
    """The files where the recipe says that the record lies; of an attached agent those written since it began."""
    facts = (placed.event.fact for placed in log.read_all(conn, row.session))
    made = next((fact for fact in facts if isinstance(fact, SessionCreated)), None)
    if made is None or made.agent.kind != "external" or row.created_at is None:
        return
    pattern = recipe_of(made.agent).own_log.removeprefix("~/")
    roots = [Path.home()] if made.agent.is_attached else (home.sessions / row.session / "local").glob("*/home")
    for root in roots if pattern else ():
        yield from (path for path in sorted(root.glob(pattern)) if path.stat().st_mtime >= row.created_at.timestamp())


def _read(path: Path) -> list[list[RecordedStep]]:
    """The steps of each session of a file."""
    return [recorded((decode_event(body).fact for body in one.bodies), one.blobs.__getitem__)
            for one in registry.read(path)]


def _steps(conn: Connection, session: str) -> list[RecordedStep]:
    return recorded((p.event.fact for p in log.read_all(conn, session)), lambda name: blobs.get(conn, name))


def _matched(ours: list[tuple[str, list[RecordedStep]]], theirs: list[list[RecordedStep]]
             ) -> Iterator[tuple[str, list[RecordedStep], list[RecordedStep] | None]]:
    """Each session with the record that shares most steps with it; a subagent's may be in none."""
    left = [record for record in theirs if record]
    for name, steps in ours:
        best = max(left, key=lambda record: shared(steps, record), default=None)
        if best is not None and (shared(steps, best) or name == ours[0][0]):
            left.remove(best)
            yield name, steps, best
        else:
            yield name, steps, None
