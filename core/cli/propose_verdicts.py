"""What rules propose for a session, stored under the rules' own names."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from core.cli.log_access import reading, trajectory
from core.cli.output import note
from core.domain.errors import Conflict
from core.domain.events import Event, VerdictGiven
from core.domain.step import StepBody, decode_body
from core.domain.trajectory import Trajectory
from core.protocol.operations import GiveVerdict
from core.store import blobs
from core.store.home import Home
from core.store.sqlite import Connection
from core.supervision.propose import propose
from core.supervision.rule import Rule
from core.supervision.rule_book import rules_of

rules_option = click.option("--rules", "rules_folder", type=click.Path(path_type=Path, file_okay=False),
                             help="Folder of rules.toml and own rules (default: rules in the home).")


def propose_by_rules(home: Home, session: str, folder: Path | None = None) -> list[Event]:
    """Let every rule judge the session and store what it says anew."""
    with reading(home) as conn:
        judged = trajectory(conn, session)
        proposed = propose(judged, step_bodies(conn), rules_for(home, task_of(judged), folder))
    return asyncio.run(store_verdicts(home, judged, proposed))


def rules_for(home: Home, task: str, folder: Path | None = None) -> list[Rule]:
    """The rules of a folder (default: the home's) for a task. Raises InvalidInput."""
    return rules_of(folder or home.path / "rules", task)


def step_bodies(conn: Connection) -> Callable[[str], StepBody | None]:
    """Step bodies by hash, None where the log does not hold one."""
    return lambda name: decode_body(blobs.get(conn, name)) if blobs.holds(conn, name) else None


async def store_verdicts(home: Home, judged: Trajectory, proposed: Sequence[Event]) -> list[Event]:
    """Store verdicts under their own authors (rules, judges); gives those that are stored. A step that changed since it
    was judged is left to the next time."""
    from core.server.authority import Authority

    if not proposed:
        return []
    stored: list[Event] = []
    async with Authority(home) as authority:
        for event in proposed:
            if isinstance(event.fact, VerdictGiven):
                fact = event.fact
                op = GiveVerdict(step=fact.step, action=fact.action, value=fact.value, reason=fact.reason,
                                 author=event.author, content=judged.step(fact.step).body)
                try:
                    await authority.do(judged.session, op)
                except Conflict as error:
                    if error.code != "step_changed":
                        raise
                    note(f"tiphys: {error.sentence} [{error.code}]")
                else:
                    stored.append(event)
    return stored


def task_of(trajectory: Trajectory) -> str:
    """The id of a session's task, "" where its log names none."""
    return trajectory.created.task.id if trajectory.created else ""
