"""`tiphys rescore`: scoring stored submissions once more, by an evaluator that changed or by a judge."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import AsyncExitStack
from pathlib import Path

import click

from core.cli.options import endpoint_options
from core.cli.output import emit, json_option, note, say, table
from core.cli.stored_submissions import Rescoring, StoredSubmission, rescored, stored_submissions, task_rescorer
from core.store.home import Home
from core.tasks.rescoring import Rescorer


@click.command()
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option("--task", default="", help="All sessions of this task that the log holds.")
@click.option("--judge", default="", metavar="MODEL", help="A model scores, by --rubric, instead of the evaluator.")
@endpoint_options
@click.option("--rubric", type=click.Path(path_type=Path, dir_okay=False, exists=True),
              help="A text that says what earns how many of 100 points.")
@click.option("--again", is_flag=True, help="Also what this version of the evaluator has scored already.")
@click.option("--dry-run", is_flag=True, help="Score, and write nothing.")
@json_option
def rescore(sessions: tuple[str, ...], task: str, judge: str, base_url: str, key_env: str, rubric: Path | None,
            again: bool, dry_run: bool, as_json: bool) -> int:
    """Score once more what SESSIONs, or all sessions of a task, handed in.

    The task's evaluator as it is now, or a judge, scores what the log holds of each submission. What it says is put
    beside the earlier score, which stays, with the digest of the evaluator; what was scored by that very evaluator
    before is passed over. Ends with status 1 where something could not be scored.
    """
    if bool(sessions) == bool(task):
        raise click.UsageError("Name sessions, or one task with --task.")
    if bool(judge) != bool(rubric):
        raise click.UsageError("A judge needs a rubric: give --judge and --rubric, or neither.")
    home = Home.default()
    found = stored_submissions(home, sessions, task)
    done = asyncio.run(_score_all(home, found, (judge, base_url, key_env, rubric), again, dry_run))
    _print(done, as_json)
    return 1 if any(one.problem for one in done) else 0


async def _score_all(home: Home, found: list[StoredSubmission], asked: tuple[str, str, str, Path | None], again: bool,
                     dry_run: bool) -> list[Rescoring]:
    done: list[Rescoring] = []
    async with AsyncExitStack() as stack:
        for name in dict.fromkeys(one.task for one in found):
            rescorer: Rescorer = await stack.enter_async_context(task_rescorer(home, name, *asked))
            mine = [one for one in found if one.task == name]
            note(f"{name}: scored by {rescorer.name}, version {rescorer.version}")
            for number, one in enumerate(mine, 1):
                done.append(await rescored(home, one, rescorer, again=again, stores=not dry_run))
                if number % 10 == 0:
                    note(f"scored {number} of {len(mine)}")
    return done


def _print(done: Iterable[Rescoring], as_json: bool) -> None:
    if as_json:
        for one in done:
            emit(one)
        return
    rows = list(done)
    table(("session", "submission", "before", "after", "change", "why not"),
          [(r.session, r.ordinal, r.before, r.after, r.change, r.problem or r.passed_over) for r in rows])
    changed, failed = sum(bool(r.change) for r in rows), sum(bool(r.problem) for r in rows)
    say(f"{len(rows)} submissions: {changed} with another score, {failed} not scored.")
