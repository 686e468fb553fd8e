"""`tiphys backup`: the whole log of record in one file, while everything runs."""

from __future__ import annotations

from pathlib import Path

import click

from core.cli.log_access import reading
from core.cli.options import NewPlace
from core.cli.output import emit, json_option, say
from core.server.settings_file import read_settings, setting
from core.store.backup import back_up
from core.store.backup import rotate as put_into
from core.store.home import Home

SETTINGS = click.option("--settings", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
                        help="The server's settings, which say where backups lie (default: /etc/tiphys/server.toml).")


@click.command()
@click.argument("target", type=NewPlace(), required=False)
@click.option("--rotate", is_flag=True, help="Into the folder of the settings, under the time of now; old ones go.")
@SETTINGS
@json_option
def backup(target: Path | None, rotate: bool, settings: Path | None, as_json: bool) -> None:
    """Copy the log with all sessions into the file TARGET; a server may run meanwhile (see `tiphys restore`)."""
    if rotate == (target is not None):
        raise click.UsageError("Give a TARGET or --rotate.")
    home, removed = Home.default(), list[Path]()
    with reading(home) as conn:
        if target is not None:
            made = back_up(conn, target)
        else:
            values = read_settings(settings)
            most = setting(values, "backups_kept")
            made, removed = put_into(conn, backup_folder(home, settings), int(most))  # type: ignore[arg-type]
    if as_json:
        emit({"file": str(made), "bytes": made.stat().st_size, "removed": [str(path) for path in removed]})
    else:
        say(str(made))


def backup_folder(home: Home, settings: Path | None) -> Path:
    """Where the settings say that backups lie."""
    folder = str(setting(read_settings(settings), "backup_folder"))
    return Path(folder) if folder else home.path / "backups"
