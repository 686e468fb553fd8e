"""`tiphys search`: words in the texts of all sessions."""

from __future__ import annotations

from contextlib import closing

import click

from core.cli.log_access import blind_reader, reading
from core.cli.number import Whole
from core.cli.output import emit, json_option, say
from core.cli.printed_json import SearchLine
from core.store.home import Home
from core.store.search import SearchIndex


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--session", help="Search this session only.")
@click.option("--limit", default=50, show_default=True, type=Whole(1, 10_000))
@json_option
def search(words: tuple[str, ...], session: str | None, limit: int, as_json: bool) -> None:
    """Find WORDS in the thoughts, actions, observations and guidance of all sessions."""
    home = Home.default()
    with reading(home) as conn, closing(SearchIndex(home.search_db)) as index:
        index.update(home.server_db)
        hits = [hit for hit in index.search(" ".join(words), session=session, limit=limit)
                if hit.where != "note" or blind_reader(conn, home, hit.session) in ("", hit.ref)]
    for hit in hits:
        line = SearchLine(session=hit.session, step=hit.step, where=hit.where, snippet=hit.snippet)
        emit(line) if as_json else say(f"{line.session}  step {line.step}  {line.where}: {line.snippet}")
