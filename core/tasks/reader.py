"""What a task reader is: one way in which a folder describes tasks. Each module of `readers` declares one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from core.domain.task import AgentSettings, Task


class Proof(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What shows that a task is sound, for `tiphys tasks check` and for novelty; nothing of it enters a session.

    `solution` is a script of the task that solves it, run in the first host, and earns `expect`; each of `cheats` is
    one that must earn nothing; `initial` is one that must succeed in the host as a session finds it. `known` are
    further known solutions, files or folders. `shown` are references that the agent may see.
    """

    solution: str = ""
    initial: str = ""
    expect: float = 100.0
    cheats: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()


class CatalogueTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task of the catalogue: the task, the agent that its file suggests, the folder it lies in, who reads it."""

    task: Task
    agent: AgentSettings
    folder: Path
    proof: Proof = Proof()
    reader: str = "tiphys"


class TaskReader(msgspec.Struct, frozen=True, kw_only=True):
    """One layout of folders. Of two that recognise a folder the lower `rank` reads it.

    `read` gives the folder's tasks; it raises InvalidInput with what is wrong, or is asked for and not to be had here.
    """

    name: str
    title: str
    recognises: Callable[[Path], bool]
    read: Callable[[Path], list[CatalogueTask]]
    rank: int = 50
