"""`tiphys tasks generate` and `tiphys tasks drafts`: making tasks, and a person's word about each."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import click

from core.cli.number import Number, Whole
from core.cli.options import NewPlace, endpoint_options
from core.cli.output import emit, json_option, note, say, table
from core.cli.rollout import session_log
from core.domain.drafts import DraftRecord, pass_at
from core.domain.task import AgentSettings, ModelSettings
from core.llm.kinds import open_model
from core.llm.model import LanguageModel
from core.store.drafts import DraftRecords
from core.store.home import Home
from core.tasks.generation.bench import DraftBench
from core.tasks.generation.folders import BASE
from core.tasks.generation.generator import AuthorDrive, DraftPlan, Generator, OnRecord, clear, prepare
from core.tasks.generation.template_author import TemplateAuthor


@click.command()
@click.option("--count", required=True, type=Whole(1, 100_000), help="How many tasks are to pass all gates.")
@click.option("--out", required=True, type=NewPlace(file_okay=False), help="A new folder for them.")
@click.option("--seed", default=1, show_default=True, type=Whole(),
              help="Of the templates: the same seed gives the same tasks.")
@click.option("--base-image", default="", help="What the images of Harbor's form build upon.")
@click.option("--at-once", default=2, show_default=True, type=Whole(1, 64), help="Drafts tried at a time.")
@click.option("--tries", default=3, show_default=True, type=Whole(1, 20), help="Answers taken for a phase.")
@click.option("--model", default="", help="A model writes the tasks, each in a session, instead of the templates.")
@endpoint_options
@click.option("--actions", type=click.Choice(["native", "text"]), default="native", show_default=True,
              help="How the models' calls are written.")
@click.option("--attempts", default=0, show_default=True, type=Whole(0, 64),
              help="So often a policy tries each task; one that it never solves is refused.")
@click.option("--solver", default="", help="The policy's model (default: --model).")
@click.option("--solver-url", default="", help="Its endpoint (default: --base-url).")
@click.option("--solver-local", type=click.Path(path_type=Path, file_okay=False, exists=True),
              help="A model's folder: the policy runs here.")
@click.option("--solver-script", "scripts", multiple=True,
              type=click.Path(path_type=Path, dir_okay=False, exists=True),
              help="A scripted policy (docs/tasks.md); several take turns.")
@click.option("--solver-steps", default=20, show_default=True, type=Whole(1, 1_000),
              help="Commands an attempt.")
@click.option("--temperature", default=1.0, show_default=True, type=Number(0, 100), help="Of both models.")
@json_option
def generate(count: int, out: Path, seed: int, base_image: str, at_once: int, tries: int, as_json: bool,
             **models: Any) -> int:
    """Make tasks in four phases, each with gates in real containers.

    What passed lies in OUT/tiphys and OUT/harbor; every draft, the refused ones with gate and reason, in
    OUT/drafts.jsonl, and every answer of its author in OUT/answers.jsonl. Sessions of models are in the log.
    """
    def show(record: DraftRecord) -> None:
        gates[record.gate] += record.state != "accepted"
        emit(record) if as_json else say(draft_line(record))

    home, gates, began = Home.default(), Counter[str](), time.monotonic()
    plan = DraftPlan(count=count, folder=out.absolute(), at_once=at_once, tries=tries, base=base_image or BASE)
    _check_models(models)
    prepare(plan.folder)
    try:
        made = asyncio.run(_make(home, plan, seed, models, show))
    finally:
        clear(plan.folder)
    refused = ", ".join(f"{gate} {number}" for gate, number in (+gates).most_common()) or "none"
    note(f"{made} of {count} tasks passed all gates in {time.monotonic() - began:.0f} s. Refused by gate: {refused}.")
    return 0 if made == count else 1


def _check_models(models: dict[str, Any]) -> None:
    """Raises UsageError where nobody would play, or what was named would not be used."""
    solvers = [name for name in ("solver", "solver_local", "scripts") if models[name]]
    if len(solvers) > 1:
        raise click.UsageError("Name one policy: --solver, --solver-local or --solver-script.")
    if models["attempts"] and not solvers and not models["model"]:
        raise click.UsageError("--attempts needs a policy: --solver, --solver-local, --solver-script or --model.")
    if solvers and not models["attempts"]:
        raise click.UsageError(f"--{solvers[0].replace('_', '-')} needs --attempts.")


async def _make(home: Home, plan: DraftPlan, seed: int, models: dict[str, Any], show: OnRecord) -> int:
    from core.rollouts.draft_sessions import SessionDrive, SessionSolve

    author, solver = _author(models), _solver(models)
    async with AsyncExitStack() as stack:
        log = await stack.enter_async_context(await session_log(home)) if author or models["attempts"] else None

        def opened(settings: ModelSettings) -> LanguageModel:
            model = open_model(settings)
            stack.push_async_callback(model.close)
            return model

        drive = (SessionDrive(log, opened(author), AgentSettings(model=author), plan.tries) if author and log
                 else AuthorDrive(TemplateAuthor(seed)))
        solve = None
        if models["attempts"] and log:
            policies = [opened(one) for one in solver]
            solve = SessionSolve(log, lambda number: policies[number % len(policies)], AgentSettings(model=solver[0]),
                                 models["attempts"], models["solver_steps"])
        generator = Generator(drive, plan, lambda: DraftBench(plan.folder / ".work", str(home.path)), show, solve)
        return await generator.run()


def _author(models: dict[str, Any]) -> ModelSettings | None:
    return ModelSettings(kind="openai", name=models["model"], base_url=models["base_url"], key_env=models["key_env"],
                         actions=models["actions"], temperature=models["temperature"]) if models["model"] else None


def _solver(models: dict[str, Any]) -> list[ModelSettings]:
    """The policies that try a task, in turn."""
    shared = {"actions": models["actions"], "temperature": models["temperature"]}
    if models["scripts"]:
        return [ModelSettings(kind="scripted", name=one.stem, script=str(one.absolute())) for one in models["scripts"]]
    if models["solver_local"]:
        return [ModelSettings(kind="local", name=str(models["solver_local"]), max_output_tokens=256,
                              **{**shared, "actions": "react"})]
    return [ModelSettings(kind="openai", name=models["solver"] or models["model"], key_env=models["key_env"],
                          base_url=models["solver_url"] or models["base_url"], **shared)]


def draft_line(record: DraftRecord) -> str:
    """A draft in a line: what became of it, how often it was solved, why not."""
    why = f": {record.gate}: {record.reason}" if record.gate else ""
    return f"{record.state}  {record.id}  {record.title}{solved_words(record)}{why}"


def solved_words(record: DraftRecord) -> str:
    """How often a policy solved it, with the estimate of pass@1 and pass@k; "" where it was not tried."""
    if not record.attempts:
        return ""
    n, c = record.attempts, record.solved
    return f"  solved {c} of {n}, pass@1 {pass_at(1, n, c):.2f}, pass@{n} {pass_at(n, n, c):.2f}"


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--accept", metavar="DRAFT", help="A person accepts this one.")
@click.option("--refuse", metavar="DRAFT", help="A person refuses this one.")
@click.option("--mend", metavar="DRAFT", help="A person wants this one mended.")
@click.option("--reason", default="", help="Why.")
@json_option
def drafts(folder: Path, accept: str | None, refuse: str | None, mend: str | None, reason: str, as_json: bool) -> None:
    """List the drafts of generated tasks in FOLDER, or say what becomes of one."""
    records = DraftRecords(folder)
    if accept:
        records.decide(accept, "accepted", reason)
    if refuse:
        records.decide(refuse, "refused", reason)
    if mend:
        records.decide(mend, "to mend", reason)
    found = records.all()
    if as_json:
        for record in found:
            emit(record)
        return
    table(("draft", "state", "solved", "title", "gate", "reason"),
          [(d.id, d.state, f"{d.solved} of {d.attempts}" if d.attempts else "", d.title, d.gate, d.reason)
           for d in found])
