"""What a task and an agent's settings may say, whoever says it: a task's file, a client of the server, a log.

Names become names of files and containers, paths lie in the task's folder, numbers stay within bounds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from core.domain.errors import InvalidInput
from core.domain.host_rights import REACHED, is_absolute, rights_of
from core.domain.ids import is_id
from core.domain.task import AgentSettings, Evaluator, Host, Limits, ModelSettings, Task
from core.tasks.folder import check_path
from core.tasks.reader import Proof
from core.tasks.service_check import check_services

MAX_HOSTS, MAX_SUBMISSION = 16, 500
TITLE, DESCRIPTION, NAME = 500, 500_000, 300
"""Lengths in characters."""

TARGET = re.compile(r"(?:/[A-Za-z0-9_][A-Za-z0-9_. -]*){1,20}\Z")
SYSTEM = frozenset({"bin", "boot", "dev", "etc", "lib", "lib64", "opt", "proc", "root", "run", "sbin", "sys", "tmp",
                    "usr", "var", "workspace", "home", "shared"})
"""Where a host's data may appear, and which folders are its system's or the program's own."""
_ACCOUNT = re.compile(r"[a-z_][a-z0-9_-]{0,31}\Z")
_MODEL = re.compile(r"[\w.:/@+-]{1,300}\Z", re.ASCII)

_PART = re.compile(r"[A-Za-z0-9_.-]+")
_NEVER_OWNED = frozenset({"bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "run", "sbin", "sys", "tests",
                          "logs"})
_OWNED_BELOW = frozenset({"usr", "var", "opt"})
_SYSTEM_BELOW = frozenset({("usr", "bin"), ("usr", "lib"), ("usr", "sbin"), ("usr", "local"), ("usr", "share"),
                           ("var", "lib"), ("var", "run"), ("opt", "tiphys")})
"""Which folders of an image are nobody's to work in, and which only deeper down."""

Bound = tuple[str, float | None, float, float]
"""What a number is called, the number (None: not set), the least and the most that it may be."""


def check_task(task: Task, agent: AgentSettings) -> None:
    """Raises InvalidInput (bad_task) that names the field which nobody may give such a value.

    `description` and the script of a scripted model may be long; a script with a line break is the script itself.
    """
    if not is_id(task.id):
        raise _bad("id", task.id, "a plain name of ASCII letters and digits")
    _check_texts(task, agent.model)
    _check_external(agent)
    if task.environment is None:
        _check_hosts(task.hosts)
        _check_own_host(task.evaluator, task.hosts)
        check_services(task, agent)
    else:
        _check_environment(task, agent)
    for host in task.containers:
        _check_reach(host)
        _check_data(host)
        _check_kind(host, task, agent)
    if agent.media is not None:
        _check_texts(task, agent.media)
        if agent.media.kind != "openai" or not agent.media.name:
            raise _bad("agent.media.kind", agent.media.kind, "openai, with the name of a model")
    for name in _paths(task, agent.model):
        check_path(name)
    for what, number, least, most in _numbers(task, agent):
        if number is not None and not (math.isfinite(number) and least <= number <= most):
            raise _bad(what, number, f"a number from {least:g} to {most:g}")
    if (task.evaluator.as_root or task.evaluator.tests_at) and task.evaluator.kind != "tests":
        raise _bad("evaluator.as_root", task.evaluator.as_root, "left out, where the kind is not `tests`")
    if task.evaluator.tests_at and not _may_be_owned(task.evaluator.tests_at):
        raise _bad("evaluator.tests_at", task.evaluator.tests_at, "an absolute path, none of the system's own")
    if agent.model.actions == "react" and task.environment is None:
        raise _bad("agent.model.actions", "react", "native or text, where there is no environment")
    rights_of(task, agent)


def _check_environment(task: Task, agent: AgentSettings) -> None:
    """An environment stands in the place of all that is done on hosts."""
    given = {"hosts": task.hosts, "services": task.services, "evaluator.script": task.evaluator.script,
             "workspace": task.workspace, "packages": task.packages, "shared_folder": task.shared_folder}
    for name, value in given.items():
        if value:
            raise _bad(name, value, "left out, since the task is played in an environment")
    if agent.kind == "external":
        raise _bad("agent.kind", agent.kind, "own, in an environment")


def check_proof(proof: Proof) -> None:
    """Raises InvalidInput for a path that leaves the task's folder, or a score that nobody can get."""
    for name in filter(None, (proof.solution, proof.initial, *proof.cheats, *proof.known)):
        check_path(name)
    if not 0 < proof.expect <= 100:
        raise _bad("proof.expect", proof.expect, "a score above 0, and at most 100")


