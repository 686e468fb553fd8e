"""`tiphys delete`: sessions go from the server and from every copy, after it was said what is lost with them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import Any

import click
import msgspec

from core.cli.log_access import writing
from core.cli.output import emit, json_option, note, say
from core.domain.errors import InvalidInput, Unavailable
from core.domain.losses import Losses
from core.domain.plural import counted
from core.protocol.operations import DeleteSession
from core.sandbox import reaper
from core.server.authority import Authority
from core.server.pool_file import engines_of
from core.store.home import Home


def yes_option(command: Any) -> Any:
    """The --yes flag."""
    return click.option("--yes", is_flag=True, help="Do not ask; for scripts.")(command)


@click.command()
@click.argument("sessions", nargs=-1, required=True, metavar="SESSION…")
@yes_option
@json_option
def delete(sessions: tuple[str, ...], yes: bool, as_json: bool) -> None:
    """Delete SESSIONs for good: their log, payloads, files, sandboxes, and the copies on other computers.

    It says what will be lost and asks. A session that is not over is refused: end it first (tiphys stop SESSION).
    """
    home = Home.default()
    lost = survey(home, sessions)
    if not as_json:
        tell_losses(home, lost)
    require_yes(lost, yes, as_json, "Delete")
    for one in delete_all(home, lost):
        emit(one) if as_json else say(f"Deleted {one.session}.")


def survey(home: Home, sessions: Sequence[str]) -> list[Losses]:
    """What would be lost with each. Raises as the deletion would; then nothing is deleted."""
    async def ask(authority: Authority) -> list[Losses]:
        return [_losses(await authority.do(one, DeleteSession())) for one in dict.fromkeys(sessions)]

    return writing(home, ask)


def delete_all(home: Home, lost: Sequence[Losses]) -> list[Losses]:
    """Delete what was surveyed, as far as nothing was added since. Raises Conflict (session_grew, session_running)."""
    async def ask(authority: Authority) -> list[Losses]:
        return [_losses(await authority.do(one.session, DeleteSession(head=one.head))) for one in lost]

    return writing(home, ask)


def tell_losses(home: Home, lost: Sequence[Losses]) -> None:
    """Say what goes with each session."""
    for one in lost:
        say(f"{one.session}  {one.title}")
        by = f" ({', '.join(one.people)})" if one.people else ""
        say(f"  steps: {one.steps:,}; opinions of people: {one.opinions:,}{by}; messages to the agent: "
            f"{one.guidance:,}; bytes: {one.bytes:,}{_sandboxes(home, one) if one.hosts else ''}")
    say("Copies on other computers go when these connect next; archives and backups that were made stay.")


def require_yes(lost: Sequence[Losses], yes: bool, as_json: bool, act: str) -> None:
    """Ask, unless it was said already. Raises InvalidInput (not_confirmed) where nobody can be asked, click.Abort."""
    if yes:
        return
    if as_json or not sys.stdin.isatty():
        raise InvalidInput("not_confirmed", f"Nobody can be asked whether to {act.lower()} them; add --yes.")
    click.confirm(f"{act} {counted(len(lost), 'session')} for good?", abort=True)


def _sandboxes(home: Home, one: Losses) -> str:
    """What the engine has of it; what the task asked for, where the engine does not say."""
    try:
        return f"; containers with their files: {asyncio.run(_count(home, one.session))}"
    except Unavailable as error:
        note(f"tiphys: {error.sentence} [{error.code}]")
        return f"; sandboxes, as soon as a container engine answers: {one.hosts}"


async def _count(home: Home, session: str) -> int:
    return await reaper.count(str(home.path), session, engines_of(home))


def _losses(result: dict[str, Any]) -> Losses:
    return msgspec.convert(result, Losses)
