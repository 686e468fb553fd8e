"""What an administrator sets for everybody at this computer: settings below the person's own, some of them fixed, the
lab's servers, and where newer versions are offered."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import msgspec

DEFAULT_FILE = Path("/etc/tiphys/desktop.toml")
VARIABLE = "TIPHYS_DESKTOP_SETTINGS"
"""Names another file; for tests, and where /etc cannot be written."""

LONGEST = 1 << 20


class LabServer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A server that people of the lab work with; `url` may end with its certificate's fingerprint."""

    url: str
    name: str = ""


class UpdateFeed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where to look for a newer version (a folder or an https address), and the key that signs what is said there."""

    feed: str
    key: str


class Central(msgspec.Struct, frozen=True):
    """`values` by the key of their setting, which a person's own win over, but for those that `fixed` names."""

    values: dict[str, Any] = {}
    fixed: frozenset[str] = frozenset()
    servers: tuple[LabServer, ...] = ()
    updates: UpdateFeed | None = None
    problem: str = ""
    """Why the file could not be read."""


def central_file() -> Path:
    """Where the administrator's file lies."""
    return Path(os.environ.get(VARIABLE) or DEFAULT_FILE)


def read_central(path: Path) -> Central:
    """What the file says; nothing where there is none. One that cannot be read keeps nobody out: `problem` says why."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8")[:LONGEST])
        fixed = msgspec.convert(table.pop("fixed", []), tuple[str, ...])
        servers = msgspec.convert(table.pop("servers", []), tuple[LabServer, ...])
        updates = msgspec.convert(table.pop("updates", None), UpdateFeed | None)
    except FileNotFoundError:
        return Central()
    except (OSError, ValueError, RecursionError) as error:  # msgspec's ValidationError is a ValueError
        return Central(problem=f"{path} cannot be used: {error}")
    return Central(values=flat(table), fixed=frozenset(fixed), servers=servers, updates=updates)


def flat(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The values of a TOML table and of those within it, by dotted keys."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{key}.")
        else:
            found[prefix + key] = value
    return found
