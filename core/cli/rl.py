"""`tiphys rl`: reinforcement learning of a model on the sessions that it plays in an environment."""

from __future__ import annotations

import threading
from pathlib import Path

import click

from core.cli.export import default_model
from core.cli.number import Whole
from core.cli.options import NewPlace
from core.cli.output import emit, json_option, say
from core.domain.errors import InvalidInput, ReportableError
from core.domain.task import EnvironmentSettings
from core.environments.registry import kind_of
from core.llm.extra import require_extra
from core.store.home import Home
from core.training.worker import stop_on_signals
from core.workers.messages import Problem
from core.workers.reinforcement import RlMetric, RlPlan
from core.workers.training import TrainFailure


@click.command()
@click.argument("kind")
@click.option("--model", default="", help="Folder of the model to start from (default: SmolLM2).")
@click.option("--out", required=True, type=NewPlace(file_okay=False), help="Folder for weights, metrics and logs.")
@click.option("--loss", help="grpo, dr_grpo, dapo, bnpo, rloo, reinforce++, ppo, dpo or rejection.")
@click.option("--updates", type=Whole(1), help="How often tasks are played and learnt from.")
@click.option("--device", type=click.Choice(["auto", "cpu"]), help="cpu: use no GPU.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Any other setting of the run.")
@click.option("--dry-run", is_flag=True, help="Say what would be played and learnt from, and do nothing.")
@json_option
def rl(kind: str, model: str, out: Path, settings: tuple[str, ...], dry_run: bool, as_json: bool,
       **asked: str | int | None) -> int:
    """Train a model on sessions that it plays in the environment KIND (as `tiphys rollout` names it).

    The same command goes on with a run that was stopped. With --json each line on stdout is one update; the last says
    {"done": true, "folder": …}.
    """
    unnamed = [s for s in settings if "=" not in s]
    if unnamed:
        raise InvalidInput("bad_settings", f"--set takes NAME=VALUE, not {unnamed[0]!r}.")
    kind_of(EnvironmentSettings(kind=kind))  # before torch is loaded
    try:
        require_extra("torch", "transformers")
        values = dict(s.split("=", 1) for s in settings) | {
            "kind": kind, "model": model or default_model(Home.default()), "out": str(out)}
        from core.training.rl import plan_rl, run_rl
        from core.training.rl_settings import read_rl_settings

        known = read_rl_settings(values | {name: str(value) for name, value in asked.items() if value is not None})
        if dry_run:
            plan = plan_rl(known)
            emit(plan) if as_json else _say_plan(plan)
            return 0
        summary = run_rl(known, emit if as_json else _say, stop_on_signals(threading.Event()))
    except ReportableError as error:
        if as_json:
            emit(TrainFailure(error=Problem.of(error)))
        raise
    if as_json:
        emit(summary)
    elif summary.stopped:
        say(f"Stopped after update {summary.step} of {summary.steps}; the same command goes on from there.")
    else:
        say(f"The trained model is in {summary.folder}.")
    return 0


def _say_plan(plan: RlPlan) -> None:
    say(f"{plan.updates:,} updates of {plan.sessions_an_update:,} sessions over {plan.items:,} items; "
        f"{plan.test_items:,} are held out")
    if plan.people:
        say("of people, as of now: " + ", ".join(f"{count:,} {_PEOPLE[kind]}" for kind, count in plan.people.items()))
    for why, count in plan.left_out.items():
        say(f"left out: {count:,} sessions {_LEFT_OUT[why]}")


_PEOPLE = {"corrections": "steps in the agent's place", "advice": "answers behind advice",
           "branches": "pairs of branches", "verdicts": "judged sessions"}
_LEFT_OUT = {"not_over": "that are not over", "other_environment": "of other tasks", "held_out": "of held-out items",
             "other_tokens": "of another model: only what people did in them can be learnt"}


def _say(metric: RlMetric) -> None:
    parts = [f"update {metric.update} of {metric.updates}"]
    if metric.reward is not None:
        parts.append(f"reward {metric.reward:.3f}  solved {metric.solved or 0:.0%}")
    if metric.groups and metric.groups_dropped == metric.groups:
        parts.append("nothing to learn: the sessions of each task had the same reward")
    if metric.entropy is not None:
        parts.append(f"entropy {metric.entropy:.3f}")
    if metric.test_solved is not None:
        parts.append(f"held out: reward {metric.test_reward or 0:.3f}, solved {metric.test_solved:.0%}")
    say("  ".join(parts))
