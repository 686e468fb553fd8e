"""What a task may say of its services."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.domain.errors import InvalidInput
from core.domain.ids import is_id
from core.domain.task import AgentSettings, Health, Host, Program, Task, start_order

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}\Z")
_ACCOUNT = re.compile(r"[a-z0-9_][a-z0-9_-]{0,31}(?::[a-z0-9_][a-z0-9_-]{0,31})?\Z")
_PLACE = re.compile(r"(?:/[A-Za-z0-9_.-]{1,100}){0,20}\Z")
Wrong = tuple[str, object, str]
"""A field, its value, and what it must be."""


def check_services(task: Task, agent: AgentSettings) -> None:
    """Raises InvalidInput (bad_task) that names the field which nobody may give such a value."""
    for what, value, wanted in _wrong(task, agent):
        raise InvalidInput("bad_task", f"{what} of a task cannot be {str(value)[:80]!r}: it must be {wanted}.",
                           field=what)


def _wrong(task: Task, agent: AgentSettings) -> Iterator[Wrong]:
    own = (*task.hosts, *((task.evaluator.host,) if task.evaluator.host else ()))
    yield from (("hosts.program", host.name, "left out: only a service has one") for host in own if host.program)
    variables = [("evaluator", task.evaluator.environment), *(("hosts", host.environment) for host in task.containers)]
    for where, given in variables:
        for name, value in given.items():
            if not _VARIABLE.match(name) or "\0" in value:
                yield f"{where}.environment", name, "a variable's name, with a text"
    if task.evaluator.kind != "tests" and (task.evaluator.environment or task.evaluator.collects):
        yield "evaluator.environment", task.evaluator.kind, "left out, as `collects` is, where the kind is not `tests`"
    if set(task.evaluator.left_out) - set(task.evaluator.submission):
        yield "evaluator.left_out", [*task.evaluator.left_out], "of paths that are handed over"
    if not task.services:
        return
    names = [one.name.casefold() for one in (*own, *task.services)]
    if len(names) > 16 or len(set(names)) < len(names) or not all(map(is_id, names)) or max(map(len, names)) > 60:
        yield "services.name", ", ".join(names), "names of their own, plain and short, of 16 hosts and services at most"
    if not task.peers or agent.sandbox != "docker" or any(host.machine for host in task.hosts):
        yield "services", names[-1], "left out, where hosts are no containers that reach each other (`peers`)"
    for one in task.services:
        wrong = (*_of_host(one), *_of_program(one.program or Program(), task))
        yield from ((f"services.{one.name}.{field}", value, wanted) for field, value, wanted in wrong)
    try:
        start_order(task.services)
    except ValueError:
        yield "services.program.after", task.services[0].name, "without a circle"


def _of_host(one: Host) -> Iterator[Wrong]:
    if one.program is None or not (one.image or one.build):
        yield "image", one.image, "an image, where there is no `build`"
    if one.gpus or one.machine or one.user:
        yield "gpus", one.name, "left out, as `machine` and `user` (that of its `program`) are"
    if not _PLACE.match(one.workdir):
        yield "workdir", one.workdir, "an absolute path"


def _of_program(program: Program, task: Task) -> Iterator[Wrong]:
    texts = [*(program.entrypoint or ()), *(program.command or ())]
    yield from (("program", text, "plain text") for text in texts if "\0" in text)
    if program.user and not _ACCOUNT.match(program.user):
        yield "program.user", program.user, "an account of the image, or its number"
    if program.health:
        yield from _of_health(program.health)
    services = {one.name for one in task.services}
    for name, stage in program.after.items():
        if name not in services and (stage != "started" or name not in {host.name for host in task.hosts}):
            yield "program.after", name, "a service, or a host that is `started`"


def _of_health(health: Health) -> Iterator[Wrong]:
    if not health.command:
        yield "program.health.command", "", "a command"
    if not 1 <= health.retries <= 1000:
        yield "program.health.retries", health.retries, "a number from 1 to 1,000"
    for field, seconds, least in (("every_s", health.every_s, 0.1), ("timeout_s", health.timeout_s, 0.1),
                                  ("begins_s", health.begins_s, 0)):
        if not least <= seconds <= 3600:
            yield f"program.health.{field}", seconds, f"a number of seconds from {least:g} to 3,600"
