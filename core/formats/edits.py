"""Contents of files before and after a change, where a format holds them whole."""

from __future__ import annotations

from typing import Any

import msgspec

from core.domain.events import FileChanged
from core.formats.imported import SessionBuilder
from core.formats.values import dicts_of, text_of

_LARGEST = 16 * 1024 * 1024
"""Characters of a content that are kept."""


class FileEdit(msgspec.Struct, frozen=True):
    """One change of one file; `before` is None where the file was not there."""

    path: str
    before: str | None
    after: str

    def tell(self, builder: SessionBuilder, step: int) -> None:
        """Say it to a builder; a content that is too large is not kept."""
        size = len(self.after.encode("utf-8", "replace"))
        if max(len(self.after), len(self.before or "")) > _LARGEST:
            builder.fact(FileChanged(host="main", path=self.path, size=size, step=step, too_large=True))
            return
        before = "" if self.before is None else builder.blob(self.before.encode("utf-8", "replace"))
        builder.fact(FileChanged(host="main", path=self.path, before=before, step=step, size=size,
                                 after=builder.blob(self.after.encode("utf-8", "replace"))))


def of_claude(result: dict[str, Any]) -> FileEdit | None:
    """The change that a tool's structured result tells (Write, Edit, MultiEdit); None where a content is not there."""
    path = text_of(result.get("filePath"))
    before = result.get("originalFile", result.get("originalFileContents"))
    if not path or "structuredPatch" not in result:
        return None
    if isinstance(result.get("content"), str) and result.get("type") in ("create", "update"):
        if result["type"] == "create":
            return FileEdit(path, None, result["content"])
        return FileEdit(path, before, result["content"]) if isinstance(before, str) else None
    edits = dicts_of(result.get("edits")) or [result]
    after = before
    for edit in edits:
        old = edit.get("old_string", edit.get("oldString"))
        new = edit.get("new_string", edit.get("newString"))
        if not isinstance(after, str) or not isinstance(old, str) or not isinstance(new, str):
            return None
        if old not in after or result.get("userModified") is True:
            return None
        many = edit.get("replace_all", edit.get("replaceAll")) is True
        after = after.replace(old, new) if many else after.replace(old, new, 1)
    return FileEdit(path, before, after) if isinstance(before, str) and isinstance(after, str) else None


def of_openhands(told: dict[str, Any]) -> FileEdit | None:
    """The change that an observation of an edit tells."""
    path, after, before = text_of(told.get("path")), told.get("new_content"), told.get("old_content")
    if not path or not isinstance(after, str):
        return None
    if told.get("prev_exist") is False:
        return FileEdit(path, None, after)
    return FileEdit(path, before, after) if isinstance(before, str) else None


