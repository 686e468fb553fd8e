"""`tiphys allow`: what tasks may take of this computer. A task's file cannot say it; who runs the server does."""

from __future__ import annotations

from collections.abc import Sequence

import click

from core.cli.log_access import reading
from core.cli.output import emit, json_option, say, table
from core.domain.errors import Conflict, NotFound
from core.domain.events import SessionCreated
from core.domain.host_rights import HostRight, key_right, rights_of
from core.store import log
from core.store.home import Home
from core.tasks.allowances import Allowances
from core.tasks.catalogue import Catalogue


@click.group()
def allow() -> None:
    """Allow tasks what they ask of this computer, list it, and take it back."""


@allow.command()
@click.argument("task")
@click.option("--digest", default="", help="Only if the folder still holds what it held with this digest.")
@click.option("--kind", "kinds", multiple=True, help="Only this kind of right (several times: these).")
@json_option
def task(task: str, digest: str, kinds: tuple[str, ...], as_json: bool) -> None:
    """Allow what TASK, an id of `tiphys tasks`, asks for, as long as its folder stays as it is."""
    home = Home.default()
    entry = Catalogue.of(home.path).find(task)
    rights = [r for r in rights_of(entry.task, entry.agent) if not kinds or r.kind in kinds]
    allow_task(task, rights, digest)
    _tell("task", task, rights, as_json)


@allow.command()
@click.argument("session")
@json_option
def session(session: str, as_json: bool) -> None:
    """Allow what SESSION, which was made elsewhere or whose task has changed, asks for."""
    home = Home.default()
    with reading(home) as conn:
        first = log.read(conn, session, 0, 1)
    created = first[0].event.fact if first else None
    if not isinstance(created, SessionCreated):
        raise NotFound("no_session", f"There is no session {session}.", session=session)
    rights = rights_of(created.task, created.agent)
    digest = Catalogue.of(home.path).digest(created.task.id)
    _allowances().allow_session(session, created.task.id, digest, rights)
    _tell("session", session, rights, as_json)


@allow.command()
@click.argument("pair", metavar="VARIABLE=URL")
@json_option
def key(pair: str, as_json: bool) -> None:
    """Allow the value of VARIABLE to be sent to the endpoint URL, for whatever task."""
    _tell("key", pair, [allow_key(pair)], as_json)


@allow.command()
@click.argument("name", metavar="NAME[:PORT]")
@json_option
def name(name: str, as_json: bool) -> None:
    """Let hosts that have a network, and builds, also reach NAME, whose address is private: a mirror of the lab's."""
    _tell("name", name, [_allowances().allow_name(name)], as_json)


@allow.command(name="list")
@json_option
def list_grants(as_json: bool) -> None:
    """List what was allowed."""
    grants = _allowances().grants()
    if as_json:
        for grant in grants:
            emit(grant)
    else:
        table(("allowed to", "what", "when"),
              [(g.session or g.task or "every task", ", ".join(r.sentence for r in g.rights), g.at) for g in grants])


@allow.command()
@click.argument("name")
@json_option
def revoke(name: str, as_json: bool) -> None:
    """Take back what was allowed to the task, the session, the variable or the name NAME."""
    count = _allowances().revoke(name)
    emit({"name": name, "revoked": count}) if as_json else say(f"{name}: {count} taken back.")


def allow_key(pair: str) -> HostRight:
    """Remember VARIABLE=URL; without a URL the usual endpoint. Raises InvalidInput."""
    variable, _, url = pair.partition("=")
    right = key_right(variable, url)
    _allowances().allow_key(right.name, right.endpoint)
    return right


def allow_task(task: str, rights: Sequence[HostRight], digest: str = "") -> None:
    """Remember these rights of a catalogue's task. Raises Conflict (task_changed) where its folder holds else."""
    if not rights:
        return
    now = Catalogue.of(Home.default().path).digest(task)
    if digest and digest != now:
        raise Conflict("task_changed", f"The folder of task {task} changed since it was looked at.", task=task)
    _allowances().allow_task(task, now, rights)


def _allowances() -> Allowances:
    return Allowances(Home.default().allowed)


def _tell(what: str, name: str, rights: Sequence[HostRight], as_json: bool) -> None:
    if as_json:
        emit({what: name, "allowed": rights})
        return
    for right in rights:
        say(f"{name}: {right.sentence}")
    if not rights:
        say(f"{name} asks for nothing of this computer.")
