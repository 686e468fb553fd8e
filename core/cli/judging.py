"""`tiphys judge`, `tiphys rules` and `tiphys agreement`: what rules and a model propose, and how far to trust them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from core.cli.output import emit, json_option, note, say, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from core.domain.events import Event
    from core.domain.step import StepBody
    from core.domain.task import ModelSettings
    from core.domain.trajectory import Trajectory
    from core.store.home import Home
    from core.store.sqlite import Connection
    from core.supervision.agreement import Agreement
    from core.supervision.judge import JudgeSettings
    from core.supervision.rule import Rule

_rules_option = click.option("--rules", "rules_folder", type=click.Path(path_type=Path, file_okay=False),
                             help="Folder of rules.toml and own rules (default: rules in the home).")


@click.command()
@click.argument("session")
@click.option("--rules-only", is_flag=True, help="Do not ask a model, even where one is configured.")
@_rules_option
@click.option("--model", "model_name", default="", help="The model that judges.")
@click.option("--base-url", default="", help="Its OpenAI-compatible endpoint.")
@click.option("--key-env", default="", help="The environment variable that holds its key.")
@click.option("--max-score", default=100.0, show_default=True, help="The highest score of the task.")
@click.option("--context", default=60_000, show_default=True, help="Tokens of turns that the model is shown at once.")
@click.option("--before", default=20, show_default=True, help="Steps before a guidance that are held against it.")
@click.option("--prices", type=(float, float), default=None, metavar="IN OUT", help="USD per million tokens.")
@click.option("--estimate", is_flag=True, help="Say what the model would be asked, and ask nothing.")
@json_option
def judge(session: str, rules_only: bool, rules_folder: Path | None, model_name: str, base_url: str, key_env: str,
          max_score: float, context: int, before: int, prices: tuple[float, float] | None, estimate: bool,
          as_json: bool) -> None:
    """Let the rules, and a model where one is named, propose verdicts for the steps of SESSION."""
    from core.domain.task import ModelSettings
    from core.store.home import Home
    from core.supervision.judge import JudgeSettings

    home = Home.default()
    given = prices or (None, None)
    model = ModelSettings(kind="openai", name=model_name, base_url=base_url, key_env=key_env, input_price=given[0],
                          output_price=given[1])
    settings = JudgeSettings(max_score=max_score, context_tokens=max(1, context), before=max(0, before))
    if estimate:
        _tell_estimate(home, session, model, settings, as_json)
        return
    proposed = propose_by_rules(home, session, rules_folder)
    if model_name and not rules_only:
        proposed += _propose_by_model(home, session, model, settings)
    elif not rules_only:
        note("No model was named (--model): only the rules judged.")
    masked = sum(getattr(e.fact, "value", "") == "mask" for e in proposed)
    if as_json:
        emit({"session": session, "verdicts": len(proposed), "masked": masked})
    else:
        say(f"{len(proposed)} new verdicts, {masked} of them mask.")


@click.command()
@_rules_option
@click.option("--task", default="", help="As they are for the sessions of this task.")
@json_option
def rules(rules_folder: Path | None, task: str, as_json: bool) -> None:
    """List the rules with their settings: the program's own and those of your folder."""
    from core.store.home import Home

    for rule in rules_for(Home.default(), task, rules_folder):
        if as_json:
            emit({"rule": rule.name, "version": rule.version, "enabled": rule.enabled, "about": rule.about,
                  "settings": rule.settings})
            continue
        say(f"{rule.name} {rule.version}{'' if rule.enabled else ' (off)'}")
        for name, value in rule.settings.items():
            say(f"    {name} = {value}")
        say(f"    {rule.about}")


@click.command()
@click.argument("sessions", nargs=-1)
@_rules_option
@json_option
def agreement(sessions: tuple[str, ...], rules_folder: Path | None, as_json: bool) -> None:
    """Hold rules and judges against people on SESSIONS (default: all), people against each other, and say what each
    rule changes, or would if it were switched on."""
    import msgspec

    from core.cli.store import reading, trajectory
    from core.store import log
    from core.store.home import Home
    from core.supervision.agreement import agreement as compare
    from core.supervision.agreement import effects

    home = Home.default()
    with reading(home) as conn:
        named = sessions or [r.session for r in log.rows(conn) if log.head(conn, r.session)]
        told = [trajectory(conn, s) for s in named]
        chosen = [rules_for(home, _task_of(t), rules_folder) for t in told]
        result = msgspec.structs.replace(compare(told), rules=tuple(effects(told, bodies(conn), chosen)))
    emit(result) if as_json else _tell_agreement(result)


