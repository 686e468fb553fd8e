"""`tiphys decisions`: what training does with each step, made again from the log with other switches."""

from __future__ import annotations

import click

from core.cli.log_access import reading, seen_here
from core.cli.number import Whole
from core.cli.output import emit, json_option, say
from core.store.home import Home
from core.supervision.replay import replay


@click.command()
@click.argument("session")
@click.option("--ignore", "ignored", multiple=True, metavar="AUTHOR",
              help="An author whose opinion shall not count (rule:blind_edit), or all of a kind (rule, judge).")
@click.option("--at", "at", default=0, type=Whole(0), metavar="SEQ",
              help="As it was when the log had so many events (default: now).")
@json_option
def decisions(session: str, ignored: tuple[str, ...], at: int, as_json: bool) -> None:
    """Say for each step of SESSION (for each action, where these are judged one by one) whether it is kept, masked or
    undecided, and who decided that; nothing is stored."""
    home = Home.default()
    with reading(home) as conn:
        decided = replay(seen_here(conn, home, session, at), ignored)
    for one in decided:
        if as_json:
            emit(one)
        else:
            left = f"  (left out: {', '.join(one.left_out)})" if one.left_out else ""
            place = f"{one.step}.{one.action}" if one.action else str(one.step)
            say(f"{place:>8}  {one.value:<9}  {', '.join(one.because)}{left}")
