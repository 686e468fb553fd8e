"""`tiphys attach`: an agent that somebody starts here, outside our sandboxes, with a session at its model endpoint."""

from __future__ import annotations

import http.client
import os
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

import click
import msgspec

from core.agents.external import GATEWAY_FILE, GatewayAddress
from core.cli.allow import allow_key
from core.cli.attach_acp import Permissions, speak
from core.cli.log_access import do, reading
from core.cli.new_session import create
from core.cli.output import note, say
from core.cli.private_server import served
from core.domain.errors import InvalidInput, NotFound, Unavailable
from core.domain.plural import counted
from core.domain.session import FINAL_STATES, SessionRow
from core.domain.task import AgentSettings, Limits, ModelSettings, Task
from core.gateway.recipe import GENERAL_ENVIRONMENT, Recipe, RecipeValues, names, recipe_named, recipe_of
from core.protocol.operations import Control
from core.store import log
from core.store.home import Home

_ENDPOINTS = {
    "anthropic": ("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    "chat": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "responses": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "gemini": ("https://generativelanguage.googleapis.com", "GEMINI_API_KEY"),
}
"""Where the makers' own models are, and the variable that holds the key, by dialect."""

_OPENS_S = 60.0
"""So long a session's gateway may take until it listens."""
_ENDS_S = 60.0


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--recipe", default="", help="The agent, where its command does not say which it is.")
@click.option("--dialect", type=click.Choice([*_ENDPOINTS]), help="What it speaks, where there is no recipe.")
@click.option("--base-url", default="", help="The real endpoint, where it is not the maker's own.")
@click.option("--key-env", default="", help="The variable that holds the endpoint's key; the agent does not see it.")
@click.option("--model", default="default", show_default=True, help="The model's name, as the session shows it.")
@click.option("--title", default="", help="What the session is called.")
@click.option("--samples", is_flag=True, help="COMMAND works on several samples: each is a session of its own.")
@click.option("--acp", is_flag=True, help="COMMAND speaks the Agent Client Protocol: it is prompted from here.")
@click.option("--prompt", default="", help="With --acp: what it is to do.")
@click.option("--permissions", type=click.Choice(["ask", "desktop", "allow", "reject"]), default="ask",
              show_default=True, help="With --acp: who answers when it asks for leave; each answer is noted.")
@click.option("--stay", is_flag=True, help="With --acp: wait for advice after its turns, until a person stops it.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def attach(recipe: str, dialect: str | None, base_url: str, key_env: str, model: str, title: str,
           samples: bool, acp: bool, prompt: str, permissions: Permissions, stay: bool, command: tuple[str, ...]
           ) -> int:
    """Start COMMAND, an agent that is not ours, here, with its model endpoint pointed to a new session.

    It runs UNCONFINED, as any program of yours. The session ends when it ends; its exit status is the command's.
    """
    if bool(prompt) != acp:
        raise InvalidInput("no_prompt", "--acp wants a --prompt, and nothing else reads one.")
    settings = _settings(recipe or _recipe_for(command[0]), dialect or "", base_url, key_env, model, samples)
    task = _task(title or (prompt or " ".join(command))[:200], prompt)
    if settings.model.key_env:
        allow_key(f"{settings.model.key_env}={settings.model.base_url}")
    home, known = Home.default(), recipe_of(settings)
    with served(home):
        session = create(home, task, settings)
        note(f"Session {session}: {known.title} runs UNCONFINED, with all the rights of this user.")
        if known.files and not known.attached:
            note(f"It may read its endpoint from {', '.join(known.files)}, which stay as they are.")
        address = _address_or_end(home, session)
        filling = _values(address)
        environment = _environment(known, filling, settings.model.key_env)
        if known.attached and _recipe_for(command[0]) == settings.recipe:
            command = (command[0], *map(filling.fill, known.attached), *command[1:])
        status = 1  # of an agent that could not be started, or not be spoken to: its session ends all the same
        try:
            if acp:
                status = speak(command, environment, address, prompt, permissions, stays=stay)
            else:
                status = _run(command, environment)
        finally:
            _tell_end(address, status)
            ended = _state_when_over(home, session)
    if not ended:
        raise InvalidInput("not_ended", f"Session {session} has not ended yet.")
    say(f"{session}: {ended}")
    return status


def _recipe_for(program: str) -> str:
    """The recipe whose command is a program's, "" where there is none."""
    name = Path(program).name
    return next((one for one in names() if name in [
        part.split()[0] for part in recipe_named(one).command.split("&&") if part.strip()]), "")


def _settings(recipe: str, dialect: str, base_url: str, key_env: str, model: str, samples: bool) -> AgentSettings:
    spoken = dialect or (recipe_named(recipe).dialect if recipe else "")
    if not spoken:
        raise InvalidInput("no_dialect", "Nobody knows what this command speaks: say --dialect or --recipe.")
    own_url, own_key = _ENDPOINTS[spoken]
    endpoint = ModelSettings(kind="endpoint", name=model, base_url=base_url or own_url,
                             key_env=key_env or ("" if base_url else own_key))
    return AgentSettings(kind="external", recipe=recipe, dialect=spoken, model=endpoint,  # type: ignore[arg-type]
                         is_attached=True, samples=samples, sandbox="local", confirmed_unconfined=True)


def _task(title: str, prompt: str) -> Task:
    return Task(id="attached", title=title, description=prompt or title, limits=Limits(steps=None, evaluations=None))


def _address_or_end(home: Home, session: str) -> GatewayAddress:
    """Where the gateway listens; where it does not, the session ends, for no agent will ever come to it."""
    try:
        return _address(home, session)
    except (Unavailable, KeyboardInterrupt):
        if _row(home, session).state not in FINAL_STATES:
            do(session, Control(control="stop"), home)
            _state_when_over(home, session)
        raise


def _address(home: Home, session: str) -> GatewayAddress:
    """Where the session's gateway listens, once its runner says so. Raises Unavailable with what it says instead."""
    path = home.sessions / session / GATEWAY_FILE
    until = time.monotonic() + _OPENS_S
    while time.monotonic() < until:
        if path.is_file():
            return msgspec.json.decode(path.read_bytes(), type=GatewayAddress)
        row = _row(home, session)
        if row.state == "failed":
            raise Unavailable("agent_not_attached", f"The session has failed: {row.reason}; see {path.parent}.")
        time.sleep(0.1)
    raise Unavailable("agent_not_attached", f"The session's gateway did not open; see {path.parent}.")


def _values(address: GatewayAddress) -> RecipeValues:
    return RecipeValues(gateway=address.url, token=address.token, model="", task="", workspace=os.getcwd())  # noqa: PTH109


def _environment(recipe: Recipe, filling: RecipeValues, key_env: str) -> dict[str, str]:
    """This program's variables without the endpoint's key, and with those that point the agent to the session."""
    ours = {name: value for name, value in os.environ.items() if name != key_env}
    return ours | {name: filling.fill(value) for name, value in {**GENERAL_ENVIRONMENT, **recipe.env}.items()}


def _run(command: tuple[str, ...], environment: dict[str, str]) -> int:
    """The command with its variables, on this terminal; its exit status."""
    try:
        return subprocess.run(command, env=environment, check=False).returncode
    except OSError as error:
        raise NotFound("no_program", f"{command[0]} cannot be started: {error.strerror}.") from error


def _tell_end(address: GatewayAddress, status: int) -> None:
    """Tell the session that its agent has ended; a session that is over already needs no word."""
    connection = http.client.HTTPConnection(urlsplit(address.url).netloc, timeout=30)
    try:
        connection.request("POST", "/tiphys/ended", str(status), {"Authorization": f"Bearer {address.token}"})
        connection.getresponse().read()
    except OSError as error:
        note(f"The session could not be told of the end: {error}")
    finally:
        connection.close()


def _state_when_over(home: Home, session: str) -> str:
    """The session's final state in words, "" where it does not end in time."""
    until = time.monotonic() + _ENDS_S
    while time.monotonic() < until:
        row = _row(home, session)
        if row.state in FINAL_STATES:
            return f"{row.state} ({row.reason}), {counted(row.steps, 'step')}"
        time.sleep(0.1)
    return ""


def _row(home: Home, session: str) -> SessionRow:
    with reading(home) as conn:
        return log.row(conn, session)
