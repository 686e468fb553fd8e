"""`tiphys retention`: which sessions the settings would take from the server, and doing it now."""

from __future__ import annotations

import time

import click

from core.cli.log_access import reading, writing
from core.cli.output import emit, json_option, say
from core.domain.plural import counted
from core.protocol.operations import DeleteSession
from core.server.authority import Authority
from core.server.lookups import lookups_of
from core.server.retention import due_sessions, read_retention, remove_due
from core.store.home import Home


@click.command()
@click.option("--dry-run", is_flag=True, help="Only say what would go (so without --now, too).")
@click.option("--now", "at_once", is_flag=True, help="Archive or delete it now; a running server does so every hour.")
@json_option
def retention(dry_run: bool, at_once: bool, as_json: bool) -> None:
    """Say which sessions retention.toml of the home would archive or delete, and why.

    Never one that is at work, that somebody judged in the last days, or that bears a tag of the settings.
    """
    home = Home.default()
    settings = read_retention(home)
    if settings.after_days is None and not as_json:
        file = home.path / "retention.toml"
        say(f"Nothing goes by itself: {f'{file} says no after_days' if file.is_file() else f'there is no {file}'}.")
    with reading(home) as conn:
        due = due_sessions(conn, settings, lookups_of(home), time.time()) if settings.after_days else []

    async def remove(authority: Authority) -> list[str]:
        return await remove_due(home, settings, due,
                                lambda session, head: authority.do(session, DeleteSession(head=head)))

    gone = writing(home, remove) if at_once and not dry_run and due else []
    for one in due:
        done = one.session in gone
        if as_json:
            emit({"session": one.session, "title": one.title, "action": settings.action, "why": one.why,
                  "steps": one.steps, "bytes": one.bytes, "is_done": done})
        else:
            say(f"{one.session}  {one.title}: {settings.action}{'d' if done else ''}, as {one.why} "
                f"({counted(one.steps, 'step')}, {counted(one.bytes, 'byte')})")
