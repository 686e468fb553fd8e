"""The images of a task's hosts that have to be built of the task's own Dockerfiles."""

from __future__ import annotations

import asyncio
import hashlib
import io
import os
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from core.domain.errors import InvalidInput
from core.domain.task import AgentSettings, Host, Task
from core.sandbox.placement import HERE, EngineAddress, HostPlace, ways_out
from core.tasks.apptainer import dockerfile_of
from core.tasks.catalogue import Catalogue
from core.tasks.dockerfile import Dockerfile
from core.tasks.folder import read_text

BUILD_TIMEOUT_S = 1800.0
"""How long a step of a build may say nothing."""


async def built_images(catalogue: Catalogue, task: Task, agent: AgentSettings,
                       places: Mapping[str, HostPlace] = MappingProxyType({}), lab_names: tuple[str, ...] = ()
                       ) -> dict[str, str]:
    """What each host's container is made from, where it is not what the task names: by the host's name, "" for none.
    The tests' own host runs where the first one does.

    `places` says where hosts run, and so where their images are built; `lab_names` as in `ways_out`.
    Raises InvalidInput (bad_dockerfile, bad_task_file), NotFound (unknown_image), Unavailable.
    """
    images = {}
    first = places.get(task.hosts[0].name, HERE) if task.hosts else HERE
    for host in task.containers:
        is_built = bool(host.build) and agent.sandbox == "docker"
        at = (first if host is task.evaluator.host else places.get(host.name, HERE)).address
        images[host.name] = await asyncio.to_thread(_built, catalogue, task, host, at, lab_names) if is_built else ""
    return images


def own_image(task: Task, images: Mapping[str, str]) -> str:
    """Of what was built, the image of the host that the tests have of their own, or ""."""
    return images.get(task.evaluator.host.name, "") if task.evaluator.host is not None else ""


def _built(catalogue: Catalogue, task: Task, host: Host, at: EngineAddress, lab_names: tuple[str, ...]) -> str:
    from core.sandbox.built_image import LONGEST_S, build_task_image  # the SDK, which few tasks need, takes long

    name, dockerfile, files = _dockerfile(catalogue, task, host)
    if extra := set(dockerfile.bases) - set(host.bases):
        raise InvalidInput("bad_task", f"hosts.bases of a task must name every image that {name} builds upon: "
                           f"{', '.join(sorted(extra))} is missing.", field="hosts.bases")
    with tempfile.TemporaryDirectory(prefix="tiphys-build-") as place:
        context = Path(place) / "context.tar"
        tag = _write_context(context, dockerfile, files)
        public = msgspec.structs.replace(host, network=host.network or host.build_network)
        return build_task_image(name, dockerfile.bases, context, tag, reach=ways_out(public, lab_names),
                                timeout=BUILD_TIMEOUT_S, longest=min(host.build_s or LONGEST_S, LONGEST_S), at=at)


def _dockerfile(catalogue: Catalogue, task: Task, host: Host) -> tuple[str, Dockerfile, list[tuple[str, Path]]]:
    """What builds a host's image: how it is called, the vetted Dockerfile, the files that it may copy."""
    place = catalogue.file(task, host.build)
    if place.suffix == ".def":
        return host.build, Dockerfile(dockerfile_of(read_text(place)), host.build), []
    files = catalogue.paths(task, host.build)
    text = next((read_text(path) for name, path in files if name == "Dockerfile"), "")
    name = f"{host.build}/Dockerfile"
    return name, Dockerfile(text, name, is_service=host.program is not None), files


def _write_context(target: Path, dockerfile: Dockerfile, files: list[tuple[str, Path]]) -> str:
    """Write what the builder is given; its digest is the image's tag."""
    plain = dockerfile.plain()
    whole = hashlib.blake2b(plain, digest_size=12)
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo("Dockerfile")
        info.size = len(plain)
        tar.addfile(info, io.BytesIO(plain))
        for name, path in _wanted(files):
            info = tarfile.TarInfo(name)
            info.size, info.mode = path.stat().st_size, path.stat().st_mode & 0o755
            whole.update(os.fsencode(name) + f"\0{info.size}\0{info.mode}\0".encode())
            with path.open("rb") as content:
                whole.update(hashlib.file_digest(content, "sha256").digest())
                content.seek(0)
                tar.addfile(info, content)
    return whole.hexdigest()


def _wanted(files: list[tuple[str, Path]]) -> list[tuple[str, Path]]:
    """The files but those that a .dockerignore leaves out, and the Dockerfile itself."""
    from docker.utils.build import PatternMatcher

    ignore = next((path for name, path in files if name == ".dockerignore"), None)
    lines = read_text(ignore).splitlines() if ignore else []
    patterns = [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
    matcher = PatternMatcher(patterns)
    return [(name, path) for name, path in files if name != "Dockerfile" and not matcher.matches(name)]
