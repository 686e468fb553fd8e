"""`tiphys restore`: a backup in the place of the log of record."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from core.cli.backup import SETTINGS, backup_folder
from core.cli.output import emit, json_option, note, say
from core.domain.errors import Conflict, InvalidInput
from core.domain.plural import counted
from core.server.ownership import hold
from core.store.home import Home
from core.store.restore import check_content, survey
from core.store.restore import restore as put_back
from core.store.rotation import newest
from core.store.schema import open_log

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("source", type=FILE, required=False)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--drill", is_flag=True, help="Restore into a folder of no consequence, check all of it, and remove it: "
              "a server may run. Without SOURCE the newest of `tiphys backup --rotate`.")
@SETTINGS
@json_option
def restore(source: Path | None, yes: bool, drill: bool, settings: Path | None, as_json: bool) -> None:
    """Put the backup SOURCE in the log's place; the log of now is kept beside it. No server may run.

    Clients and runners then send again what they sent after the backup was made. Accounts stay as they are now.
    """
    home = Home.default()
    if drill:
        _drill(source or newest(backup_folder(home, settings)), as_json)
        return
    if source is None:
        raise click.UsageError("Say which backup: SOURCE.")
    try:
        lock = hold(home)
    except Conflict as error:
        raise Conflict(error.code, f"A server is running on {home.path}; end it first.", home=str(home.path)) from None
    try:
        held = survey(source)
        if not yes and home.server_db.exists():
            if as_json or not sys.stdin.isatty():
                raise InvalidInput("not_confirmed", "Nobody can be asked whether to replace the log; add --yes.")
            click.confirm(f"Replace the log by {source} ({counted(held.sessions, 'session')}, "
                          f"{counted(held.events, 'event')})?", abort=True, err=True)
        restored = put_back(source, home.server_db)
        for suffix in ("", "-wal", "-shm"):
            home.search_db.with_name(home.search_db.name + suffix).unlink(missing_ok=True)
    finally:
        lock.release()
    if as_json:
        emit({"file": str(source), "sessions": held.sessions, "events": held.events,
              "kept": str(restored.former) if restored.former else None, "accounts": restored.accounts})
    else:
        say(f"Restored {counted(held.sessions, 'session')}, {counted(held.events, 'event')}." +
            (f" The former log is kept as {restored.former}." if restored.former else ""))
        if restored.accounts is None:
            note("The former log's accounts could not be read: tokens are those of the backup. Revoke again what was "
                 "revoked since, and add who came since.")


def _drill(source: Path, as_json: bool) -> None:
    """Restore a backup as an emergency would, beside everything that runs; say what came back. Raises as `restore`."""
    with TemporaryDirectory(prefix="tiphys-drill-", dir=source.resolve().parent) as folder:
        target = Path(folder) / "server.db"
        put_back(source, target)
        open_log(target).close()
        held = survey(target)
        check_content(target)
    if as_json:
        emit({"file": str(source), "sessions": held.sessions, "events": held.events, "lacking": held.lacking,
              "works": True})
    else:
        say(f"{source} can be restored: {counted(held.sessions, 'session')}, {counted(held.events, 'event')}.")
