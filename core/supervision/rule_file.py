"""rules.toml, read and written: which rules a person switched off or tuned, for all sessions or those of one task."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from core.domain.errors import InvalidInput, Unavailable
from core.store.home import write_private

FILE = "rules.toml"
_BARE = re.compile(r"[A-Za-z0-9_-]+")


class RuleFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What rules.toml holds: settings by rule, and the same for single tasks. `at_end`: whether the rules judge a
    session when it ends, without being asked; None is as for all sessions, and that is yes."""

    at_end: bool | None = None
    rules: dict[str, dict[str, Any]] = {}
    tasks: dict[str, RuleFile] = {}


def read_rule_file(path: Path) -> RuleFile:
    """The settings of a file; none where it does not exist. Raises InvalidInput."""
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), RuleFile)
    except FileNotFoundError:
        return RuleFile()
    except (OSError, ValueError, RecursionError, msgspec.ValidationError) as error:
        raise InvalidInput("bad_rules", f"{path} cannot be read: {error}", path=str(path)) from error


def judges_at_end(folder: Path, task: str = "") -> bool:
    """Whether the rules of a folder judge the sessions of a task when these end. Raises InvalidInput."""
    file = read_rule_file(folder / FILE)
    own = file.tasks[task].at_end if task in file.tasks else None
    return own if own is not None else file.at_end is not False


def set_rule(folder: Path, name: str, settings: Mapping[str, Any], task: str = "") -> None:
    """Put the settings of one rule in place of those that stand there, for all sessions or those of a task; empty ones
    take them away. What stood in the file before lies beside it as rules.toml~ (comments are not kept in the new one).

    Raises InvalidInput for a file that cannot be read, Unavailable for one that cannot be written.
    """
    path = folder / FILE
    file = read_rule_file(path)
    part = file.tasks.get(task, RuleFile()) if task else file
    rules = {k: v for k, v in {**part.rules, name: dict(settings)}.items() if v}
    changed = msgspec.structs.replace(part, rules=rules)
    if task:
        tasks = {k: v for k, v in {**file.tasks, task: changed}.items() if v != RuleFile()}
        changed = msgspec.structs.replace(file, tasks=tasks)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            write_private(folder / f"{FILE}~", path.read_bytes())
        write_private(path, "\n".join(_lines(changed)).encode())
    except OSError as error:
        raise Unavailable("rules_unwritable", f"{path} cannot be written: {error}", path=str(path)) from error


def _lines(file: RuleFile, before: str = "") -> Iterator[str]:
    if file.at_end is not None:
        if before:
            yield f"[{before.removesuffix('.')}]"
        yield from (f"at_end = {_value(file.at_end)}", "")
    for name, settings in file.rules.items():
        yield f"[{before}rules.{_key(name)}]"
        yield from (f"{_key(key)} = {_value(value)}" for key, value in settings.items())
        yield ""
    for name, part in file.tasks.items():
        yield from _lines(part, f"tasks.{_key(name)}.")


def _value(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_value(v) for v in value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else _text(value)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(value: object) -> str:
    """A basic string of TOML, which is written as JSON writes it but for one character."""
    return msgspec.json.encode(str(value)).decode().replace("\x7f", "\\u007f")
