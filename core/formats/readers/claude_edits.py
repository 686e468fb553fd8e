"""Changes of files in the structured results of Claude Code's tools."""

from __future__ import annotations

from typing import Any

from core.formats.edits import FileEdit
from core.formats.values import dicts_of, text_of


def file_edit(result: dict[str, Any]) -> FileEdit | None:
    """The change in a tool's structured result (Write, Edit, MultiEdit); None where a content is not there."""
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
