"""What an agent's calls did, as it shows it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from .leave import MOST_GIVEN, title_of
from .values import Json, object_of, objects_of, text_of

MOST_TEXT = 1 << 20
"""Characters of a file, or of what a command printed, that are told."""


class ShownCalls:
    """What the agent's calls did, as it shows it: edited files, and commands with what they printed."""

    def __init__(self, folder: str, tell: Callable[[str, object], Json]) -> None:
        self._folder, self._tell = folder, tell
        self._calls: dict[str, Json] = {}
        self._printed: dict[str, str] = {}

    def take(self, update: Json) -> str | None:
        """A call that began or went on; its title where it is a new one."""
        name = text_of(update.get("toolCallId"))
        is_new = "title" not in self._calls.get(name, {})
        call = self._calls.setdefault(name, {})
        call.update({key: value for key, value in update.items() if value is not None})
        self.announce(update)
        is_over = call.get("status") in ("completed", "failed")
        if call.get("kind") == "execute" and (is_over or call.get("status") == "in_progress"):
            self._print(name, call)
        if is_over:
            for edit in self._edits(call) if call["status"] == "completed" else ():
                self._tell("edit", edit)
            self._calls[name] = {"title": call.get("title")}
            self._printed.pop(name, None)
        return title_of(call) if is_new else None

    def announce(self, update: Json) -> None:
        """Remember the edits of a call, which some agents show only when they ask for leave."""
        edits = [part for part in objects_of(update.get("content")) if part.get("type") == "diff"]
        if edits:
            self._calls.setdefault(text_of(update.get("toolCallId")), {})["edits"] = edits

    def _print(self, name: str, call: Json) -> None:
        text = output_of(call)
        if not text and call.get("status") == "in_progress":  # it may still wait for leave
            return
        given = object_of(call.get("rawInput")).get("command")
        command = given if isinstance(given, str) and given else title_of(call)
        before = self._printed.get(name)
        self._printed[name] = text
        new = text[len(before):] if before is not None and text.startswith(before) else text
        head = "" if before is not None else f"$ {command[:MOST_GIVEN]}\n"
        end = "" if call.get("status") == "in_progress" or text.endswith("\n") or not text else "\n"
        if head or new or end:
            self._tell("printed", head + new[-MOST_TEXT:] + end)

    def _edits(self, call: Json) -> Iterator[Json]:
        for part in call.get("edits", ()):
            path, after = text_of(part.get("path")), text_of(part.get("newText"))
            if not path or not isinstance(part.get("newText"), str):
                continue
            path = os.path.normpath(Path(self._folder) / path)
            before = text_of(part.get("oldText")) or None
            is_large = len(after) > MOST_TEXT or len(before or "") > MOST_TEXT
            yield {"path": path[:4096], "before": None if is_large else before, "after": "" if is_large else after,
                   "size": len(after.encode()), "too_large": is_large,
                   "is_partial": not is_large and not _holds(path, after)}


def _holds(path: str, text: str) -> bool:
    """Whether a file is this text: some agents show all of it, some only the part that they changed."""
    try:
        with Path(path).open("rb") as file:
            return file.read(4 * MOST_TEXT + 1) == text.encode()
    except (OSError, ValueError):
        return False


def output_of(call: Json) -> str:
    """What a command printed by now, as far as the agent shows it."""
    raw = call.get("rawOutput")
    raw = raw.get("output") if isinstance(raw, dict) else raw
    if isinstance(raw, str) and raw:
        return text_of(raw)
    if call.get("status") == "in_progress" and "rawInput" not in call:
        return ""
    parts = (object_of(part.get("content")) for part in objects_of(call.get("content")))
    return "".join(text_of(part.get("text")) for part in parts)
