"""`tiphys restore`: a backup in the place of the log of record."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from core.cli.backup import SETTINGS, backup_folder
from core.cli.output import emit, json_option, note, say
from core.domain.errors import Conflict, InvalidInput, ReportableError
from core.domain.plural import counted
from core.sandbox.installation import take_number
from core.server.ownership import hold
from core.store.backup import newest
from core.store.endpoint import serving
from core.store.home import Home
from core.store.restore import Restored, survey
from core.store.restore import restore as put_back
from core.store.schema import open_log
from core.store.sqlite import connect, driver, scalar

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("source", type=FILE, required=False)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--drill", is_flag=True, help="Restore into a folder of no consequence, check all of it, and remove it: "
              "a server may run. Without SOURCE the newest of `tiphys backup --rotate`.")
@click.option("--altered", is_flag=True, help="Also a backup that changed on the disk since it was made: its events "
              "are taken as they are, payloads that changed are left out.")
@SETTINGS
@json_option
def restore(source: Path | None, yes: bool, drill: bool, altered: bool, settings: Path | None, as_json: bool) -> None:
    """Put the backup SOURCE in the log's place; the log of now is kept beside it. No server may run.

    Clients and runners then send again what they sent after the backup was made. Accounts stay as they are now. Where
    the log of now holds no session, this computer finds the containers of the installation that the backup is of.
    """
    home = Home.default()
    if drill:
        _drill(source or newest(backup_folder(home, settings)), altered, as_json)
        return
    if source is None:
        raise click.UsageError("Say which backup: SOURCE.")
    try:
        lock = hold(home)
    except Conflict as error:
        if (served := serving(home)) is None:
            raise
        raise Conflict(error.code, f"A server is running on {home.path}: end it first (kill {served.pid}, where no "
                       "service manager does it); its sessions go on.", home=str(home.path)) from None
    try:
        held = survey(source)
        if not yes and home.server_db.exists():
            if as_json or not sys.stdin.isatty():
                raise InvalidInput("not_confirmed", "Nobody can be asked whether to replace the log; add --yes.")
            click.confirm(f"Replace the log by {source} ({counted(held.sessions, 'session')}, "
                          f"{counted(held.events, 'event')})?", abort=True, err=True)
        is_lost = _holds_no_session(home)
        restored = _put_back(source, home.server_db, altered)
        if is_lost and restored.installation is not None:
            take_number(home.path, restored.installation)
        for suffix in ("", "-wal", "-shm"):
            home.search_db.with_name(home.search_db.name + suffix).unlink(missing_ok=True)
    finally:
        lock.release()
    if as_json:
        emit({"file": str(source), "sessions": held.sessions, "events": held.events,
              "kept": str(restored.former) if restored.former else None, "accounts": restored.accounts,
              "altered": restored.altered})
    else:
        say(f"Restored {counted(held.sessions, 'session')}, {counted(held.events, 'event')}." +
            (f" The former log is kept as {restored.former}." if restored.former else ""))
        if restored.altered.words:
            note(f"Taken as it is although it changed on the disk: {restored.altered.words}.")
        if restored.accounts is None:
            note("The former log's accounts could not be read: tokens are those of the backup. Revoke again what was "
                 "revoked since, and add who came since.")


def _holds_no_session(home: Home) -> bool:
    """Whether a home has no log, or one in which nothing happened yet. One that cannot be read is no such."""
    if not home.server_db.exists():
        return True
    try:
        with closing(connect(home.server_db, readonly=True)) as conn:
            return not scalar(conn, "SELECT 1 FROM session LIMIT 1")
    except (ReportableError, driver.Error):
        return False


def _put_back(source: Path, target: Path, altered: bool) -> Restored:
    try:
        return put_back(source, target, also_altered=altered)
    except InvalidInput as error:
        if error.code == "log_altered":
            raise InvalidInput("log_altered", f"{error.sentence} Take an older backup, or this one as it is: add "
                               "--altered.", path=str(source)) from None
        raise


def _drill(source: Path, altered: bool, as_json: bool) -> None:
    """Restore a backup as an emergency would, beside everything that runs; say what came back. Raises as `restore`."""
    with TemporaryDirectory(prefix="tiphys-drill-", dir=source.resolve().parent) as folder:
        target = Path(folder) / "server.db"
        put_back(source, target, also_altered=altered)
        open_log(target).close()
        held = survey(target)
    if as_json:
        emit({"file": str(source), "sessions": held.sessions, "events": held.events, "lacking": held.lacking,
              "works": True})
    else:
        say(f"{source} can be restored: {counted(held.sessions, 'session')}, {counted(held.events, 'event')}.")
