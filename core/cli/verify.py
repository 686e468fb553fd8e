"""`tiphys verify`: whether a log, or a backup of it, is sound."""

from __future__ import annotations

from pathlib import Path

import click

from core.cli.output import emit, json_option, say
from core.domain.plural import counted
from core.store.home import Home
from core.store.restore import check_content, survey

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("source", required=False, type=FILE)
@json_option
def verify(source: Path | None, as_json: bool) -> None:
    """Check a log (by default the server's) from end to end; status 2 where it is damaged."""
    path = source or Home.default().server_db
    held = survey(path)
    check_content(path)
    if as_json:
        emit(held)
        return
    say(f"{held.path} is sound: {counted(held.sessions, 'session')}, {counted(held.events, 'event')}, "
        f"{counted(held.payloads, 'payload')}.")
    if held.lacking:
        say(f"Not held: {counted(held.lacking, 'payload')} that events name.")
    if held.pending:
        say(f"It is of an older version; opening it applies {', '.join(held.pending)} after a backup.")
