"""Terminal-Bench's first form (terminal-bench 0.2, `terminal_bench/handlers/trial_handler.py`).

    task.yaml  Dockerfile  docker-compose.yaml  run-tests.sh  tests/  solution.sh

Of the compose file one service is taken, which its Dockerfile makes and which only waits; the folders of logs and tests
that are mounted there are the harness's own and come into the evaluator's copy alone. All else is refused by its name.
As there, the tests run as root once the agent has stopped, and all of them must pass by pytest's summary.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.domain.task import AgentSettings, Evaluator, Host, Limits, ModelSettings, Task
from core.tasks.compose import read_compose
from core.tasks.dockerfile import Dockerfile
from core.tasks.folder import inside, read_text
from core.tasks.foreign_folder import not_possible, plain_id, reading
from core.tasks.harbor_parts import WORKDIR
from core.tasks.reader import CatalogueTask, Proof, TaskReader
from core.tasks.task_check import check_task
from core.tasks.yaml_table import check_idle, read_yaml

TASK, COMPOSE, TEST, TESTS, SOLUTION = "task.yaml", "docker-compose.yaml", "run-tests.sh", "tests", "solution.sh"

_SERVICE = frozenset({"build", "image", "container_name", "command", "environment", "volumes", "working_dir", "tty",
                      "stdin_open", "platform"})
"""Of these `image` and `container_name` are but names of what is built, and terminals are always had."""

_ENVIRONMENT = frozenset({"TEST_DIR", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"})
"""Variables without which the agent works the same; the tests are given the first."""

_LOGS = re.compile(r"\$\{T_BENCH_[A-Z_]*LOGS_PATH\}:\$\{T_BENCH_[A-Z_]*LOGS_PATH\}\Z")
_MOUNT = re.compile(r"(?P<source>[^:]+):(?P<target>/[^:]*)(?::ro)?\Z")


def read_terminal_bench(folder: Path) -> list[CatalogueTask]:
    """The task of a folder. Raises InvalidInput, which names the file and the field."""
    with reading(folder, TASK):
        raw = read_yaml(folder, TASK)
        service = _service(folder)
        for needed in (TEST, TESTS):
            inside(folder, needed)
        task = Task(
            id=plain_id(folder), title=_title(folder, raw), description=_instruction(raw),
            hosts=(_host(folder, service),),
            limits=Limits(wall_s=float(raw.get("max_agent_timeout_sec") or 360.0), evaluations=0),
            evaluator=Evaluator(kind="tests", script=TEST, references=TESTS, as_root=True,
                                tests_at=_tests_at(service.get("volumes") or []),
                                timeout_s=float(raw.get("max_test_timeout_sec") or 60.0)),
            domain=str(raw.get("category") or ""), difficulty=str(raw.get("difficulty") or ""))
        agent = AgentSettings(model=ModelSettings(kind="unknown"))
        check_task(task, agent)
        proof = Proof(solution=SOLUTION if (folder / SOLUTION).exists() else "")
        return [CatalogueTask(task=task, agent=agent, folder=folder, reader="terminal_bench", proof=proof)]


def _instruction(raw: Mapping[str, Any]) -> str:
    """What the agent is told; of several descriptions the one called base, which has no hints."""
    texts = {str(one.get("key")): one.get("description") for one in raw.get("descriptions") or []}
    text = str(raw.get("instruction") or texts.get("base") or "").strip()
    if not text:
        raise not_possible("there is no instruction")
    if str(raw.get("parser_name") or "pytest") != "pytest":
        raise not_possible(f"parser_name: {str(raw['parser_name'])[:80]} is not to be had here")
    if raw.get("run_tests_in_same_shell"):
        raise not_possible("run_tests_in_same_shell: tests are never run in a shell of the agent's")
    return text


def _service(folder: Path) -> dict[str, Any]:
    """The one service of the compose file; none where the Dockerfile says all."""
    if not (folder / COMPOSE).exists():
        return {}
    services = read_compose(folder, COMPOSE)
    if len(services) > 1:
        names = ", ".join(map(str, services))
        raise not_possible(f"{COMPOSE}: more than one service ({names[:200]}) is not to be had here")
    for service in services.values():
        service.require(_SERVICE)
        check_idle(COMPOSE, service.raw.get("command"))
        for name in service.given_variables():
            if name not in _ENVIRONMENT:
                raise not_possible(f"{COMPOSE}: environment {name[:80]} is not to be had here")
        return service.raw | {"volumes": service.entries("volumes")}
    return {}


def _host(folder: Path, service: Mapping[str, Any]) -> Host:
    build = service.get("build") or "."
    usual = {"context": ".", "dockerfile": "Dockerfile"}
    given = usual | (build if isinstance(build, dict) else {"context": build})
    if given not in (usual, usual | {"context": "./"}):
        raise not_possible(f"{COMPOSE}: build = {str(build)[:80]}: only the Dockerfile beside it is to be had here")
    dockerfile = Dockerfile(read_text(inside(folder, "Dockerfile")), "Dockerfile")
    workdir = str(service.get("working_dir") or dockerfile.workdir or WORKDIR)
    return Host(name="main", build=".", bases=dockerfile.bases, workdir=workdir, memory_mb=2048, disk_mb=10_240,
                network=True)


def _tests_at(volumes: list[Any]) -> str:
    """Where the tests are mounted, "" where that is /tests. A folder of the task's is shown to no agent."""
    place = ""
    for one in volumes:
        mount = _MOUNT.match(str(one))
        source = mount["source"].removeprefix("./").rstrip("/") if mount else ""
        if mount and source == TESTS:
            place = mount["target"].rstrip("/")
        elif source != TEST and not _LOGS.match(str(one)):
            raise not_possible(f"{COMPOSE}: the volume {str(one)[:80]} is not to be had here")
    return "" if place == "/tests" else place


def _title(folder: Path, raw: Mapping[str, Any]) -> str:
    about = str(raw.get("category") or "").strip()
    return f"{folder.name}: {about}"[:300] if about else folder.name[:300]


READER = TaskReader(name="terminal_bench", title="Terminal-Bench 1", rank=40, read=read_terminal_bench,
                    recognises=lambda folder: (folder / TASK).exists() and not (folder / "task.toml").exists())
