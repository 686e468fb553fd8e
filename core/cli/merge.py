"""`tiphys merge`: two annotators' opinions on one session come together without a server between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec

from core.cli.log_access import reading, trajectory, writing
from core.cli.output import emit, json_option, say
from core.domain.events import AnnotationFact, OpinionFact, Placed
from core.domain.trajectory import Trajectory, fold
from core.formats import registry
from core.formats.imported import Imported
from core.formats.void_opinions import opinions_in_force
from core.protocol.operations import MergeOpinions, Opinion
from core.server.authority import Authority
from core.server.opinions import KINDS
from core.store.home import Home

AT_ONCE = 200
"""So many opinions travel in one command."""


@click.command()
@click.argument("archive", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@json_option
def merge(archive: Path, as_json: bool) -> None:
    """Take the verdicts, notes, tags and active times of ARCHIVE over into the session of the same name that is here.

    They keep their authors and times. Opinions on steps that differ here are left out. Repeating it changes nothing.
    """
    home = Home.default()
    imported = next(iter(registry.read(archive)))
    with reading(home) as conn:
        trajectory(conn, imported.session)
    counts = {"merged": 0, "known": 0, "elsewhere": 0}

    async def send(authority: Authority) -> None:
        for part in _parts(opinions_of(imported)):
            result = await authority.do(imported.session, MergeOpinions(opinions=part))
            for name in counts:
                counts[name] += int(result[name])

    writing(home, send)
    if as_json:
        emit({"session": imported.session, **counts})
    else:
        say(f"{counts['merged']} opinions merged into {imported.session}; {counts['known']} were here already, "
            f"{counts['elsewhere']} are about steps that differ here.")


def opinions_of(imported: Imported) -> list[Opinion]:
    """What people, rules and judges said in an archive, with the content of the steps that they spoke of; not what they
    said of a text that its step has no more."""
    placed = [Placed(session=imported.session, seq=seq, body=body) for seq, body in enumerate(imported.bodies, 1)]
    trajectory = fold(imported.session, placed)
    in_force = {event.id for event in opinions_in_force(imported.bodies)}
    found = []
    for one in placed:
        event = one.event
        if isinstance(event.fact, AnnotationFact) and event.author.kind in KINDS:
            if isinstance(event.fact, OpinionFact) and event.id not in in_force:
                continue
            content = _content(trajectory, event.fact.step if isinstance(event.fact, OpinionFact) else 0)
            found.append(Opinion(content=content, event=msgspec.Raw(one.body)))
    return found


def _content(trajectory: Trajectory, step: int) -> str:
    return "" if trajectory.index_of(step) is None else trajectory.step(step).body


def _parts(opinions: Sequence[Opinion]) -> Iterator[tuple[Opinion, ...]]:
    for first in range(0, len(opinions), AT_ONCE):
        yield tuple(opinions[first : first + AT_ONCE])
