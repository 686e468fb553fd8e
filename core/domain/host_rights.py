"""What a task asks of the computer that its agent is started on, beyond sandboxes of its own: named, never assumed.

A task file is foreign. Whatever it asks for that reaches out of a closed container is a `HostRight`, which a person
sees in words before the task's first run; `core.tasks.allowances` remembers the answer.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import urlsplit

import msgspec

from core.domain.bounds import Address, Code
from core.domain.errors import InvalidInput
from core.domain.task import AgentSettings, ModelSettings, Task

ADDRESS = "url"
"""The option of an environment that names the server that it is."""

PACKAGE, PACKAGE_SETTINGS = "taskset", "config"
"""The options of an environment that name an installed package whose code it runs, and what that is told."""

DEFAULT_ENDPOINT = "https://api.openai.com/v1"
"""Where an OpenAI-compatible model without `base_url` is asked."""

_ENDPOINT = re.compile(r"https?://(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?(?:/[A-Za-z0-9._~:@+-]+)*/?\Z")
"""Plain enough to mean the same to every parser: no user, no query, no escapes (RFC 3986 allows more)."""

REACHED = re.compile(r"(?:\*\.)?(?:[A-Za-z0-9-]{1,63}\.)*[A-Za-z0-9-]{1,63}(?::[0-9]{1,5})?\Z")
"""What a host may be let reach."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}\Z")
_PORTS = {"http": 80, "https": 443}


class HostRight(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that is asked for. `name` is the path, variable, endpoint, image, evaluator's script, machine, or the
    host with a network; `endpoint` is where a variable's value goes, or what a host reaches. A server may know kinds
    that its client does not."""

    kind: Code
    name: Address = ""
    endpoint: Address = ""

    @property
    def sentence(self) -> str:
        """The right in English, for logs and the command line; the desktop has its own words."""
        return _SENTENCES.get(self.kind, self.kind).format(name=self.name[:300], endpoint=self.endpoint[:300])


_SENTENCES: dict[str, str] = {
    "unconfined_agent": "its agent runs UNCONFINED, without a sandbox, and can read and change all files of this user",
    "unconfined_evaluator": "its evaluator {name} runs UNCONFINED, without a sandbox",
    "path": "{name} of this computer is read as a model",
    "variable": "the value of the variable {name} is sent to {endpoint}",
    "endpoint": "all that the agent sees is sent to {name}",
    "code": "the code of the installed package {name} runs here as this user, with the settings {endpoint}",
    "image": "its container is made from the image {name}",
    "build": "its container is built by {name}: the task's own commands run as root in containers of their own",
    "build_network": "the commands of {name} reach public addresses while its container is built",
    "root_tests": "its tests {name} run as root in a container of their own",
    "service": "its service {name} runs the programs of its image, as root of a container of their own where that says "
               "so",
    "network": "its host {name} has a network",
    "reach": "its host {name} reaches {endpoint}",
    "data": "its hosts read {name} of this computer",
    "machine": "its agent works WITHOUT A SANDBOX on the machine {name}",
    "lab_name": "hosts with a network, and builds, reach {name}, whose address may be private",
}


def rights_of(task: Task, agent: AgentSettings) -> tuple[HostRight, ...]:
    """What a session of these asks of its computer; empty for closed containers of our own image and a script, and
    where the agent works elsewhere.

    Raises InvalidInput (bad_endpoint, bad_variable).
    """
    if agent.kind == "outside":
        return ()
    return tuple(dict.fromkeys((*_of_environment(task), *_of_sandbox(task, agent), *_of_model(agent.model),
                                *(_of_model(agent.media) if agent.media is not None else ()))))


def in_words(rights: Iterable[HostRight]) -> str:
    """All of them in one English sentence's middle."""
    return "; ".join(right.sentence for right in rights)


def _of_environment(task: Task) -> Iterator[HostRight]:
    """An environment that is somebody's server gets all that is done in it; one that is a package of no fixed name may
    be any that is installed."""
    options = task.environment.options if task.environment is not None else {}
    if (address := options.get(ADDRESS)) is not None:
        yield HostRight("endpoint", endpoint_of(address))
    if (package := options.get(PACKAGE)) is not None:
        yield HostRight("code", package, options.get(PACKAGE_SETTINGS, "{}"))


def _of_sandbox(task: Task, agent: AgentSettings) -> Iterator[HostRight]:
    if agent.sandbox == "local":
        yield HostRight("unconfined_agent")
        if task.evaluator.script:
            yield HostRight("unconfined_evaluator", task.evaluator.script)
        return
    if task.evaluator.as_root:
        yield HostRight("root_tests", task.evaluator.script)
    for host in task.containers:
        for image in filter(None, (host.image, *host.bases)):
            yield HostRight("image", image)
        if host.build:
            yield HostRight("build", host.build)
        if host.build and host.build_network and not host.network:
            yield HostRight("build_network", host.build)
        if host.program is not None:
            yield HostRight("service", host.name)
        if host.network:
            yield HostRight("network", host.name)
        if host.machine:
            yield HostRight("machine", host.machine)
        for name in host.reach:
            yield HostRight("reach", host.name, name)
        for data in host.data:
            if is_absolute(data.source):
                yield HostRight("data", data.source)


def _of_model(model: ModelSettings) -> Iterator[HostRight]:
    if model.kind in ("openai", "endpoint"):
        endpoint = endpoint_of(model.base_url)
        yield key_right(model.key_env, endpoint) if model.key_env else HostRight("endpoint", endpoint)
    elif model.kind == "local" and is_absolute(model.name):
        yield HostRight("path", model.name)


def key_right(variable: str, endpoint: str) -> HostRight:
    """That a variable's value is sent to an endpoint. Raises InvalidInput (bad_variable, bad_endpoint)."""
    if not _VARIABLE.match(variable):
        short = variable[:80]
        raise InvalidInput("bad_variable", f"{short!r} cannot be the name of a variable.", variable=short)
    return HostRight("variable", variable, endpoint_of(endpoint))


def lab_name(name: str) -> HostRight:
    """That whatever has a network also reaches a name of the lab's own network. Raises InvalidInput (bad_endpoint)."""
    if name.startswith("*") or not REACHED.match(name):
        raise InvalidInput("bad_endpoint", f"{name[:80]!r} is no name to be reached: NAME or NAME:PORT is wanted.",
                           endpoint=name[:120])
    return HostRight("lab_name", name.lower())


def endpoint_of(base_url: str) -> str:
    """An endpoint's address in its one spelling, so that equal addresses are equal text. Raises InvalidInput."""
    if not base_url:
        return DEFAULT_ENDPOINT
    try:
        parts = urlsplit(base_url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None  # a port or an address of IPv6 that is none
    is_plain = _ENDPOINT.match(base_url) and parts.scheme and not {".", ".."} & {*parts.path.split("/")}
    if len(base_url) > 500 or not is_plain:
        raise InvalidInput("bad_endpoint", f"{base_url[:120]!r} cannot be an endpoint's address: it must be "
                           "http(s)://host[:port]/path without user, query or escapes.", endpoint=base_url[:120])
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    shown_port = "" if port in (None, _PORTS[parts.scheme]) else f":{port}"
    return f"{parts.scheme}://{host}{shown_port}{parts.path.rstrip('/')}"


def is_absolute(name: str) -> bool:
    """Whether a path begins at a root or drive, of this system or of another."""
    return PurePosixPath(name).is_absolute() or bool(PureWindowsPath(name).anchor) or name.startswith("~")
