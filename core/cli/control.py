"""`tiphys pause`, `resume`, `stop`, `interrupt` and `continue`."""

from __future__ import annotations

from typing import Literal

import click

from core.cli.log_access import do
from core.cli.number import Number, Whole
from core.cli.output import emit, json_option, say
from core.domain.ids import new_id
from core.domain.task import Budget
from core.protocol import operations
from core.protocol.operations import ContinueSession

Control = Literal["pause", "resume", "stop", "interrupt", "snapshot"]


def _ask(session: str, control: Control, as_json: bool) -> None:
    do(session, operations.Control(control=control))
    emit({"session": session, "asked": control}) if as_json else say(f"Asked session {session} to {control}.")


@click.command()
@click.argument("session")
@json_option
def pause(session: str, as_json: bool) -> None:
    """Pause SESSION after the step that is running."""
    _ask(session, "pause", as_json)


@click.command()
@click.argument("session")
@json_option
def resume(session: str, as_json: bool) -> None:
    """Go on with SESSION."""
    _ask(session, "resume", as_json)


@click.command()
@click.argument("session")
@json_option
def stop(session: str, as_json: bool) -> None:
    """End SESSION; what it did stays."""
    _ask(session, "stop", as_json)


@click.command()
@click.argument("session")
@json_option
def interrupt(session: str, as_json: bool) -> None:
    """End the action that SESSION is running now; the agent goes on."""
    _ask(session, "interrupt", as_json)


@click.command()
@click.argument("session")
@click.option("--guide", "text", default="", help="Advice that the agent reads before its next step.")
@click.option("--steps", type=Whole(1, 1_000_000), help="So many more steps from now on.")
@click.option("--hours", type=Number(0, 10_000, min_open=True), help="So many more hours of working time.")
@click.option("--tokens", type=Whole(1, 1 << 50), help="So many more tokens.")
@click.option("--usd", type=Number(0, 1e9, min_open=True), help="So many more US dollars.")
@click.option("--evaluations", type=Whole(1, 1_000_000), help="So many more evaluations.")
@json_option
def continue_(session: str, text: str, steps: int | None, hours: float | None, tokens: int | None, usd: float | None,
              evaluations: int | None, as_json: bool) -> None:
    """Go on with SESSION, which has ended: by itself, by a limit or by a person.

    A limit of which nothing is said stays as it is; one that is named leaves so much more than was used by now.
    """
    more = Budget(steps=steps, wall_s=None if hours is None else hours * 3600, tokens=tokens, cost_usd=usd,
                  evaluations=evaluations)
    op = ContinueSession(more=more, guidance=new_id() if text else "", text=text)
    do(session, op)
    emit({"session": session, "asked": "continue"}) if as_json else say(f"Session {session} goes on.")
