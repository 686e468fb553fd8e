"""Harbor's task folders (harborframework.com/docs/tasks, schema 1.4 and before), as Terminal-Bench 2 has them.

    instruction.md  task.toml  environment/Dockerfile  tests/test.sh  solution/solve.sh

The agent works in the image's own files, as the account that the file or the image names, and never as root. The tests
run once, when it has stopped, in a copy, or where the file says so in a container of their own, of `tests/Dockerfile`,
to which artifacts are handed over. What the file asks for beyond that is refused by its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.domain.task import AgentSettings, Limits, ModelSettings, Task
from core.tasks.folder import inside, read_text
from core.tasks.foreign_folder import not_possible, plain_id, read_toml, reading
from core.tasks.harbor_parts import BUILD, evaluator_of, hosts_with, main_host
from core.tasks.reader import CatalogueTask, Proof, TaskReader
from core.tasks.task_check import check_task

TASK, INSTRUCTION, TEST, SOLUTION = "task.toml", "instruction.md", "tests/test.sh", "solution/solve.sh"
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
    "environment": ("gpu_types", "tpu", "mcp_servers", "skills_dir", "healthcheck"),
    "solution": ("env",),
}
"""Fields that ask for more than a container and its tests, where they are not empty."""


def read_harbor(folder: Path, script: str = TEST, reader: str = "harbor") -> list[CatalogueTask]:
    """The task of a folder. Raises InvalidInput, which names the file and the field."""
    with reading(folder, TASK):
        raw = read_toml(folder / TASK)
        check_fields(raw)
        main, image_user = main_host(folder, raw)
        members = hosts_with(folder, main)
        metadata, package = raw.get("metadata", {}), raw.get("task", {})
        inside(folder, script)
        task = Task(
            id=plain_id(folder), title=_title(folder, package, metadata),
            description=read_text(inside(folder, INSTRUCTION)).strip(),
            hosts=tuple(one for one in members if one.program is None),
            services=tuple(one for one in members if one.program is not None),
            limits=Limits(wall_s=raw.get("agent", {}).get("timeout_sec"), evaluations=0),
            evaluator=evaluator_of(folder, raw, members[0], image_user, script),
            domain=str(metadata.get("category", "")), difficulty=str(metadata.get("difficulty", "")))
        agent = AgentSettings(model=ModelSettings(kind="unknown"))
        check_task(task, agent)
        has_solution = (folder / SOLUTION).exists()
        return [CatalogueTask(task=task, agent=agent, folder=folder, reader=reader,
                              proof=Proof(solution=SOLUTION if has_solution else ""))]


def check_fields(raw: Mapping[str, Any]) -> None:
    """Raises InvalidInput for a field that Harbor does not know, or that cannot be had here."""
    verifier = raw.get("verifier", {})
    tables = {"": raw, **{name: raw.get(name, {}) for name in ("verifier", "agent", "environment", "solution")},
              "verifier.environment": verifier.get("environment") or {}}
    for table, fields in tables.items():
        kind, where = table.rpartition(".")[2], f"[{table}] " if table else ""
        for name, value in fields.items():
            if kind in _KNOWN and name not in _KNOWN[kind]:
                raise not_possible(f"{where}{name} is no field of Harbor's that is known here")
            if name in _REFUSED.get(kind, ()) and value:
                raise not_possible(f"{where}{name} = {str(value)[:80]} is not to be had here")
        if kind == "environment" and str(fields.get("os", "linux")).lower() != "linux":
            raise not_possible(f"{where}os: only Linux is to be had here")


def _title(folder: Path, package: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    name = str(package.get("name") or folder.name).rpartition("/")[2]
    about = str(package.get("description") or metadata.get("category") or "").strip()
    return f"{name}: {about}"[:300] if about else name


def _recognises(folder: Path) -> bool:
    has_texts = (folder / TASK).exists() and (folder / INSTRUCTION).exists()
    return has_texts and ((folder / BUILD).exists() or (folder / "tests").exists())


READER = TaskReader(name="harbor", title="Harbor", rank=30, recognises=_recognises, read=read_harbor)
