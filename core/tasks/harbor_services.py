"""Services that a compose file puts beside the agent's container, as hosts of its session: those that only wait.

The hosts of a session are its agent's own, who enters each of them. So a service with a program of its own, which
nobody is to look into, is refused by its name, and so is every field that a host has nothing for.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from core.domain.task import Host
from core.tasks.dockerfile import Dockerfile
from core.tasks.folder import inside, read_text
from core.tasks.foreign_folder import not_possible
from core.tasks.yaml_table import check_idle, read_yaml

MAIN = "main"
_MAIN = frozenset({"build", "image", "command", "container_name", "depends_on", "tty", "stdin_open", "pull_policy"})
"""What a file may say of the agent's container without changing it, since its image is made as without the file."""

_OTHER = _MAIN | {"expose", "working_dir"}
_OWN = {"build": ({"context": "${CONTEXT_DIR}"}, {"context": "."}, "."), "image": ("${MAIN_IMAGE_NAME}",)}


def services_of(folder: Path, place: str, name: str, main: Host) -> tuple[Host, ...]:
    """The hosts beside the main one that the compose file `name` of the folder `place` asks for, each with its share
    of the machine. Raises InvalidInput, which names the service and the field."""
    file = f"{place}/{name}"
    raw = read_yaml(folder, file)
    for field in raw:
        if field not in ("services", "version"):
            raise not_possible(f"{file}: {str(field)[:80]} is not to be had here")
    services = raw.get("services") or {}
    for key, service in services.items():
        _check(f"{file}: services.{str(key)[:60]}", service or {}, _MAIN if key == MAIN else _OTHER)
    own = services.get(MAIN) or {}
    for field, usual in _OWN.items():
        if field in own and own[field] not in usual:
            raise not_possible(f"{file}: services.{MAIN}.{field} = {str(own[field])[:80]} is not to be had here")
    return tuple(_host(folder, place, f"{file}: services.{key}", str(key), service or {}, main)
                 for key, service in services.items() if key != MAIN)


def _check(where: str, service: Mapping[str, Any], known: frozenset[str]) -> None:
    for field, value in service.items():
        if field not in known:
            raise not_possible(f"{where}.{str(field)[:60]} = {str(value)[:80]} is not to be had here")
    for condition in _conditions(service.get("depends_on")):
        if condition != "service_started":
            raise not_possible(f"{where}.depends_on: the condition {condition[:60]} is not to be had here")
    check_idle(where, service.get("command"))


def _conditions(given: Any) -> Iterator[str]:
    for one in given.values() if isinstance(given, dict) else ():
        yield str((one or {}).get("condition") or "service_started")


def _host(folder: Path, place: str, where: str, name: str, service: Mapping[str, Any], main: Host) -> Host:
    build = service.get("build")
    image, workdir = str(service.get("image") or ""), ""
    bases: tuple[str, ...] = ()
    if build is not None:
        context, dockerfile = _context(where, build)
        build = posixpath.normpath(f"{place}/{context}")
        read = Dockerfile(read_text(inside(folder, f"{build}/Dockerfile")), f"{build}/Dockerfile")
        image, bases, workdir = "", read.bases, read.workdir
        if dockerfile != "Dockerfile":
            raise not_possible(f"{where}.build.dockerfile = {dockerfile[:80]}: only a Dockerfile is to be had here")
    elif not image or not service.get("command"):
        raise not_possible(f"{where}.image = {image[:80]} without a command that only waits: a host starts nothing but "
                           "its terminals")
    return msgspec.structs.replace(main, name=name, user="", image=image, build=build or "", bases=bases,
                                   build_network=bool(build), build_s=main.build_s if build else None, gpus=0,
                                   workdir=str(service.get("working_dir") or workdir or main.workdir))


def _context(where: str, build: Any) -> tuple[str, str]:
    given = {"context": build} if isinstance(build, str) else build
    if not isinstance(given, dict) or set(given) - {"context", "dockerfile"}:
        raise not_possible(f"{where}.build = {str(build)[:80]} is not to be had here")
    context = str(given.get("context") or ".")
    if posixpath.isabs(context) or ".." in context.split("/") or "$" in context or "://" in context:
        raise not_possible(f"{where}.build.context = {context[:80]}, which lies outside")
    return context, str(given.get("dockerfile") or "Dockerfile")
