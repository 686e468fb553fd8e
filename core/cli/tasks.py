"""`tiphys tasks`: the tasks that a session can be started on, and whether they are sound."""

from __future__ import annotations

import asyncio
import tarfile
from pathlib import Path

import click

from core.cli.log_access import reading, trajectory
from core.cli.number import Whole
from core.cli.options import endpoint_options
from core.cli.output import emit, json_option, note, say, table
from core.cli.task_generation import drafts, generate
from core.domain.errors import InvalidInput, NotFound
from core.domain.host_rights import in_words
from core.domain.task import ModelSettings
from core.domain.task_terms import terms_of
from core.environments.registry import with_horizon
from core.llm.kinds import open_model
from core.store import blobs
from core.store.home import Home
from core.supervision.novelty import Novelty, novelty_of
from core.tasks.allowances import Allowances, asked
from core.tasks.catalogue import Catalogue
from core.tasks.proof import prove
from core.tasks.reader import CatalogueTask
from core.tasks.rubric import MAX_FILE, text_of_tar, text_part


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def tasks(context: click.Context, as_json: bool) -> None:
    """List the tasks that can be started by their id, or check them."""
    if context.invoked_subcommand is None:
        _list_tasks(as_json)


tasks.add_command(generate)
tasks.add_command(drafts)


@tasks.command()
@click.argument("names", metavar="TASK...", nargs=-1, required=True)
@json_option
def check(names: tuple[str, ...], as_json: bool) -> int:
    """Check in real containers that each TASK is sound.

    Nothing done earns nothing, the reference solution the top, the same hand-in the same score twice; what is hidden
    cannot be read, and cheating earns nothing. What a task asks of this computer must be allowed first.
    """
    home = Home.default()
    catalogue, allowances = Catalogue.of(home.path), Allowances(home.allowed)
    home.sessions.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in names:
        entry = catalogue.find(name)
        lacking, digest = asked(entry, allowances)
        allowances.require(lacking, name, digest)
        for finding in prove(entry, catalogue, home.sessions, str(home.path), allowances.names()):
            failed += not finding.passed
            if as_json:
                emit({"task": name, "check": finding.check, "passed": finding.passed, "detail": finding.detail})
            else:
                say(f"{'ok  ' if finding.passed else 'FAIL'}  {name}: {finding.check}: {finding.detail}")
    return 1 if failed else 0


@tasks.command()
@click.argument("session")
@click.option("--model", required=True, help="The model that judges.")
@endpoint_options
@click.option("--answers", default=3, show_default=True, type=Whole(1, 20),
              help="How often it is asked about each pair.")
@json_option
def novelty(session: str, model: str, base_url: str, key_env: str, answers: int, as_json: bool) -> None:
    """Let a model judge how new the method is that SESSION handed in, held against the known solutions of its task.

    What it handed in, the task and its solutions are sent to the endpoint.
    """
    home = Home.default()
    catalogue = Catalogue.of(home.path)
    task, solution = handed_in(home, session)
    entry = catalogue.find(task)
    known = known_solutions(entry, catalogue)

    async def asked() -> Novelty:
        judge = open_model(ModelSettings(kind="openai", name=model, base_url=base_url, key_env=key_env))
        try:
            return await novelty_of(judge, entry.task.description, solution, known, answers)
        finally:
            await judge.close()

    found = asyncio.run(asked())
    if as_json:
        emit({"session": session, "task": task, "novelty": found.novelty, "nearest": found.nearest,
              "alpha": found.alpha, "within_one": found.within_one,
              "distances": {one.known: one.distance for one in found.distances}})
        return
    for line in novelty_words(session, found):
        say(line)


def _list_tasks(as_json: bool) -> None:
    home = Home.default()
    catalogue, allowances = Catalogue.of(home.path), Allowances(home.allowed)
    for problem in catalogue.problems():
        note(f"tiphys: {problem.sentence} [{problem.code}]")
    found = [(entry.task, entry.agent, *asked(entry, allowances)) for entry in catalogue.entries()]
    if as_json:
        for task, agent, asks, digest in found:
            emit({"task": task.id, "title": task.title, "hosts": [h.name for h in task.hosts], "asks": asks,
                  "digest": digest, "domain": task.domain, "difficulty": task.difficulty,
                  "terms": terms_of(with_horizon(task), agent)})
        return
    table(("task", "title", "domain", "difficulty", "hosts"),
          [(t.id, t.title, t.domain, t.difficulty, ", ".join(h.name for h in t.hosts)) for t, *_ in found])
    for task, _, asks, _ in found:
        if asks:
            say(f"{task.id} asks of this computer: {in_words(asks)}. To allow it: tiphys allow task {task.id}")


def handed_in(home: Home, session: str) -> tuple[str, str]:
    """The task of a session, and the text of what it handed in last and was scored for.

    Raises NotFound where there is no such session, InvalidInput (no_solution) where nothing feasible was handed in.
    """
    with reading(home) as conn:
        found = trajectory(conn, session)
        scored = {s.ordinal for s in found.scores if s.total and not s.failed}
        last = next((s for s in reversed(found.submissions) if s.ordinal in scored and s.blob), None)
        if found.created is None:
            raise NotFound("no_session", f"There is no session {session}.", session=session)
        if last is None:
            raise InvalidInput("no_solution", f"Session {session} handed in nothing that is in its log and had a score "
                               "above 0: a solution that does not work is not new.", session=session)
        try:
            return found.created.task.id, text_of_tar(blobs.get(conn, last.blob))
        except tarfile.TarError as error:
            raise InvalidInput("no_solution", f"What session {session} handed in cannot be read: {error}",
                               session=session) from error


def text_of_files(files: list[tuple[str, Path]]) -> str:
    """The texts of files, each under its name."""
    found = (text_part(name, path.read_bytes()) for name, path in files if path.stat().st_size <= MAX_FILE)
    return "\n\n".join(filter(None, found))


def known_solutions(entry: CatalogueTask, catalogue: Catalogue) -> dict[str, str]:
    """The texts of a task's known solutions, by name: its reference solution, and what its proof names beside it."""
    proof = entry.proof
    places = [str(Path(proof.solution).parent)] if proof.solution else []
    texts = {name: text_of_files(catalogue.paths(entry.task, name)) for name in (*places, *proof.known)}
    return {name: text for name, text in texts.items() if text}


def novelty_words(session: str, novelty: Novelty) -> list[str]:
    """The answer, a line each."""
    if novelty.novelty is None:
        return [f"{session}: no solution of the task is known, so whatever works is new."]
    lines = [f"{session}: N {novelty.novelty:.1f} of 100, nearest to {novelty.nearest}"]
    lines += [f"  {one.known}: {one.distance:.1f} ({', '.join(f'{a.distance:.0f}' for a in one.answers)})"
              for one in novelty.distances]
    alpha = "not defined" if novelty.alpha is None else f"{novelty.alpha:.2f}"
    within = "not defined" if novelty.within_one is None else f"{novelty.within_one:.0%}"
    return [*lines, f"  agreement of the judge with itself: alpha {alpha}, within one of five: {within}"]
