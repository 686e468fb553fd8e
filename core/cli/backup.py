"""`tiphys backup`: the whole log of record in one file, while everything runs."""

from __future__ import annotations

from pathlib import Path

import click

from core.cli.output import emit, json_option, say


@click.command()
@click.argument("target", type=click.Path(path_type=Path))
@json_option
def backup(target: Path, as_json: bool) -> None:
    """Copy the log with all sessions into the file TARGET; a server may run meanwhile (see `tiphys restore`)."""
    from core.cli.log_access import reading
    from core.store.backup import back_up
    from core.store.home import Home

    with reading(Home.default()) as conn:
        made = back_up(conn, target)
    emit({"file": str(made), "bytes": made.stat().st_size}) if as_json else say(str(made))