def _check_hosts(hosts: tuple[Host, ...]) -> None:
    if not 1 <= len(hosts) <= MAX_HOSTS:
        raise _bad("hosts", len(hosts), f"1 to {MAX_HOSTS} hosts")
    names = [host.name.casefold() for host in hosts]
    for host in hosts:
        if not is_id(host.name) or len(host.name) > 60 or names.count(host.name.casefold()) > 1:
            raise _bad("hosts.name", host.name, "a plain name of its own, of at most 60 ASCII letters and digits")
        if host.user and (not host.workdir or host.user == "root" or not _ACCOUNT.match(host.user)):
            raise _bad("hosts.user", host.user, "an account of the image that is not root, of a host with workdir")
        if host.workdir and not _may_be_owned(host.workdir):
            raise _bad("hosts.workdir", host.workdir, "an absolute path of plain characters, not the system's")


def _check_own_host(evaluator: Evaluator, hosts: tuple[Host, ...]) -> None:
    """That of the tests is a closed container with a name of its own, to which absolute paths are handed over."""
    host = evaluator.host
    if host is None:
        if evaluator.tests_within or (evaluator.kind == "tests" and evaluator.submission):
            raise _bad("evaluator.host", "", "a host, where tests lie in its image or are handed something over")
        return
    if evaluator.kind != "tests" or not hosts[0].workdir or not host.workdir or host.machine or host.data or host.gpus:
        raise _bad("evaluator.host", host.name, "left out but for `tests`, and a container with a workdir, as the "
                   "first host is, without data, gpus and machine")
    _check_hosts((*hosts, host))
    for path in evaluator.submission:
        if not TARGET.match(path) or ".." in path.split("/"):
            raise _bad("evaluator.submission", path, "an absolute path without .., where tests have their own host")


def _may_be_owned(folder: str) -> bool:
    """Whether a folder of an image may be given to the agent: none that the system's own programs lie in."""
    first, *parts = folder.split("/")
    if first or not parts or len(folder) > 200 or not all(_PART.fullmatch(p) and p not in (".", "..") for p in parts):
        return False
    is_deep = parts[0] not in _OWNED_BELOW or (len(parts) > 2 and tuple(parts[:2]) not in _SYSTEM_BELOW)
    return is_deep and parts[0] not in _NEVER_OWNED


def _check_reach(host: Host) -> None:
    if host.network and host.reach:
        raise _bad("hosts.network", "true", "left out where `reach` names what the host may reach")
    for name in host.reach:
        if not REACHED.match(name):
            raise _bad("hosts.reach", name, "NAME, *.NAME, NAME:PORT or *.NAME:PORT")


def _check_data(host: Host) -> None:
    targets = [data.target for data in host.data]
    for data in host.data:
        if not is_absolute(data.source):
            check_path(data.source)
        elif not data.source.startswith("/") or ".." in data.source.split("/"):
            raise _bad("hosts.data.source", data.source, "an absolute path without .., or one in the task's folder")
        if not TARGET.match(data.target) or ".." in data.target.split("/") or targets.count(data.target) > 1:
            raise _bad("hosts.data.target", data.target, "an absolute path of its own, as /data or /data/NAME")
        if data.target.split("/")[1] in SYSTEM:
            raise _bad("hosts.data.target", data.target, "none of the system's own folders")


def _check_kind(host: Host, task: Task, agent: AgentSettings) -> None:
    """What only a container can do is refused elsewhere, not ignored."""
    asks = {"data": host.data, "reach": host.reach, "machine": host.machine, "gpus": host.gpus, "workdir": host.workdir,
            "environment": host.environment}
    contained = {"image": host.image, "build": host.build, "workdir": host.workdir,
                 "data": host.data, "reach": host.reach, "network": host.network,
                 "environment": host.environment}
    if agent.sandbox == "local":
        unmet = {f"hosts.{n}": v for n, v in asks.items() if v} | ({"shared_folder": 1} if task.shared_folder else {})
        where = "the unconfined local sandbox"
    else:
        unmet = {f"hosts.{n}": v for n, v in contained.items() if v and host.machine}
        unmet |= {"shared_folder": 1} if task.shared_folder and host.machine else {}
        where = f"the plain machine {host.machine}"
    for name, value in unmet.items():
        raise _bad(name, value, f"left out, since {where} cannot meet it; a container can")
