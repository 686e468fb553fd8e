"""`task.toml` → Task and the agent settings that the task suggests. Paths inside stay relative to its folder."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec

from core.domain.errors import InvalidInput
from core.domain.ids import is_id
from core.domain.task import AgentSettings, Evaluator, Host, Limits, Task

TASK_FILE = "task.toml"


class TaskFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file as it is written. `description` may be the name of a Markdown file beside it."""

    id: str
    title: str
    description: str
    hosts: tuple[Host, ...] = (Host(name="main"),)
    limits: Limits = Limits()
    evaluator: Evaluator = Evaluator()
    workspace: str = ""
    waits_for_guidance: bool = False
    agent: AgentSettings = AgentSettings()


class CatalogueTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task of the catalogue: the task, the agent that its file suggests, and the folder it lies in."""

    task: Task
    agent: AgentSettings
    folder: Path


def read_task(folder: Path) -> CatalogueTask:
    """The task of a folder. Raises InvalidInput where the file is missing or wrong."""
    path = folder / TASK_FILE
    try:
        file = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), TaskFile)
    except (OSError, ValueError, RecursionError, msgspec.ValidationError) as error:
        raise InvalidInput("bad_task_file", f"{path} cannot be read: {error}", path=str(path)) from error
    if not is_id(file.id) or not file.hosts:
        raise InvalidInput("bad_task_file", f"{path} needs a plain id and at least one host.", path=str(path))
    task = Task(
        id=file.id, title=file.title, description=_description(folder, file.description), hosts=file.hosts,
        limits=file.limits, evaluator=file.evaluator, workspace=file.workspace,
        waits_for_guidance=file.waits_for_guidance,
    )
    return CatalogueTask(task=task, agent=file.agent, folder=folder)


def _description(folder: Path, text: str) -> str:
    if text.endswith(".md") and "\n" not in text:
        return _text(inside(folder, text))
    return text.strip()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise InvalidInput("bad_task_file", f"{path} cannot be read: {error}", path=str(path)) from error


def inside(folder: Path, name: str) -> Path:
    """The file that a task names in its folder. Raises InvalidInput where it leaves the folder or is missing."""
    try:
        path = (folder / name).resolve()
        is_there = path.is_relative_to(folder.resolve()) and path.exists()
    except (OSError, ValueError) as error:
        raise InvalidInput("bad_task_file", f"{name[:80]!r} cannot name a file: {error}", path=name) from error
    if not is_there:
        raise InvalidInput("bad_task_file", f"{name} is not a file of the task in {folder}.", path=name)
    return path
