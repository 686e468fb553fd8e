"""`tiphys pause`, `resume`, `stop` and `interrupt`."""

from __future__ import annotations

from typing import Literal

import click

from core.cli.output import emit, json_option, say

Control = Literal["pause", "resume", "stop", "interrupt"]


def _ask(session: str, control: Control, as_json: bool) -> None:
    from core.cli.log_access import writing
    from core.protocol import operations
    from core.store.home import Home

    writing(Home.default(), lambda authority: authority.do(session, operations.Control(control=control)))
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
