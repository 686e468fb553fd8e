"""Services that a compose file puts beside the agent's container: those that only wait as hosts of its session, which
the agent enters; those with programs of their own as its services. What they ask for beyond that is refused by name."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import Any

import msgspec

from core.domain.task import Host, Program
from core.tasks.compose import ComposeService, read_compose
from core.tasks.dockerfile import Dockerfile
from core.tasks.folder import inside, read_text
from core.tasks.foreign_folder import not_possible
from core.tasks.yaml_table import check_idle, is_idle

MAIN = "main"
_MAIN = frozenset({"build", "image", "command", "container_name", "depends_on", "environment", "tty", "stdin_open",
                   "pull_policy"})
"""What a file may say of the agent's container, whose image is made as without the file."""

_OTHER = _MAIN | {"expose", "working_dir", "entrypoint", "healthcheck", "user", "restart", "volumes", "hostname"}
_PROGRAM = ("entrypoint", "healthcheck", "user", "restart", "volumes")
_OWN = {"build": ({"context": "${CONTEXT_DIR}"}, {"context": "."}, "."), "image": ("${MAIN_IMAGE_NAME}",)}
_RESTARTS = {"": "never", "no": "never", "false": "never", "always": "always", "unless-stopped": "always",
             "on-failure": "failed"}


def services_of(folder: Path, place: str, name: str, main: Host) -> tuple[Host, ...]:
    """The agent's host as the compose file `name` of the folder `place` has it, and what that puts beside it, each with
    its share of the machine. Raises InvalidInput, which names the service and the field."""
    services = read_compose(folder, f"{place}/{name}")
    stages = [stage for one in services.values() for stage in one.after().items()]
    main = _main(services[MAIN], main) if MAIN in services else main
    others = [_beside(folder, place, one, main) for key, one in services.items() if key != MAIN]
    for one in services.values():
        for other in one.after():
            if other not in services:
                raise one.refuse("depends_on", other, "names no service")
    return (main, *(_ending(host) if (host.name, "completed") in stages else host for host in others))


def _main(service: ComposeService, main: Host) -> Host:
    service.require(_MAIN)
    for field, usual in _OWN.items():
        if field in service.raw and service.raw[field] not in usual:
            raise service.refuse(field, service.raw[field])
    check_idle(service.where, service.raw.get("command"))
    return msgspec.structs.replace(main, environment={**main.environment, **service.variables()})


def _beside(folder: Path, place: str, service: ComposeService, main: Host) -> Host:
    service.require(_OTHER)
    if service.raw.get("hostname") not in (None, service.name):
        raise service.refuse("hostname", service.raw["hostname"])
    image, build, workdir, runs = service.text("image"), "", "", True
    bases: tuple[str, ...] = ()
    if service.raw.get("build") is not None:
        build = _build(place, service)
        read = Dockerfile(read_text(inside(folder, f"{build}/Dockerfile")), f"{build}/Dockerfile", is_service=True)
        image, bases, workdir, runs = "", read.bases, read.workdir, read.runs
    elif not image:
        raise service.refuse("image", image, "names no image, and there is no build")
    command = service.words("command")
    waits = is_idle(list(command)) if command else not runs
    is_host = waits and not any(service.raw.get(field) for field in _PROGRAM)
    workdir = service.text("working_dir") or ((workdir or main.workdir) if is_host else "")
    return msgspec.structs.replace(
        main, name=service.name, user="", image=image, build=build, bases=bases, build_network=bool(build), gpus=0,
        build_s=main.build_s if build else None, workdir=workdir, environment=service.variables(),
        data=service.data(place), program=None if is_host else _program(service))


def _program(service: ComposeService) -> Program:
    restart = service.text("restart").partition(":")[0]
    if restart not in _RESTARTS:
        raise service.refuse("restart", restart)
    given: Any = _RESTARTS[restart]
    return Program(entrypoint=service.words("entrypoint"), command=service.words("command"), user=service.text("user"),
                   health=service.health(), after=service.after(), restarts=given)


def _ending(host: Host) -> Host:
    """A service that others wait for to end."""
    if host.program is None:
        raise not_possible(f"services.{host.name}: what only waits never ends, as depends_on wants it to")
    return msgspec.structs.replace(host, program=msgspec.structs.replace(host.program, ends=True))


def _build(place: str, service: ComposeService) -> str:
    """The folder that it is built of."""
    build = service.raw["build"]
    given = {"context": build} if isinstance(build, str) else build
    if not isinstance(given, dict) or set(given) - {"context", "dockerfile"}:
        raise service.refuse("build", build)
    context, dockerfile = str(given.get("context") or "."), str(given.get("dockerfile") or "Dockerfile")
    if posixpath.isabs(context) or ".." in context.split("/") or "$" in context or "://" in context:
        raise service.refuse("build.context", context, "lies outside")
    if dockerfile != "Dockerfile":
        raise service.refuse("build.dockerfile", dockerfile, "is not to be had here: only a Dockerfile is")
    return posixpath.normpath(f"{place}/{context}")
