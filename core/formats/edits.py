"""Contents of files before and after a change, where a format holds them whole."""

from __future__ import annotations

from typing import Any

import msgspec

from core.formats.values import text_of


class FileEdit(msgspec.Struct, frozen=True):
    """One change of one file; `before` is None where the file was not there, `after` where it was removed.
    `is_partial`: both hold the changed part of the file alone."""

    path: str
    before: str | None
    after: str | None
    is_partial: bool = False


def of_openhands(observation: dict[str, Any]) -> FileEdit | None:
    """The change that an observation of an edit holds."""
    path = text_of(observation.get("path"))
    before, after = observation.get("old_content"), observation.get("new_content")
    if not path or not isinstance(after, str):
        return None
    if observation.get("prev_exist") is False:
        return FileEdit(path, None, after)
    return FileEdit(path, before, after) if isinstance(before, str) else None