def _check_external(agent: AgentSettings) -> None:
    """An external agent speaks to an endpoint, and there must be a way to start it; ours does neither."""
    is_external, model = agent.kind == "external", agent.model
    if is_external != (model.kind == "endpoint"):
        wanted = "endpoint, as its agent is external" if is_external else "that of a model for our own agent"
        raise _bad("agent.model.kind", model.kind, wanted)
    if not is_external:
        if agent.acp:
            raise _bad("agent.acp", agent.acp, "left out, as the agent is not external")
        return
    if not model.base_url:
        raise _bad("agent.model.base_url", "", "the address of the endpoint")
    if not _MODEL.match(model.name):
        raise _bad("agent.model.name", model.name, "a name of letters, digits and ._:/@+-")
    if not (agent.recipe or agent.command or agent.is_attached):
        raise _bad("agent.recipe", "", "the name of a recipe, where no command is given")
    if agent.recipe and not is_id(agent.recipe):
        raise _bad("agent.recipe", agent.recipe, "the name of a recipe")
    if agent.samples and not agent.is_attached:
        raise _bad("agent.samples", "true", "left out, as only tiphys attach --samples starts such a command")
    if agent.is_attached and agent.acp:
        raise _bad("agent.acp", agent.acp, "left out, for an agent that runs outside: tiphys attach --acp speaks it")
    if agent.is_attached and agent.sandbox != "local":
        raise _bad("agent.sandbox", agent.sandbox, "local, for an agent that runs outside")


def _check_texts(task: Task, model: ModelSettings) -> None:
    for what, text, most in (("title", task.title, TITLE), ("description", task.description, DESCRIPTION),
                             ("domain", task.domain, NAME), ("difficulty", task.difficulty, NAME),
                             ("model.name", model.name, NAME), *_images(task)):
        if len(text) > most:
            raise _bad(what, f"{text[:40]}…", f"at most {most:,} characters")
    for what, text, _ in (("model.name", model.name, NAME), *_images(task)):
        if not text.isprintable():
            raise _bad(what, text, "plain characters")


def _images(task: Task) -> Iterator[tuple[str, str, int]]:
    """The images that hosts are made from, as texts of a length."""
    for host in task.containers:
        yield "hosts.image", host.image, NAME
        yield from (("hosts.bases", base, NAME) for base in host.bases)


def _paths(task: Task, model: ModelSettings) -> Iterator[str]:
    """All paths that must lie in the task's folder."""
    named = [task.workspace, task.packages, task.evaluator.script, task.evaluator.references]
    named += [host.build for host in task.containers]
    if model.kind == "scripted" and "\n" not in model.script:
        named.append(model.script)
    if model.kind == "replay":
        named.append(model.script.partition("#")[0])
    if model.kind == "local" and not is_absolute(model.name):
        named.append(model.name)
    return filter(None, named)


def _numbers(task: Task, agent: AgentSettings) -> Iterator[Bound]:
    for host in task.containers:
        yield "hosts.build_s", host.build_s, 1, 86_400
        yield "hosts.cpus", host.cpus, 0.01, 1024
        yield "hosts.memory_mb", host.memory_mb, 1, 4 << 20
        yield "hosts.pids", host.pids, 1, 1 << 20
        yield "hosts.disk_mb", host.disk_mb, 1, 64 << 20
        yield "hosts.gpus", host.gpus, 0, 1024
    yield from _limits(task.limits)
    yield "evaluator.timeout_s", task.evaluator.timeout_s, 0.1, 86_400
    yield from (("evaluator.collects.timeout_s", one.timeout_s, 0.1, 3600) for one in task.evaluator.collects)
    yield "evaluator.submission", len(task.evaluator.submission), 0, MAX_SUBMISSION
    yield "baseline", task.baseline, -1e9, 1e9
    yield "best_known", task.best_known, -1e9, 1e9
    yield "agent.context_tokens", agent.context_tokens, 1, 1 << 30
    yield "agent.output_chars", agent.output_chars, 1, 1 << 24
    model = agent.model
    yield "agent.model.temperature", model.temperature, 0, 100
    yield "agent.model.top_p", model.top_p, 1e-6, 1
    yield "agent.model.max_output_tokens", model.max_output_tokens, 1, 1 << 30
    yield "agent.model.input_price", model.input_price, 0, 1e9
    yield "agent.model.output_price", model.output_price, 0, 1e9


def _limits(limits: Limits) -> Iterator[Bound]:
    yield "limits.steps", limits.steps, 0, 2**31 - 1
    yield "limits.wall_s", limits.wall_s, 0, 1e9
    yield "limits.tokens", limits.tokens, 0, 1 << 50
    yield "limits.cost_usd", limits.cost_usd, 0, 1e9
    yield "limits.evaluations", limits.evaluations, 0, 1_000_000


def _bad(what: str, value: object, wanted: str) -> InvalidInput:
    return InvalidInput("bad_task", f"{what} of a task cannot be {str(value)[:80]!r}: it must be {wanted}.", field=what)
