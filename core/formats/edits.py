"""Contents of files before and after a change, where a format holds them whole."""

from __future__ import annotations

from typing import Any

import msgspec

from core.domain.events import FileChanged
from core.formats.imported import SessionBuilder
from core.formats.values import text_of

_LARGEST = 16 * 1024 * 1024
"""Most characters of a content."""


class FileEdit(msgspec.Struct, frozen=True):
    """One change of one file; `before` is None where the file was not there."""

    path: str
    before: str | None
    after: str

    def record(self, builder: SessionBuilder, step: int) -> None:
        """Add it to a session; a content that is too large is left out."""
        size = len(self.after.encode("utf-8", "replace"))
        if max(len(self.after), len(self.before or "")) > _LARGEST:
            builder.fact(FileChanged(host="main", path=self.path, size=size, step=step, too_large=True))
            return
        before = "" if self.before is None else builder.blob(self.before.encode("utf-8", "replace"))
        builder.fact(FileChanged(host="main", path=self.path, before=before, step=step, size=size,
                                 after=builder.blob(self.after.encode("utf-8", "replace"))))


def of_openhands(observation: dict[str, Any]) -> FileEdit | None:
    """The change that an observation of an edit holds."""
    path = text_of(observation.get("path"))
    before, after = observation.get("old_content"), observation.get("new_content")
    if not path or not isinstance(after, str):
        return None
    if observation.get("prev_exist") is False:
        return FileEdit(path, None, after)
    return FileEdit(path, before, after) if isinstance(before, str) else None