def propose_by_rules(home: Home, session: str, folder: Path | None = None) -> list[Event]:
    """Let every rule judge the session and store what it says anew."""
    from core.cli.store import reading, trajectory
    from core.supervision.propose import propose

    with reading(home) as conn:
        told = trajectory(conn, session)
        proposed = propose(told, bodies(conn), rules_for(home, _task_of(told), folder))
    give_verdicts(home, session, proposed)
    return proposed


def rules_for(home: Home, task: str, folder: Path | None = None) -> list[Rule]:
    """The rules of a folder (default: the home's) for a task. Raises InvalidInput."""
    from core.supervision.rule_book import rules_of

    return rules_of(folder or home.path / "rules", task)


def bodies(conn: Connection) -> Callable[[str], StepBody | None]:
    """Step bodies by hash, None where the log does not hold one."""
    from core.domain.step import decode_body
    from core.store import blobs

    return lambda name: decode_body(blobs.get(conn, name)) if blobs.holds(conn, name) else None


def give_verdicts(home: Home, session: str, proposed: Sequence[Event]) -> None:
    """Store verdicts under their own authors (rules, judges)."""
    import asyncio

    asyncio.run(_give(home, session, proposed))


async def _give(home: Home, session: str, proposed: Sequence[Event]) -> None:
    from core.domain.events import VerdictGiven
    from core.protocol.messages import GiveVerdict
    from core.server.authority import Authority

    if not proposed:
        return
    async with Authority(home) as authority:
        for event in proposed:
            if isinstance(event.fact, VerdictGiven):
                fact = event.fact
                await authority.do(session, GiveVerdict(step=fact.step, value=fact.value, reason=fact.reason,
                                                        author=event.author))


def _task_of(trajectory: Trajectory) -> str:
    return trajectory.created.task.id if trajectory.created else ""


def _propose_by_model(home: Home, session: str, model: ModelSettings, settings: JudgeSettings) -> list[Event]:
    """Ask a language model about every step; what it says of a window is stored before the next one is asked about."""
    import asyncio

    from core.cli.store import reading, trajectory
    from core.llm.kinds import open_model
    from core.supervision.judge import Judge
    from core.supervision.opinions import OpinionCache

    async def asked() -> list[Event]:
        opened = open_model(model)
        proposed: list[Event] = []
        try:
            asker = Judge(opened, settings, OpinionCache(home.path / "cache" / "judge"))
            note(_in_words(asker.estimate(told, body_of, model.input_price, model.output_price)))
            async for events in asker.verdicts(told, body_of, lambda done, of: note(f"judged {done} of {of} windows")):
                await _give(home, session, events)
                proposed += events
        finally:
            await opened.close()
        return proposed

    with reading(home) as conn:
        told, body_of = trajectory(conn, session), bodies(conn)
        return asyncio.run(asked())


def _tell_estimate(home: Home, session: str, model: ModelSettings, settings: JudgeSettings, as_json: bool) -> None:
    import msgspec

    from core.cli.store import reading, trajectory
    from core.llm.kinds import open_model
    from core.supervision.judge import Judge
    from core.supervision.opinions import OpinionCache

    with reading(home) as conn:
        asker = Judge(open_model(model), settings, OpinionCache(home.path / "cache" / "judge"))
        told = asker.estimate(trajectory(conn, session), bodies(conn), model.input_price, model.output_price)
    emit({"session": session, **msgspec.structs.asdict(told)}) if as_json else say(_in_words(told))


def _in_words(told: object) -> str:
    from core.supervision.judge import Estimate

    assert isinstance(told, Estimate)
    cost = "" if told.cost_usd is None else f", about {told.cost_usd:.4f} USD"
    return (f"{told.windows} windows to judge ({told.cached} known already): about {told.input_tokens:,} tokens in and "
            f"{told.output_tokens:,} out{cost}.")


def _tell_agreement(told: Agreement) -> None:
    say(f"{told.sessions} sessions, {told.steps} steps, {told.decided} decided by people.")
    table(["source", "masks", "judged", "confirmed", "precision", "missed", "kappa"],
          [[s.source, s.masks, s.judged, s.confirmed, s.precision, s.missed, s.kappa] for s in told.sources])
    table(["person", "person", "steps", "agreement", "kappa"],
          [[p.first, p.second, p.steps, p.raw, p.kappa] for p in told.pairs])
    table(["person", "decided", "looked at", "active time", "median a step"],
          [[p.person, p.decided, p.looked_at, _minutes(p.seconds), "–" if p.each is None else f"{p.each:g} s"]
           for p in told.times])
    say(f"Krippendorff's alpha of all people: {'–' if told.alpha is None else format(told.alpha, '.3f')}")
    table(["rule", "on", "finds", "would mask", "overruled"],
          [[r.rule, "yes" if r.enabled else "no", r.found, r.would_mask, r.overruled] for r in told.rules])


def _minutes(seconds: float) -> str:
    """0:42:05."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
