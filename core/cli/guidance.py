"""`tiphys guide`, `edit` and `withdraw`: advice to a working agent."""

from __future__ import annotations

import sys

import click

from core.cli.log_access import do, reading, trajectory
from core.cli.output import emit, json_option, say
from core.domain.errors import InvalidInput
from core.domain.ids import new_id
from core.protocol.operations import ChangeGuidance, Guide
from core.store.home import Home


@click.command()
@click.argument("session")
@click.argument("text")
@click.option("--interrupt", is_flag=True, help="Also end the action that is running now.")
@json_option
def guide(session: str, text: str, interrupt: bool, as_json: bool) -> None:
    """Queue TEXT (- reads it from stdin) as guidance for SESSION; the agent gets it with its next step."""
    advice = sys.stdin.read() if text == "-" else text
    if not advice.strip():
        raise InvalidInput("empty_guidance", "The guidance is empty.")
    name = new_id()
    op = Guide(guidance=name, text=advice, mode="interrupt" if interrupt else "note")
    do(session, op)
    if as_json:
        emit({"session": session, "guidance": name, "state": "queued"})
    else:
        say(f"Queued as {name}.")


@click.command()
@click.argument("session")
@click.argument("guidance")
@click.argument("text")
@json_option
def edit(session: str, guidance: str, text: str, as_json: bool) -> None:
    """Change the text of GUIDANCE that was not delivered yet."""
    _change(session, guidance, text, as_json)


@click.command()
@click.argument("session")
@click.argument("guidance")
@json_option
def withdraw(session: str, guidance: str, as_json: bool) -> None:
    """Take GUIDANCE back before it is delivered."""
    _change(session, guidance, None, as_json)


def _change(session: str, guidance: str, text: str | None, as_json: bool) -> None:
    home = Home.default()
    do(session, ChangeGuidance(guidance=guidance, text=text), home)
    with reading(home) as conn:
        changed = trajectory(conn, session).guidance.get(guidance)
    asked = changed is not None and bool(changed.change)
    state = "asked" if asked else ("edited" if text is not None else "withdrawn")
    if as_json:
        emit({"session": session, "guidance": guidance, "state": state})
    else:
        say("The running agent was asked; `tiphys show` tells what came of it." if asked else f"{state.capitalize()}.")
