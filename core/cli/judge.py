"""`tiphys judge`: verdicts that rules and a model propose."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click
import msgspec

from core.cli.log_access import reading, trajectory
from core.cli.number import Number, Whole
from core.cli.options import endpoint_options
from core.cli.output import emit, json_option, note, say
from core.cli.propose_verdicts import propose_by_rules, rules_option, step_bodies, store_verdicts
from core.domain.events import Event
from core.domain.plural import counted
from core.domain.task import ModelSettings
from core.llm.kinds import open_model
from core.store.home import Home
from core.supervision.judge import Estimate, Judge, JudgeSettings
from core.supervision.opinions import OpinionCache
from core.workers.judge import JudgeLine


@click.command()
@click.argument("session")
@click.option("--rules-only", is_flag=True, help="Do not ask a model, even where one is configured.")
@rules_option
@click.option("--model", "model_name", default="", help="The model that judges.")
@endpoint_options
@click.option("--max-score", default=100.0, show_default=True, type=Number(0, 1e9, min_open=True),
              help="The highest score of the task.")
@click.option("--context", default=60_000, show_default=True, type=Whole(1),
              help="Tokens of turns that the model is shown at once.")
@click.option("--before", default=20, show_default=True, type=Whole(0),
              help="Steps before a guidance that are held against it.")
@click.option("--temperature", default=0.0, show_default=True, type=Number(0, 100),
              help="0: the likeliest answer, the same each time.")
@click.option("--prices", type=(Number(0, 1e6), Number(0, 1e6)), default=None, metavar="IN OUT",
              help="USD per million tokens.")
@click.option("--estimate", is_flag=True, help="Say what the model would be asked, and ask nothing.")
@json_option
def judge(session: str, rules_only: bool, rules_folder: Path | None, model_name: str, base_url: str, key_env: str,
          max_score: float, context: int, before: int, temperature: float,
          prices: tuple[float, float] | None, estimate: bool, as_json: bool) -> None:
    """Let the rules, and a model where one is named, propose verdicts for the steps of SESSION."""
    home = Home.default()
    given = prices or (None, None)
    model = ModelSettings(kind="openai", name=model_name, base_url=base_url, key_env=key_env, input_price=given[0],
                          output_price=given[1])
    settings = JudgeSettings(max_score=max_score, context_tokens=context, before=before, temperature=temperature)
    if estimate:
        _print_estimate(home, session, model, settings, as_json)
        return
    proposed = propose_by_rules(home, session, rules_folder)
    if model_name and not rules_only:
        proposed += _propose_by_model(home, session, model, settings)
    elif not rules_only:
        note("No model was named (--model): only the rules judged.")
    masked = sum(getattr(e.fact, "value", "") == "mask" for e in proposed)
    if as_json:
        emit(JudgeLine(session=session, verdicts=len(proposed), masked=masked))
    else:
        say(f"{counted(len(proposed), 'new verdict')}, of which {masked} mask.")


def _propose_by_model(home: Home, session: str, model: ModelSettings, settings: JudgeSettings) -> list[Event]:
    """Ask a language model about every step; what it says of a window is stored before the next one is asked about."""
    async def asked() -> list[Event]:
        opened = open_model(model)
        proposed: list[Event] = []
        try:
            asker = Judge(opened, settings, OpinionCache(home.path / "cache" / "judge"))
            note(_in_words(asker.estimate(judged, body_of, model.input_price, model.output_price)))
            windows = asker.verdicts(judged, body_of, lambda done, of: note(f"judged {done} of {of} windows"))
            async for events in windows:
                proposed += await store_verdicts(home, judged, events)
        finally:
            await opened.close()
        return proposed

    with reading(home) as conn:
        judged, body_of = trajectory(conn, session), step_bodies(conn)
        return asyncio.run(asked())


def _print_estimate(home: Home, session: str, model: ModelSettings, settings: JudgeSettings, as_json: bool) -> None:
    with reading(home) as conn:
        asker = Judge(open_model(model), settings, OpinionCache(home.path / "cache" / "judge"))
        estimate = asker.estimate(trajectory(conn, session), step_bodies(conn), model.input_price, model.output_price)
    emit({"session": session, **msgspec.structs.asdict(estimate)}) if as_json else say(_in_words(estimate))


def _in_words(estimate: Estimate) -> str:
    cost = "" if estimate.cost_usd is None else f", about {estimate.cost_usd:.4f} USD"
    return (f"{estimate.windows} windows to judge ({estimate.cached} known already): about "
            f"{counted(estimate.input_tokens, 'token')} in and {estimate.output_tokens:,} out{cost}.")
