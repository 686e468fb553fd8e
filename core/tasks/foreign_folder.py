"""What readers of other programs' task folders share: names, tables, and errors that name the file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from core.domain.errors import InvalidInput, ReportableError
from core.domain.ids import is_id
from core.tasks.folder import read_text


@contextmanager
def reading(folder: Path, name: str) -> Iterator[None]:
    """Whatever goes wrong in here is InvalidInput (bad_task_file) that names the file."""
    path = folder / name
    try:
        yield
    except ReportableError as error:
        sentence = error.sentence if str(folder) in error.sentence else f"{path}: {error.sentence}"
        raise InvalidInput("bad_task_file", sentence, path=str(path)) from error
    except (ValueError, TypeError, AttributeError, RecursionError, OverflowError, msgspec.MsgspecError) as error:
        raise InvalidInput("bad_task_file", f"{path} cannot be read: {error}", path=str(path)) from error


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file whose top-level tables are tables. Raises InvalidInput, ValueError."""
    raw = tomllib.loads(read_text(path))
    for name in ("task", "metadata", "verifier", "agent", "environment", "solution"):
        if not isinstance(raw.get(name, {}), dict):
            raise ValueError(f"{name} is no table")
    return raw


def plain_id(folder: Path, name: str = "") -> str:
    """An id after a folder's name, with what ids may not hold as dashes."""
    text = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{folder.name}-{name}" if name else folder.name).strip("-.")[:60]
    if not is_id(text):
        raise InvalidInput("bad_task_file", f"the folder's name {folder.name[:60]!r} can name no task.")
    return text


def not_possible(what: str) -> InvalidInput:
    """The error for what a folder asks for and cannot have here; `what` names the field."""
    return InvalidInput("task_not_possible", f"{what}.")
