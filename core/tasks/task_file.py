"""`task.toml` → Task and the agent settings that the task suggests. Paths inside stay relative to its folder."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec

from core.domain.errors import InvalidInput, ReportableError
from core.domain.task import AgentSettings, EnvironmentSettings, Evaluator, Host, Limits, Program, Task
from core.tasks.folder import inside, read_text
from core.tasks.reader import CatalogueTask, Proof
from core.tasks.task_check import check_proof, check_task

TASK_FILE = "task.toml"


class TaskFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file as it is written. `description` may be the name of a Markdown file beside it."""

    id: str
    title: str
    description: str
    hosts: tuple[Host, ...] | None = None
    limits: Limits = Limits()
    evaluator: Evaluator = Evaluator()
    workspace: str = ""
    packages: str = ""
    waits_for_guidance: bool = False
    peers: bool = True
    shared_folder: bool = False
    domain: str = ""
    difficulty: str = ""
    baseline: float | None = None
    best_known: float | None = None
    environment: EnvironmentSettings | None = None
    services: tuple[Host, ...] = ()
    agent: AgentSettings = AgentSettings()
    proof: Proof = Proof()


def read_task(folder: Path) -> CatalogueTask:
    """The task of a folder. Raises InvalidInput where the file is missing or wrong, which names file and field."""
    path = folder / TASK_FILE
    try:
        raw = tomllib.loads(read_text(path))
        _check_fields(raw, TaskFile, "")
        file = msgspec.convert(raw, TaskFile)
        task = Task(
            id=file.id, title=file.title, description=_description(folder, file.description), hosts=_hosts(file),
            limits=_limits(file, raw.get("limits", {})), evaluator=file.evaluator, workspace=file.workspace,
            packages=file.packages, waits_for_guidance=file.waits_for_guidance, peers=file.peers,
            shared_folder=file.shared_folder, domain=file.domain, difficulty=file.difficulty, baseline=file.baseline,
            best_known=file.best_known, environment=file.environment, services=tuple(map(_service, file.services)),
        )
        check_task(task, file.agent)
        check_proof(file.proof)
    except ReportableError as error:
        sentence = error.sentence if str(path) in error.sentence else f"{path}: {error.sentence}"
        raise InvalidInput("bad_task_file", sentence, path=str(path)) from error
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise InvalidInput("bad_task_file", f"{path} cannot be read: {error}", path=str(path)) from error
    return CatalogueTask(task=task, agent=file.agent, folder=folder, proof=file.proof)


def _hosts(file: TaskFile) -> tuple[Host, ...]:
    """Its hosts; one where it names none, and none where an environment stands in their place."""
    if file.hosts is None:
        return () if file.environment is not None else (Host(name="main"),)
    return file.hosts


def _service(host: Host) -> Host:
    """A service that says nothing of its program runs what its image says."""
    return host if host.program is not None else msgspec.structs.replace(host, program=Program())


def _limits(file: TaskFile, named: dict[str, Any]) -> Limits:
    """Its limits. In an environment those that it does not name are the environment's own, which nobody here knows."""
    if file.environment is None:
        return file.limits
    unnamed: dict[str, Any] = {name: None for name in ("steps", "evaluations") if name not in named}
    return msgspec.structs.replace(file.limits, **unnamed)


def _check_fields(raw: dict[str, Any], kind: type[msgspec.Struct], where: str) -> None:
    """Refuse a field that nothing reads, at any level: who wrote it believes that it counts. Raises InvalidInput."""
    hints = get_type_hints(kind)
    for name, value in raw.items():
        if kind is AgentSettings and name == "confirmed_unconfined":
            raise InvalidInput("bad_task_file", f"{where}{name} cannot stand in a file: a person says it when the "
                               "session is started.", field=name)
        if name not in hints:
            raise InvalidInput("bad_task_file", f"there is no field {where}{name[:80]}; there are "
                               f"{', '.join(n for n in hints if n != 'confirmed_unconfined')}.", field=name[:80])
        part = _struct_in(hints[name])
        for one in value if isinstance(value, list) else [value]:
            if part is not None and isinstance(one, dict):
                _check_fields(one, part, f"{where}{name}.")


def _struct_in(hint: Any) -> type[msgspec.Struct] | None:
    """The type of a field's tables, however deep: of `tuple[Host, ...] | None` it is Host."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return hint
    return next((found for part in get_args(hint) if (found := _struct_in(part)) is not None), None)


def _description(folder: Path, text: str) -> str:
    if text.endswith(".md") and "\n" not in text:
        return read_text(inside(folder, text)).strip()
    return text.strip()
