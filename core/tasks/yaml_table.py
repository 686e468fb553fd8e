"""A foreign YAML file's table: bounded, as reading takes the square of length and depth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.tasks.dockerfile import IDLE
from core.tasks.folder import inside, read_text
from core.tasks.foreign_folder import not_possible

LONGEST, DEEPEST = 1 << 17, 20
"""Characters of the longest YAML file that is read, and how deep the deepest is."""


def read_yaml(folder: Path, name: str) -> dict[str, Any]:
    """A YAML file's table; an empty file's is empty. One that refers back to itself is refused: a few lines of such
    references stand for more than a memory holds. Raises InvalidInput, ValueError."""
    import yaml  # most folders of tasks, and all commands on sessions, have none

    text = read_text(inside(folder, name))
    if len(text) > LONGEST:
        raise not_possible(f"{name} has more than {LONGEST >> 10} KiB")
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent):
                raise not_possible(f"{name} refers back to parts of itself (*name)")
            if depth > DEEPEST:
                raise not_possible(f"{name} is nested more than {DEEPEST} deep")
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"{name} is no YAML: {str(error)[:300]}") from error
    if not isinstance(found or {}, dict):
        raise not_possible(f"{name} holds no table")
    return found or {}


def check_idle(where: str, command: object) -> None:
    """Raises InvalidInput for a service's command that does more than wait."""
    if command is not None and not isinstance(command, str | list):
        raise not_possible(f"{where}: command is {str(command)[:80]!r} and must be a text or a list")
    words = command.split() if isinstance(command, str) else [str(word) for word in command or []]
    if not is_idle(words):
        raise not_possible(f"{where}: command {_program(words)[:80]}: a host starts nothing but its terminals")


def is_idle(words: list[str]) -> bool:
    """Whether a command only waits."""
    program = _program(words)
    return not program or IDLE.match(program) is not None


def _program(words: list[str]) -> str:
    """What a command runs, without a shell around it."""
    if words[:2] in (["sh", "-c"], ["bash", "-c"], ["/bin/sh", "-c"], ["/bin/bash", "-c"]):
        words = words[2:]
    return " ".join(words).strip("\"'")
