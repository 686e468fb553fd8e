"""Harbor's task folders (harborframework.com/docs/tasks, schema 1.4 and before), as Terminal-Bench 2 has them.

    instruction.md  task.toml  environment/Dockerfile  tests/test.sh  solution/solve.sh

The agent works in the image's own files, as a plain user and never as root. The tests run once, when it has stopped, in
a copy, as the user that the file names, else as the image's, which is root unless it says otherwise. What the file asks
for beyond one container is refused by its name.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.domain.errors import InvalidInput
from core.domain.task import AgentSettings, Evaluator, Host, Limits, ModelSettings, Task
from core.tasks.dockerfile import Dockerfile
from core.tasks.folder import inside, read_text
from core.tasks.foreign_folder import plain_id, read_toml, reading
from core.tasks.reader import CatalogueTask, Proof, TaskReader
from core.tasks.task_check import check_task

TASK, INSTRUCTION, TEST, SOLUTION = "task.toml", "instruction.md", "tests/test.sh", "solution/solve.sh"
BUILD = "environment"
WORKDIR = "/app"
"""Where an image without a working folder of its own is worked in."""

_MEGABYTES = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024 * 1024}
_KNOWN: dict[str, frozenset[str]] = {
    "": frozenset({"schema_version", "version", "task", "metadata", "verifier", "agent", "environment", "solution",
                   "source", "artifacts", "steps", "multi_step_reward_strategy"}),
    "verifier": frozenset({"timeout_sec", "env", "user", "environment_mode", "environment", "collect", "network_mode",
                           "allowed_hosts"}),
    "agent": frozenset({"timeout_sec", "user", "network_mode", "allowed_hosts"}),
    "environment": frozenset({"build_timeout_sec", "docker_image", "os", "cpus", "memory_mb", "storage_mb", "memory",
                              "storage", "gpus", "gpu_types", "tpu", "mcp_servers", "env", "skills_dir", "healthcheck",
                              "workdir", "allow_internet", "network_mode", "allowed_hosts"}),
}
_REFUSED = {
    "": ("steps",),
    "verifier": ("env", "environment", "collect", "allowed_hosts"),
    "agent": ("allowed_hosts",),
    "environment": ("gpu_types", "tpu", "mcp_servers", "env", "skills_dir", "healthcheck", "allowed_hosts"),
    "solution": ("env",),
}
"""Fields that ask for more than a container and its tests, where they are not empty."""


def read_harbor(folder: Path, script: str = TEST, reader: str = "harbor") -> list[CatalogueTask]:
    """The task of a folder. Raises InvalidInput, which names the file and the field."""
    with reading(folder, TASK):
        raw = read_toml(folder / TASK)
        check_fields(raw)
        environment = raw.get("environment", {})
        host, image_user = _host(folder, environment, str(raw.get("agent", {}).get("user") or ""))
        _check_artifacts(raw.get("artifacts") or [], host.workdir)
        metadata, package = raw.get("metadata", {}), raw.get("task", {})
        inside(folder, script)
        timeout = float(raw.get("verifier", {}).get("timeout_sec", 600.0))
        task = Task(
            id=plain_id(folder), title=_title(folder, package, metadata),
            description=read_text(inside(folder, INSTRUCTION)).strip(), hosts=(host,),
            limits=Limits(wall_s=raw.get("agent", {}).get("timeout_sec"), evaluations=0),
            evaluator=Evaluator(kind="tests", script=script, references="tests", timeout_s=timeout,
                                as_root=_is_root(raw.get("verifier", {}).get("user"), image_user)),
            domain=str(metadata.get("category", "")), difficulty=str(metadata.get("difficulty", "")))
        agent = AgentSettings(model=ModelSettings(kind="unknown"))
        check_task(task, agent)
        has_solution = (folder / SOLUTION).exists()
        return [CatalogueTask(task=task, agent=agent, folder=folder, reader=reader,
                              proof=Proof(solution=SOLUTION if has_solution else ""))]


def check_fields(raw: Mapping[str, Any]) -> None:
    """Raises InvalidInput for a field that Harbor does not know, or that cannot be had here."""
    for table in ("", "verifier", "agent", "environment", "solution"):
        fields = raw if not table else raw.get(table, {})
        where = f"[{table}] " if table else ""
        for name, value in fields.items():
            if table in _KNOWN and name not in _KNOWN[table]:
                raise _refused(f"{where}{name} is no field of Harbor's that is known here")
            if name in _REFUSED[table] and value:
                raise _refused(f"{where}{name} = {str(value)[:80]} is not to be had here")
    verifier, agent = (str(raw.get(table, {}).get("user") or "") for table in ("verifier", "agent"))
    if verifier not in ("", "root", "0", agent):
        raise _refused(f"[verifier] user = {verifier[:80]}: tests run as root or as the agent's user")
    if raw.get("verifier", {}).get("environment_mode", "shared") != "shared":
        raise _refused("[verifier] environment_mode = separate is not to be had here")
    if str(raw.get("environment", {}).get("os", "linux")).lower() != "linux":
        raise _refused("[environment] os: only Linux is to be had here")


def _check_artifacts(artifacts: list[object], workdir: str) -> None:
    """What is to be taken out of the container lies in its working folder, which the last snapshot holds."""
    for one in artifacts:
        path = posixpath.normpath(posixpath.join(workdir, one)) if isinstance(one, str) else ""
        if path != workdir and not path.startswith(f"{workdir}/"):
            raise _refused(f"artifacts: {str(one)[:80]} is not to be had here: only what lies in {workdir} is kept")


def _is_root(user: object, image_user: str) -> bool:
    """Whether the tests run as root: as the verifier's user, which may be a number, else as the image's."""
    return str(image_user if user in (None, "") else user) in ("", "root", "0")


def _host(folder: Path, environment: Mapping[str, Any], user: str) -> tuple[Host, str]:
    """The host, and the account that its Dockerfile ends as."""
    for name in ("docker-compose.yaml", "docker-compose.yml", "singularity-compose.yaml"):
        if (folder / BUILD / name).exists():
            raise _refused(f"{BUILD}/{name}: services, mounts and networks of a compose file are not to be had here")
    image = str(environment.get("docker_image") or "")
    workdir, build, image_user = str(environment.get("workdir") or ""), "", ""
    bases: tuple[str, ...] = ()
    if (folder / BUILD / "Dockerfile").exists():
        dockerfile = Dockerfile(read_text(inside(folder, f"{BUILD}/Dockerfile")), f"{BUILD}/Dockerfile")
        workdir, image_user = workdir or dockerfile.workdir, dockerfile.user
        if not image:
            build, bases = BUILD, dockerfile.bases
    elif not image:
        raise _refused(f"there is neither {BUILD}/Dockerfile nor a docker_image")
    return Host(
        name="main", image=image, build=build, bases=bases, workdir=workdir or WORKDIR, user=user,
        gpus=int(environment.get("gpus") or 0),
        cpus=float(environment.get("cpus") or 1), memory_mb=_megabytes(environment, "memory", 2048),
        disk_mb=_megabytes(environment, "storage", 10_240), network=_network(environment)), image_user


def _network(environment: Mapping[str, Any]) -> bool:
    mode = environment.get("network_mode", "public")
    if mode not in ("public", "no-network"):
        raise _refused(f"[environment] network_mode = {str(mode)[:80]} is not to be had here")
    return mode == "public" and environment.get("allow_internet", True) is not False


def _megabytes(environment: Mapping[str, Any], name: str, usual: int) -> int:
    """A size: `NAME_mb`, or the older `NAME` as "2G"."""
    text = environment.get(name)
    if text is None:
        return int(environment.get(f"{name}_mb") or usual)
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT])", str(text).strip().upper())
    if not found:
        raise _refused(f"[environment] {name} = {str(text)[:40]} is no size such as 2G")
    return max(1, int(float(found[1]) * _MEGABYTES[found[2]]))


def _title(folder: Path, package: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    name = str(package.get("name") or folder.name).rpartition("/")[2]
    about = str(package.get("description") or metadata.get("category") or "").strip()
    return f"{name}: {about}"[:300] if about else name


def _refused(what: str) -> InvalidInput:
    return InvalidInput("task_not_possible", f"{what}.")


def _recognises(folder: Path) -> bool:
    has_texts = (folder / TASK).exists() and (folder / INSTRUCTION).exists()
    return has_texts and ((folder / BUILD).exists() or (folder / "tests").exists())


READER = TaskReader(name="harbor", title="Harbor", rank=30, recognises=_recognises, read=read_harbor)
