"""`tiphys compare` and `counterfactual`: what a group of branches says."""

from __future__ import annotations

import click
import msgspec

from core.cli.branch import make_branches
from core.cli.log_access import reading, trajectory
from core.cli.number import Whole
from core.cli.output import emit, json_option, note, say, table
from core.cli.watch import watch_to_end
from core.domain.errors import Conflict, NotFound
from core.domain.ids import new_id
from core.protocol.operations import BranchSession
from core.store import log
from core.store.home import Home
from core.supervision.groups import Interval, arms_of, differences, members, parting, reference


@click.command()
@click.argument("group")
@json_option
def compare(group: str, as_json: bool) -> None:
    """Hold the arms of GROUP against each other: scores with intervals, and from which action on they differ."""
    _show(Home.default(), group, as_json)


def _show(home: Home, group: str, as_json: bool) -> None:
    with reading(home) as conn:
        rows = members(log.rows(conn), group)
        if not rows:
            raise NotFound("no_group", f"There is no group {group[:80]}.", group=group[:80])
        arms = arms_of(rows)
        known = {name: trajectory(conn, name) for name in {row.parent for row in rows} | {row.session for row in rows}
                 if log.head(conn, name)}
        against = reference(rows, arms, known)
        partings = [parting(row.session, known[row.session], known[against]) for row in rows if row.session != against]
    margins = differences(arms)
    if as_json:
        emit({"group": group, "against": against, "arms": msgspec.to_builtins(arms),
              "differences": msgspec.to_builtins(margins), "partings": msgspec.to_builtins(partings)})
        return
    table(("arm", "branches", "ended", "scores", "mean", "95 %"),
          [(a.name, len(a.sessions), a.ended, " ".join(f"{s:g}" for s in a.scores), _number(a.mean), _range(a.interval))
           for a in arms])
    for one in margins:
        say(f"{one.arm} − {one.other}: {one.mean:+.4g}, {_range(one.interval)}")
    say(f"First action that is another one than in {against}:")
    for part in partings:
        say(f"  {part.session}  " + (f"step {part.step}: {part.title[:60]}  (there: {part.other_title[:60] or 'none'})"
                                     if part.step else "none"))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _range(interval: Interval | None) -> str:
    return "no interval: too few" if interval is None else f"{interval[0]:.4g} … {interval[1]:.4g}"


@click.command()
@click.argument("session")
@click.argument("guidance")
@click.option("--times", type=Whole(1, 100), default=3, show_default=True, help="Branches on each side.")
@click.option("--wait", is_flag=True, help="Wait for their ends and compare them.")
@json_option
def counterfactual(session: str, guidance: str, times: int, wait: bool, as_json: bool) -> None:
    """Did GUIDANCE help SESSION? Branch before it was given, with it and without it, and compare the ends."""
    home, group = Home.default(), new_id()
    with reading(home) as conn:
        found = trajectory(conn, session).guidance.get(guidance)
    if found is None:
        raise NotFound("no_guidance", f"Session {session} has no guidance {guidance[:80]}.", guidance=guidance[:80])
    if not found.delivered_step:
        raise Conflict("not_given", f"Guidance {guidance} was never given to the agent.", guidance=guidance)
    made = [name for arm, without in (("with", ()), ("without", (guidance,)))
            for name in make_branches(home, BranchSession(parent=session, step=found.delivered_step - 1,
                                                          without=without, group=group, arm=arm), times)]
    if not wait:
        emit({"group": group, "sessions": made}) if as_json else say(f"Group {group}: tiphys compare {group}")
        return
    note(f"Waiting for {len(made)} branches of group {group}.")
    for name in made:
        watch_to_end(home, name, lambda _trajectory, _event: None)
    _show(home, group, as_json)
