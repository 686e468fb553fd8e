"""`tiphys run`: a session on a task of the catalogue, or of a folder."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from core.cli.allow import allow_key, allow_task
from core.cli.new_session import create
from core.cli.output import emit, json_option, note, say
from core.cli.printed_json import session_line
from core.cli.private_server import served
from core.cli.watch import event_line, watch_to_end
from core.domain.events import Event
from core.domain.gain import gain_of
from core.domain.host_rights import rights_of
from core.domain.plural import counted
from core.domain.task import AgentSettings, ModelSettings
from core.domain.trajectory import Trajectory
from core.store.endpoint import serving
from core.store.home import Home
from core.tasks.catalogue import Catalogue


@click.command()
@click.argument("task")
@click.option("--model", default="", help="The model's name at its endpoint; without one, the task's own settings.")
@click.option("--base-url", default="", help="Its OpenAI-compatible endpoint.")
@click.option("--key-env", default="OPENAI_API_KEY", show_default=True, help="The variable that holds the key.")
@click.option("--local", type=click.Path(path_type=Path), help="The folder of a model to run here (training extra).")
@click.option("--text-actions", is_flag=True, help="For models without tool calls: actions as plain text.")
@click.option("--unconfined", is_flag=True, help="Without Docker: let the agent work on THIS computer, unconfined.")
@click.option("--allow", is_flag=True, help="Allow the task what it asks of this computer, as it is now.")
@click.option("--wait", is_flag=True, help="Wait for the end and print every step.")
@json_option
def run(
    task: str, model: str, base_url: str, key_env: str, local: Path | None, text_actions: bool, unconfined: bool,
    allow: bool, wait: bool, as_json: bool,
) -> int:
    """Start a session on TASK, an id of `tiphys tasks`.

    What its file asks of this computer is refused, by name, until it is allowed; what is chosen here is a word.

    Where no server runs, a private one is started and the command waits for the session's end.
    """
    home = Home.default()
    chosen = ModelSettings(kind="local" if local else "openai", name=str(local.resolve() if local else model),
                           base_url=base_url, key_env=key_env if model else "",
                           actions="text" if text_actions else "native")
    settings = agent_settings(home, task, chosen if local or model else None, unconfined)
    if model and key_env:
        allow_key(f"{key_env}={base_url}")
    if allow:
        allow_what_is_asked(home, task, settings)
    stays = serving(home) is not None
    with served(home):
        session = create(home, task, settings)
        if stays and not wait:
            emit({"session": session, "task": task}) if as_json else say(session)
            return 0
        note(f"Session {session}; it ends by itself, or with: tiphys stop {session}")
        return wait_for_end(home, session, as_json)


def agent_settings(home: Home, task: str, model: object, unconfined: bool) -> AgentSettings:
    """The task's own agent settings with what the caller chose instead. Raises NotFound."""
    settings = Catalogue.of(home.path).find(task).agent
    changes: dict[str, object] = {"model": model} if model else {}
    if unconfined:
        changes |= {"sandbox": "local", "confirmed_unconfined": True}
    return msgspec.structs.replace(settings, **changes)


def allow_what_is_asked(home: Home, task: str, settings: AgentSettings) -> None:
    """Remember a person's word for what a session of these settings asks, and repeat it. Raises NotFound."""
    rights = rights_of(Catalogue.of(home.path).find(task).task, settings)
    for right in rights:
        note(f"Allowed to {task}: {right.sentence}")
    allow_task(task, rights)


def wait_for_end(home: Home, session: str, as_json: bool) -> int:
    """Print every step until the end; the exit status is 0 for a finished session."""
    def show(trajectory: Trajectory, event: Event) -> None:
        line = event_line(trajectory, event)
        if line and not as_json:
            say(line)

    ended = watch_to_end(home, session, show)
    if as_json:
        emit(session_line(ended.row))
    else:
        say(f"{ended.row.state} ({ended.row.reason}), {counted(ended.row.steps, 'step')}, {_score(ended)}")
    return 0 if ended.row.state == "finished" else 1


def _score(ended: Trajectory) -> str:
    last = ended.scores[-1] if ended.scores else None
    if last and last.failed:
        return f"not scored: {last.message}"
    gain = gain_of(ended.created.task, last) if last and ended.created else None
    return f"score {ended.row.score}{f', {gain.words}' if gain else ''}"
