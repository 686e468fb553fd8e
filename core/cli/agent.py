"""`tiphys agent`: one session's agent, in a process of its own."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import click

from core import logs
from core.cli.failure import tell
from core.domain.errors import Unavailable
from core.domain.session import EX_TEMPFAIL
from core.store.sqlite import is_disk_failure


@click.command()
@click.option("--session", required=True)
@click.option("--url", required=True, help="The server's address.")
@click.option("--token-file", required=True, type=click.Path(path_type=Path), help="A file that holds the token.")
@click.option("--folder", required=True, type=click.Path(path_type=Path), help="Where the journal lies.")
@click.option("--allow", is_flag=True, help="Allow the session whatever it asks of this computer.")
def agent(session: str, url: str, token_file: Path, folder: Path, allow: bool) -> None:
    """Run one session's agent; it takes up where an earlier one ended."""
    from core.agents.runner import run_session

    logs.make_stderr_unfailing()  # it is a file on the very disk that may be full: the status must get through
    try:
        logs.set_up("agent", folder)
        gc.freeze()  # what is loaded by now stays: a collection need not look through it again
        asyncio.run(run_session(folder, url, token_file.read_text().strip(), session, allow=allow))
    except Unavailable as error:
        tell(error.code, error.sentence)
        raise click.exceptions.Exit(EX_TEMPFAIL) from None
    except OSError as error:
        if not is_disk_failure(error):
            raise
        tell("disk_failed", f"The runner of {session} cannot work now: {error}")
        raise click.exceptions.Exit(EX_TEMPFAIL) from None
