"""`tiphys rollout`: a policy plays many sessions of an environment, in one process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from core.cli.number import Number, Whole
from core.cli.output import emit, json_option, note, say, table
from core.domain.errors import InvalidInput, Unavailable
from core.domain.plural import counted
from core.domain.task import AgentSettings, EnvironmentSettings, Limits, ModelSettings, Task
from core.environments.environment import EnvironmentKind
from core.environments.registry import ENVIRONMENTS, environment_task, kind_of
from core.llm.local_policy import LocalPolicy
from core.llm.openai import OpenAIModel
from core.rollouts.followed_run import FollowedRun
from core.rollouts.planned import PlannedModel
from core.rollouts.roll_out import roll_out
from core.rollouts.rollout import Rollout
from core.rollouts.server_log import ServerLog
from core.rollouts.session_log import SessionLog, StoreLog
from core.server.ownership import hold_or_find
from core.store.endpoint import Endpoint, address_now
from core.store.home import Home


@click.command()
@click.argument("environment", default="")
@click.option("--items", default="0:1", show_default=True, help="Which items: FIRST:LAST (not included), or numbers.")
@click.option("--group-size", default=1, show_default=True, type=Whole(1, 10_000), help="Sessions per item.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the environment.")
@click.option("--env-seed", default=0, show_default=True, type=Whole(0), help="What is random there.")
@click.option("--local", type=click.Path(path_type=Path), help="The folder of a model to run here, in batches.")
@click.option("--run", type=click.Path(path_type=Path), help="The folder of a run of `tiphys rl`: its newest weights.")
@click.option("--most-behind", type=Whole(0), default=1, show_default=True,
              help="With --run: wait for newer weights where ours are more updates behind.")
@click.option("--model", default="", help="The model's name at its endpoint.")
@click.option("--base-url", default="", help="Its OpenAI-compatible endpoint; vLLM and SGLang tell their tokens.")
@click.option("--key-env", default="", help="The variable that holds the endpoint's key.")
@click.option("--plan", is_flag=True, help="No model: play the right commands, where the environment knows them.")
@click.option("--actions", type=click.Choice(["react", "text", "native"]), default="react", show_default=True,
              help="How actions are written.")
@click.option("--temperature", default=1.0, show_default=True, type=Number(0, 100))
@click.option("--top-p", default=1.0, show_default=True, type=Number(1e-6, 1))
@click.option("--max-tokens", default=256, show_default=True, type=Whole(1), help="Tokens of an answer.")
@click.option("--steps", type=Whole(1, 1_000_000), help="Steps of a session, instead of the usual limit.")
@click.option("--at-once", default=64, show_default=True, type=Whole(1, 250), help="Sessions side by side.")
@click.option("--seed", default=0, show_default=True, type=Whole(), help="What is random in the policy's answers.")
@json_option
def rollout(environment: str, items: str, group_size: int, options: Sequence[str], env_seed: int, local: Path | None,
            run: Path | None, most_behind: int, model: str, base_url: str, key_env: str, plan: bool, actions: str,
            temperature: float, top_p: float, max_tokens: int, steps: int | None, at_once: int, seed: int, as_json: bool
            ) -> int:
    """Play items of ENVIRONMENT with a policy, many sessions side by side, and say what was reached.

    Without an ENVIRONMENT: list those that there are. Where the server runs, the sessions are seen live in the desktop
    and can be advised and stopped; else they are written into the log directly.
    """
    if not environment:
        return _list_environments(as_json)
    kind_of(EnvironmentSettings(kind=environment))
    if sum((plan, local is not None, run is not None, bool(model))) != 1:
        raise InvalidInput("no_model", "Name who plays: --local FOLDER, --run RUN, --model NAME with --base-url, or "
                           "--plan.")
    if bool(model) != bool(base_url):
        raise InvalidInput("no_model", f"--{'base-url' if model else 'model'} is missing: an endpoint is named by "
                           "--model NAME and --base-url URL together.")
    if run is None and click.get_current_context().get_parameter_source("most_behind") == ParameterSource.COMMANDLINE:
        raise InvalidInput("bad_options", "--most-behind has an effect only with --run.")
    given = dict(_pair(one) for one in options)
    tasks = [environment_task(environment, item=i, seed=env_seed, **given) for i in _numbers(items, environment)]
    chosen: dict[str, Any] = {"actions": actions, "temperature": temperature, "top_p": top_p,
                              "max_output_tokens": max_tokens}
    settings = ModelSettings(kind="openai", name=model, base_url=base_url, key_env=key_env, records_tokens=True,
                             **chosen) if model else ModelSettings(
                                 kind="policy", name=str(local or run or "plan"), **chosen)
    limits = Limits(steps=steps, evaluations=None) if steps else None
    player = _player(settings, local, top_p) if run is None else _followed(run, most_behind, settings, top_p)
    ended = _play(Home.default(), player, tasks, settings, as_json,
                  group_size=group_size, limits=limits, at_once=at_once, seed=seed)
    _say_sum(ended, as_json)
    if run is not None:
        (note if as_json else say)(f"weights of update {player.version} at the end, changed {player.changes:,} times; "
                                   f"{player.waited_s:.1f} s were waited for them")
    return 0 if all(one.state == "finished" for one in ended) else 1


def _list_environments(as_json: bool) -> int:
    """Each kind: what it is, which options it takes, which packages it needs, how many items it has here."""
    def count(kind: EnvironmentKind) -> int | None:
        try:
            return kind.count()
        except Unavailable:
            return None

    rows = [(kind, count(kind)) for kind in ENVIRONMENTS.values()]
    if as_json:
        for kind, number in rows:
            emit({"environment": kind.name, "title": kind.title, "items": number, "options": kind.options,
                  "packages": list(kind.packages)})
        return 0
    table(("environment", "items", "needs", "options"), [
        (kind.name, "not installed" if number is None else f"{number:,}", ", ".join(kind.packages),
         ", ".join(kind.options)) for kind, number in rows])
    return 0


def _pair(text: str) -> tuple[str, str]:
    name, mark, value = text.partition("=")
    if not mark:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE.", param_hint="--option")
    return name, value


def _numbers(text: str, environment: str) -> list[int]:
    """The items that a text names; before anything is played, for a session of an item that there is none of would fail
    for itself. Raises BadParameter, InvalidInput (bad_environment), Unavailable (no_environment_extra)."""
    there = kind_of(EnvironmentSettings(kind=environment)).count()
    first, mark, last = text.partition(":")
    try:
        asked = list(range(int(first or 0), int(last or there))) if mark else [int(one) for one in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"{text!r} is neither FIRST:LAST nor numbers.", param_hint="--items") from None
    if not asked:
        raise click.BadParameter(f"{text!r} names no item.", param_hint="--items")
    outside = next((item for item in asked if not 0 <= item < there), None)
    if outside is not None:
        raise InvalidInput("bad_environment", f"{environment} has {there:,} items, 0 to {there - 1}; "
                           f"--items {text} asks for {outside}.")
    return asked


def _player(settings: ModelSettings, local: Path | None, top_p: float) -> Any:
    """Who plays. Raises InvalidInput, Unavailable."""
    if local is not None:
        return LocalPolicy.load(local, temperature=settings.temperature, top_p=top_p)
    if settings.kind == "openai":
        model = OpenAIModel(settings)
        return lambda task: model
    return PlannedModel


def _followed(run: Path, most_behind: int, settings: ModelSettings, top_p: float) -> Any:
    """The newest policy of a run. Raises InvalidInput, Unavailable."""
    return FollowedRun(run, most_behind, lambda folder, update: LocalPolicy.load(
        folder, name=run.name, version=update, temperature=settings.temperature, top_p=top_p))


def _play(home: Home, policy: Any, tasks: Sequence[Task], model: ModelSettings, as_json: bool, **how: Any
          ) -> list[Rollout]:
    async def play() -> list[Rollout]:
        async with await session_log(home) as log:
            return await roll_out(policy, tasks, log=log, settings=AgentSettings(model=model),
                                  on_end=_teller(as_json), **how)

    return asyncio.run(play())


async def session_log(home: Home) -> SessionLog:
    """Where sessions of this process are logged: through the server where one runs, else straight into the log, once
    no other command writes there."""
    found = await hold_or_find(home, on_wait=note)
    if not isinstance(found, Endpoint):
        return StoreLog(home, found)
    return ServerLog(found.url, home.admin_token.read_text().strip(), partial(address_now, home, found.url))


def _teller(as_json: bool) -> Callable[[Rollout], None]:
    """Prints each roll-out when it is over."""

    def tell(one: Rollout) -> None:
        item = one.task.environment.item if one.task.environment else 0
        if as_json:
            emit({"session": one.session, "group": one.group, "item": item, "score": one.score, "reward": one.reward,
                  "steps": one.steps, "state": one.state, "reason": one.reason, "tokens": one.tokens,
                  "rows": len(one.rows), "policy_versions": one.versions, "errors": len(one.errors),
                  "unsampled": len(one.unsampled), "people": {str(k): v for k, v in one.people.items()}})
        else:
            score = "not scored" if one.score is None else f"score {one.score:g}"
            say(f"{one.session}  item {item}  {one.state} ({one.reason})  {counted(one.steps, 'step')}  {score}")

    return tell


def _say_sum(ended: Sequence[Rollout], as_json: bool) -> None:
    """What was reached in all, on stderr where lines are for programs."""
    own = [one for one in ended if not one.people]
    scores = [one.score for one in own if one.score is not None]
    tell = note if as_json else say
    mean = f"mean score {sum(scores) / len(scores):.1f}" if scores else "no score"
    solved = sum(score >= 100 for score in scores)
    tell(f"{counted(len(own), 'roll-out')}, {counted(sum(one.steps for one in own), 'step')}, {mean}, {solved:,} solved"
         + (f"; {len(ended) - len(own):,} more that people took over" if len(own) < len(ended) else ""))
    missing = sum(len(one.unsampled) for one in ended)
    if missing:
        why = next(iter(next(one for one in ended if one.unsampled).unsampled.values()))
        tell(f"{counted(missing, 'answer')} without tokens to learn from: {why}")
