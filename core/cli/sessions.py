"""`tiphys sessions`: every session of a home."""

from __future__ import annotations

import click

from core.cli.log_access import reading
from core.cli.output import emit, json_option, table
from core.cli.printed_json import session_line
from core.store import log
from core.store.home import Home


@click.command()
@click.option("--awaited", is_flag=True, help="Instead: those that people spoke of and that nobody has made (again).")
@json_option
def sessions(awaited: bool, as_json: bool) -> None:
    """List every session of this home, the newest last."""
    with reading(Home.default()) as conn:
        lines = [session_line(row) for row in log.rows(conn, awaited=awaited)]
    if as_json:
        for line in lines:
            emit(line)
        return
    states = {x.session: f"{x.state} ({x.queue_place}.)" if x.queue_place else x.state for x in lines}
    table(("session", "state", "steps", "errors", "score", "tokens", "waiting", "title"),
          [(x.session, states[x.session], x.steps, x.errors, x.score, x.tokens, x.guidance_waiting, x.title)
           for x in lines])
