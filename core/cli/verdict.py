"""`tiphys verdict`: which steps are worth training on, as a person says."""

from __future__ import annotations

from typing import cast

import click

from core.cli.log_access import do, reading, trajectory
from core.cli.output import emit, json_option, say
from core.domain.verdict import VerdictValue
from core.protocol.operations import GiveVerdict
from core.store.home import Home


@click.command()
@click.argument("session")
@click.argument("place", metavar="STEP[.ACTION]")
@click.argument("value", type=click.Choice(["keep", "mask", "unsure", "none"]))
@click.option("--reason", default="", help="Why.")
@json_option
def verdict(session: str, place: str, value: str, reason: str, as_json: bool) -> None:
    """Judge STEP of SESSION, or one of its actions: 7.2 is the second action of step 7. `none` takes an earlier verdict
    back; a verdict on the whole step also takes back yours on its actions."""
    home = Home.default()
    step, action = _step_and_action(place)
    op = GiveVerdict(step=step, value=cast(VerdictValue, value), reason=reason, action=action)
    with reading(home) as conn:
        trajectory(conn, session).step(step)
    do(session, op, home)
    with reading(home) as conn:
        entry = trajectory(conn, session).step(step)
    if as_json:
        emit({"session": session, "step": step, "action": action, "value": value, "final": entry.outcome,
              "masked_actions": entry.masked_actions})
    else:
        masked = ", ".join(map(str, entry.masked_actions))
        say(f"Step {step}: {entry.outcome}{f' (masked: action {masked})' if masked else ''}.")


def _step_and_action(place: str) -> tuple[int, int]:
    step, dot, action = place.partition(".")
    if not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in ((step, action) if dot else (step,))):
        raise click.BadParameter(f"{place!r} is neither a step (7) nor an action of one (7.2).", param_hint="STEP")
    if dot and not int(action):
        raise click.BadParameter("Actions are counted from 1.", param_hint="STEP")
    return int(step), int(action or 0)
