"""`tiphys branch`: sessions that go another way from a step of another on."""

from __future__ import annotations

import click

from core.cli.allow import allow_key
from core.cli.log_access import do
from core.cli.number import Whole
from core.cli.output import emit, json_option, say
from core.domain.ids import new_id
from core.domain.task import Budget, ModelSettings
from core.protocol.operations import BranchSession
from core.store.home import Home


@click.command()
@click.argument("session")
@click.option("--step", type=Whole(0), required=True, help="Go another way after it (0: from the start).")
@click.option("--without", multiple=True, metavar="GUIDANCE", help="Advice (its id) that the branch is not given.")
@click.option("--guide", "text", default="", help="Advice that the branch is given at its next step.")
@click.option("--model", default="", help="Another model's name at its endpoint.")
@click.option("--base-url", default="", help="Its OpenAI-compatible endpoint.")
@click.option("--key-env", default="OPENAI_API_KEY", show_default=True, help="The variable that holds its key.")
@click.option("--steps", type=Whole(1, 1_000_000), help="So many steps from there on.")
@click.option("--times", type=Whole(1, 100), default=1, show_default=True, help="So many, all alike.")
@click.option("--group", default="", help="Answer a question together with the branches of this group.")
@click.option("--arm", default="", help="Which side of that question: a word of yours.")
@click.option("--no-replay", is_flag=True, help="Do not take the steps since the snapshot again: tell the agent.")
@json_option
def branch(session: str, step: int, without: tuple[str, ...], text: str, model: str, base_url: str, key_env: str,
           steps: int | None, times: int, group: str, arm: str, no_replay: bool, as_json: bool) -> None:
    """Make sessions that share SESSION's past up to a step and go another way from there.

    Files and context come from the newest snapshot at that step or before it; the steps between are taken again with
    the recorded answers. What was done outside the sandboxes is not undone.
    """
    op = BranchSession(
        parent=session, step=step, without=without, guidance=new_id() if text else "", text=text,
        model=_model(model, base_url, key_env), more=Budget(steps=steps), replays=not no_replay,
        group=group or new_id(), arm=arm or _arm(without, text, model))
    made = make_branches(Home.default(), op, times)
    for name in made:
        emit({"session": name, "group": op.group, "arm": op.arm}) if as_json else say(name)
    if not as_json:
        say(f"Group {op.group}: tiphys compare {op.group}")


def make_branches(home: Home, op: BranchSession, times: int = 1) -> list[str]:
    """Make branches that are alike; gives their ids. Raises as the server's `branch` does."""
    names = [new_id() for _ in range(times)]
    for name in names:
        do(name, op, home)
    return names


def _arm(without: tuple[str, ...], text: str, model: str) -> str:
    """What the branches are called where nobody says."""
    words = [*(["without advice"] if without else []), *(["other advice"] if text else []), *([model] if model else [])]
    return ", ".join(words) or "again"


def _model(name: str, base_url: str, key_env: str) -> ModelSettings | None:
    if not name:
        return None
    if key_env:
        allow_key(f"{key_env}={base_url}")
    return ModelSettings(kind="openai", name=name, base_url=base_url, key_env=key_env)
