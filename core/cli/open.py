"""`tiphys open`: files, or where a link leads, in the desktop."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import click

from core.cli.desktop import launch
from core.cli.number import Whole
from core.cli.output import note
from core.client.invitation import read_invitation
from core.domain.deep_link import is_link, parse_link
from core.domain.errors import ReportableError
from core.domain.invitation import SUFFIX, is_invitation, parse_invitation
from core.formats import registry


@click.command(name="open")
@click.argument("files", nargs=-1)
@click.option("--server", metavar="URL", help="Work with this server too (ws:// or wss://).")
@click.option("--token-file", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
              help="Holds the token for --server.")
@click.option("--session", help="Show this session.")
@click.option("--step", type=Whole(), help="Show this step of it.")
@click.option("--follow", is_flag=True, help="The files are still being written: show what is added as it comes.")
def open_files(files: tuple[str, ...], server: str | None, token_file: Path | None, session: str | None,
               step: int | None, follow: bool) -> int:
    """Open FILES (trajectories, folders with them, invitations) in the desktop, or go where a tiphys:// link leads.

    A file that grows while it is open is followed like a live session. Where a window is open already, it shows them.
    """
    links = [parse_invitation(file) if is_invitation(file) else parse_link(file) for file in files if is_link(file)]
    paths = [_path_of(file) for file in files if not is_link(file)]
    failures = _unreadable(paths)
    for failure in failures.values():
        note(f"tiphys: {failure.sentence} [{failure.code}]")
    good = [path for path in paths if path not in failures]
    if paths and not good:
        return max(f.exit_status for f in failures.values())
    values = [("--server", server), ("--token-file", token_file), ("--session", session), ("--step", step)]
    options = [part for name, value in values if value is not None for part in (name, str(value))]
    return launch([*options, *(["--follow"] if follow else []), *map(str, links), *good])


def _path_of(text: str) -> str:
    """The path that a file manager means, which may say it as a file:// address."""
    return url2pathname(urlsplit(text).path) if text.startswith("file://") else text


_LARGE = 32 * 1024 * 1024
"""Bytes from which a file is looked at in the window, with progress."""


def _unreadable(paths: Sequence[str]) -> dict[str, ReportableError]:
    """The files of no known format, with the error to tell; folders are looked through later."""
    found: dict[str, ReportableError] = {}
    for name in paths:
        try:
            if Path(name).suffix == SUFFIX:
                read_invitation(Path(name))
            elif not Path(name).is_dir() and (not Path(name).is_file() or Path(name).stat().st_size < _LARGE):
                registry.recognise(Path(name))
        except ReportableError as failure:
            found[name] = failure
    return found
