"""Endless Terminals' task folders (arXiv 2601.16443), in the two forms that its programs write.

    task.json  container.def  test_initial_state.py  test_final_state.py           as generated, for Apptainer
    task.toml  instruction.md  environment/Dockerfile  tests/test_final_state.py   converted for Harbor

The converted form's test.sh fetches pytest from the network; the tests themselves are run here, by the pytest that
the image has.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from core.domain.errors import InvalidInput
from core.domain.task import AgentSettings, Evaluator, Host, Limits, ModelSettings, Task
from core.tasks.apptainer import dockerfile_of
from core.tasks.dockerfile import Dockerfile
from core.tasks.folder import inside, read_text
from core.tasks.foreign_folder import plain_id, reading
from core.tasks.reader import CatalogueTask, TaskReader
from core.tasks.readers.harbor import read_harbor
from core.tasks.task_check import check_task

TASK, FINAL, DEFINITION = "task.json", "test_final_state.py", "container.def"
HOME = "/home/user"
_DEFAULTS = {"verifier_timeout_sec": 300.0, "agent_timeout_sec": 300.0, "cpus": 1, "memory_mb": 2048,
             "storage_mb": 10_240}


def read_endless(folder: Path) -> list[CatalogueTask]:
    """The task of a folder. Raises InvalidInput, which names the file."""
    if (folder / "tests" / FINAL).exists():
        return read_harbor(folder, f"tests/{FINAL}", "endless")
    with reading(folder, TASK):
        for name in (FINAL, DEFINITION):
            if not (folder / name).exists():
                raise InvalidInput("task_not_possible", f"an Endless Terminals task without {name}: its settings alone "
                                   "cannot be run or scored.")
        raw = msgspec.json.decode(read_text(folder / TASK), type=dict[str, Any])
        task = _task(folder, raw)
        agent = AgentSettings(model=ModelSettings(kind="unknown"))
        check_task(task, agent)
        return [CatalogueTask(task=task, agent=agent, folder=folder, reader="endless")]


def _task(folder: Path, raw: dict[str, Any]) -> Task:
    metadata, config = raw.get("metadata") or {}, raw.get("config") or {}
    numbers = {**_DEFAULTS, **config, **(config.get("environment") or {})}
    dockerfile = Dockerfile(dockerfile_of(read_text(inside(folder, DEFINITION))), DEFINITION)
    host = Host(name="main", build=DEFINITION, bases=dockerfile.bases, workdir=HOME, cpus=float(numbers["cpus"]),
                memory_mb=int(numbers["memory_mb"]), disk_mb=int(numbers["storage_mb"]), network=True)
    return Task(
        id=plain_id(folder), title=str(raw.get("name") or raw.get("task_id") or folder.name),
        description=str(raw.get("description") or raw.get("instruction") or "").strip(), hosts=(host,),
        limits=Limits(wall_s=float(numbers["agent_timeout_sec"]), evaluations=0),
        evaluator=Evaluator(kind="tests", script=FINAL, references=FINAL,
                            timeout_s=float(numbers["verifier_timeout_sec"])),
        domain=str(metadata.get("category", "")), difficulty=str(metadata.get("difficulty", "")))


def _recognises(folder: Path) -> bool:
    is_generated = (folder / TASK).exists() and not (folder / "task.toml").exists()
    return is_generated or ((folder / "task.toml").exists() and (folder / "tests" / FINAL).exists())


READER = TaskReader(name="endless", title="Endless Terminals", rank=20, recognises=_recognises, read=read_endless)
