"""`tiphys show`: one session with its steps."""

from __future__ import annotations

import click

from core.cli.log_access import reading, seen_here
from core.cli.number import Whole
from core.cli.output import emit, json_option, say
from core.cli.printed_json import ShownSession, ShownStep, shown_session
from core.domain.gain import Gain
from core.domain.plural import counted
from core.store import blobs
from core.store.home import Home


@click.command()
@click.argument("session")
@click.option("--step", type=Whole(), help="This step only.")
@click.option("--context", is_flag=True, help="With the exact messages that the model was given.")
@json_option
def show(session: str, step: int | None, context: bool, as_json: bool) -> None:
    """Show SESSION with its steps, guidance, summaries and scores."""
    home = Home.default()
    with reading(home) as conn:
        found = seen_here(conn, home, session)
        shown = shown_session(found, lambda name: blobs.get(conn, name), step, context)
    emit(shown) if as_json else _print(shown)


def _print(shown: ShownSession) -> None:
    row = shown.row
    say(f"{row.title}  ({shown.session}, {row.origin})")
    say(f"{row.state}{f' ({row.reason})' if row.reason else ''}, {counted(row.steps, 'step')}, {row.errors:,} with an "
        "error")
    for step in shown.steps:
        _print_step(step, whole=len(shown.steps) == 1)
    for score in shown.scores:
        gain = "" if score["gain"] is None else f", {Gain(score['gain'], score['gain_ratio']).words}"
        say(f"submission {score['ordinal']} at step {score['step']}, "
            f"{'not scored' if score['failed'] else 'score {}'.format(score['total'])}{gain}: {score['message']}")
        for again in score["rescored"]:
            total = "not scored" if again["failed"] else f"score {again['total']}"
            say(f"  scored again by {again['evaluator']}, version {again['version']}: {total}: {again['message']}")
    for guidance in shown.guidance:
        at = f" at step {guidance.delivered_step}" if guidance.delivered_step else ""
        what = "guidance" if guidance.by_person else "words"
        say(f"{what} by {guidance.author}, {guidance.state}{at}: {guidance.text}")


def _print_step(step: ShownStep, whole: bool) -> None:
    mark = "✗" if step.is_error else "·"
    say(f"{step.number:>5} {mark} {step.verdict.final:<9} {step.title}")
    if not whole:
        return
    say(f"\n{step.thought}\n")
    for action in step.actions:
        say(f"→ {action.tool} {action.arguments}")
    for seen in step.observations:
        say(f"← {seen.status}{'' if seen.exit_code is None else f', exit code {seen.exit_code}'}\n{seen.text}")
    for message in step.context or ():
        say(f"[{message.role}, {counted(message.tokens, 'token')}] {message.content}")
