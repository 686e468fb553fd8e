"""`tiphys archive`: sessions go from the server into a file each, which was read back before."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from core.cli.delete import delete_all, require_yes, survey, tell_losses, yes_option
from core.cli.log_access import reading
from core.cli.options import NewPlace
from core.cli.output import emit, json_option, say
from core.domain.plural import counted
from core.export.session_archive import write_session
from core.store.home import Home


@click.command()
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION…")
@click.option("--to", "folder", type=NewPlace(file_okay=False),
              help="The folder of the archives (default: archives in the home).")
@click.option("--only-write", is_flag=True, help="Write and check the archives; the sessions stay on the server.")
@yes_option
@json_option
def archive(sessions: tuple[str, ...], folder: Path | None, only_write: bool, yes: bool, as_json: bool) -> None:
    """Write SESSIONs into SESSION.tiphys each, read the files back, then delete the sessions from the server.

    `tiphys import FILE` brings one back as it was. Not in an archive: sandboxes with their files, and whose token each
    event came with.
    """
    home = Home.default()
    folder = folder or home.archives
    lost = [] if only_write else survey(home, sessions)
    if lost:
        if not as_json:
            tell_losses(home, lost)
            say(f"All but sandboxes is written to {folder} first, and read back.")
        require_yes(lost, yes, as_json, "Archive")
    heads = {one.session: one for one in lost}
    for session in dict.fromkeys(sessions):
        with reading(home) as conn:
            path = folder / f"{session}.tiphys"
            head = write_session(conn, session, path)
        if session in heads:
            delete_all(home, [msgspec.structs.replace(heads[session], head=head)])  # what is in the archive may go
        done = session in heads
        if as_json:
            emit({"session": session, "file": str(path), "events": head, "is_deleted": done})
        else:
            say(f"{path}: {counted(head, 'event')}, read back" + ("; the session is deleted here." if done else "."))
