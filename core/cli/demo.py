"""`tiphys demo`: the demonstration, live in the desktop, or the whole way without a display."""

from __future__ import annotations

import subprocess

import click

from core import program
from core.cli.demo_headless import run_headless
from core.cli.demo_session import settings_of, start_session, stop_session
from core.cli.desktop import check_display
from core.cli.doctor import docker_engine
from core.cli.number import Whole
from core.cli.output import emit, json_option, note, say
from core.cli.private_server import served
from core.domain.errors import Unavailable
from core.llm.smollm2 import LAYERS
from core.store.home import Home


@click.command()
@click.option("--headless", is_flag=True, help="No window: session, verdicts, export, training, screenshots.")
@click.option("--unconfined", is_flag=True, help="Without Docker: let the scripted agent work on THIS computer.")
@click.option("--layers", default=LAYERS, show_default=True, type=Whole(1, LAYERS),
              help="Train only so many of SmolLM2's layers, the first ones: quicker, and nothing is learnt.")
@click.option("--check", is_flag=True, help="Only say whether its agent has somewhere to work.")
@click.option("--train-steps", default=1, show_default=True, type=Whole(1, 1000))
@json_option
def demo(headless: bool, unconfined: bool, layers: int, check: bool, train_steps: int, as_json: bool) -> int:
    """Run the demonstration: a scripted agent errs, a person's guidance sets it right. No key or model is needed."""
    home = Home.default()
    if headless or check:
        check_sandbox(unconfined)
    if check:
        return _tell_settings(unconfined, as_json)
    if headless:
        return run_headless(home, unconfined, train_steps, layers, as_json)
    return _in_the_desktop(home, unconfined)


def _tell_settings(unconfined: bool, as_json: bool) -> int:
    """What its session is started with."""
    task, settings = settings_of(unconfined)
    where = "without a sandbox" if unconfined else "in a Docker container"
    emit({"task": task, "agent": settings}) if as_json else say(f"The demonstration's agent can work here, {where}.")
    return 0


def _in_the_desktop(home: Home, unconfined: bool) -> int:
    """Until the window is closed. Without an engine the window opens all the same, and asks."""
    check_display()
    try:
        check_sandbox(unconfined)
    except Unavailable as error:
        note(error.sentence)
        return subprocess.run(program.command("desktop", "--demonstration"), check=False).returncode
    with served(home):
        session = start_session(home, unconfined)
        note(f"Demonstration session {session}: look for its mistake, and guide it.")
        try:
            # A process of its own: when the display goes away, Qt ends its process at once, and we still tidy up.
            return subprocess.run(program.command("desktop", "--session", session), check=False).returncode
        finally:
            stop_session(home, session)


def check_sandbox(unconfined: bool) -> None:
    """Make sure that the agent has somewhere to work. Raises Unavailable with the way out."""
    engine = docker_engine()
    if not unconfined and not engine.works:
        raise Unavailable("no_docker", f"{engine.state} {engine.mend} Or let the scripted agent of the demonstration "
                          "work on this computer without a sandbox: tiphys demo --unconfined "
                          "(with make: make run UNCONFINED=1).")
