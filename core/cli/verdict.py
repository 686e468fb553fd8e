"""`tiphys verdict`: which steps are worth training on, as a person says."""

from __future__ import annotations

import click

from core.cli.output import emit, json_option, say


@click.command()
@click.argument("session")
@click.argument("step", type=int)
@click.argument("value", type=click.Choice(["keep", "mask", "unsure", "none"]))
@click.option("--reason", default="", help="Why.")
@json_option
def verdict(session: str, step: int, value: str, reason: str, as_json: bool) -> None:
    """Judge STEP of SESSION. `none` takes an earlier verdict back."""
    import msgspec

    from core.cli.log_access import reading, trajectory, writing
    from core.protocol.messages import GiveVerdict
    from core.store.home import Home

    home = Home.default()
    op = msgspec.convert({"op": "give_verdict", "step": step, "value": value, "reason": reason}, GiveVerdict)
    with reading(home) as conn:
        trajectory(conn, session).step(step)
    writing(home, lambda authority: authority.do(session, op))
    with reading(home) as conn:
        final = trajectory(conn, session).step(step).final
    if as_json:
        emit({"session": session, "step": step, "value": value, "final": final})
    else:
        say(f"Step {step}: {final}.")
