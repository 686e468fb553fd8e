"""The file family, part one: reading through a window of 100 lines, creating and editing, inside the sandbox."""

from typing import Annotated

from msgspec import Meta

from core.actions.bench import Bench
from core.actions.declare import Line, OnHost, declared
from core.actions.file_search import SEARCHES
from core.actions.result import ActionFailed, Result
from core.domain.errors import NotFound
from core.sandbox.sandbox import Sandbox

WINDOW = 100
READ_LIMIT = 16 << 20


class OpenFile(OnHost, frozen=True, kw_only=True):
    """Open a text file and show up to 100 lines of it, numbered."""

    path: Annotated[str, Meta(description="Path; relative ones start in the workspace.", min_length=1)]
    line_number: Annotated[int, Meta(description="The first line to show, from 1.", ge=1)] = 1
    context_lines: Annotated[int | None, Meta(description="How many lines to show, at most 100.")] = None


class FileGotoLine(OnHost, frozen=True, kw_only=True):
    """Show the open file from a line on."""

    line_number: Line


class FileScrollDown(OnHost, frozen=True, kw_only=True):
    """Show the next 100 lines of the open file."""


class FileScrollUp(OnHost, frozen=True, kw_only=True):
    """Show the 100 lines before, of the open file."""


class CreateFile(OnHost, frozen=True, kw_only=True):
    """Write a whole file, and the folders above it; what it held before is replaced."""

    filename: Annotated[str, Meta(description="Path of the file.", min_length=1)]
    content: Annotated[str, Meta(description="All it shall hold.")] = ""


class EditFile(OnHost, frozen=True, kw_only=True):
    """Replace lines start to end (both included) of a file by new lines; end = start - 1 inserts before start.

    Look at the lines first: numbers change with every edit.
    """

    content: Annotated[str, Meta(description="The new lines; empty deletes.")]
    path: Annotated[str, Meta(description="Path of the file; the open file if left out.")] = ""
    start: Annotated[int, Meta(description="The first line to replace, from 1.", ge=1)] = 1
    end: Annotated[int, Meta(description="The last line to replace; -1 is the last line of the file.", ge=-1)] = -1


class GetFileInfo(OnHost, frozen=True, kw_only=True):
    """Tell which file is open, at which line, and how long it is."""


async def open_file(a: OpenFile, bench: Bench) -> Result:
    """Open a file."""
    host, sandbox = bench.host(a.computer_ip)
    size = min(max(1, a.context_lines or WINDOW), WINDOW)
    return await _show(bench, host, sandbox, bench.path(sandbox, a.path), a.line_number, size)


async def file_goto_line(a: FileGotoLine, bench: Bench) -> Result:
    """Go to a line."""
    host, sandbox, path, _ = _current(bench, a.computer_ip)
    return await _show(bench, host, sandbox, path, a.line_number)


async def file_scroll_down(a: FileScrollDown, bench: Bench) -> Result:
    """Go on."""
    host, sandbox, path, line = _current(bench, a.computer_ip)
    return await _show(bench, host, sandbox, path, line + WINDOW)


async def file_scroll_up(a: FileScrollUp, bench: Bench) -> Result:
    """Go back."""
    host, sandbox, path, line = _current(bench, a.computer_ip)
    return await _show(bench, host, sandbox, path, max(1, line - WINDOW))


async def create_file(a: CreateFile, bench: Bench) -> Result:
    """Write a file."""
    host, sandbox = bench.host(a.computer_ip)
    path = bench.path(sandbox, a.filename)
    before = await _content(sandbox, path)
    await _replace(bench, host, sandbox, path, before, a.content.encode("utf-8", "surrogateescape"))
    bench.open_files[host] = (path, 1)
    lines = _lines(a.content)
    removed = "" if before is None else _numbered(_lines(_text(before))[:WINDOW], 1)
    text = f"{'Wrote' if before is None else 'Replaced'} {path} ({len(lines)} lines)."
    return Result(text=text, data={"path": path, "removed_context": removed,
                                   "added_context": _numbered(lines[:WINDOW], 1)})


async def edit_file(a: EditFile, bench: Bench) -> Result:
    """Replace lines."""
    host, sandbox = bench.host(a.computer_ip)
    path = bench.path(sandbox, a.path) if a.path else _current(bench, host)[2]
    before = await _content(sandbox, path)
    if before is None:
        raise ActionFailed("not_found", f"There is no file {path}; create_file makes one.")
    text = _text(before)
    lines = _lines(text)
    end = len(lines) if a.end == -1 else a.end
    if not (1 <= a.start <= len(lines) + 1 and a.start - 1 <= end <= len(lines)):
        raise ActionFailed("bad_range", f"{path} has {len(lines)} lines; {a.start}–{a.end} is not among them.",
                           "refused")
    added = _lines(a.content)
    after = [*lines[: a.start - 1], *added, *lines[end:]]
    ends = text.endswith("\n") or not text or end >= len(lines)
    new = "\n".join(after) + ("\n" if ends and after else "")
    await _replace(bench, host, sandbox, path, before, new.encode("utf-8", "surrogateescape"))
    bench.open_files[host] = (path, max(1, a.start - 5))
    removed = _numbered(lines[a.start - 1 : end], a.start)
    shown = _numbered(after[max(0, a.start - 4) : a.start + len(added) + 2], max(1, a.start - 3))
    return Result(text=f"Edited {path}, now {len(after)} lines.\nRemoved:\n{removed or '(nothing)'}\nNow:\n{shown}",
                  data={"path": path, "removed_context": removed, "added_context": _numbered(added, a.start)})


async def get_file_info(a: GetFileInfo, bench: Bench) -> Result:
    """What is open."""
    _, sandbox, path, line = _current(bench, a.computer_ip)
    total = len(_lines(_text(await sandbox.read_file(path, READ_LIMIT))))
    return Result(text=f"{path} is open at line {line} of {total}; the window has {WINDOW} lines.",
                  data={"path": path, "current_line": line, "total_lines": total, "window_size": WINDOW})


async def _show(bench: Bench, host: str, sandbox: Sandbox, path: str, line: int, size: int = WINDOW) -> Result:
    data = await sandbox.read_file(path, READ_LIMIT)
    if b"\0" in data[:8192]:
        raise ActionFailed("not_text", f"{path} is not a text file.")
    lines = _lines(_text(data))
    line = min(line, max(1, len(lines)))
    shown = lines[line - 1 : line - 1 + size]
    end = line - 1 + len(shown)
    bench.open_files[host] = (path, line)
    text = f"[File: {path} ({len(lines)} lines total)]\n{_numbered(shown, line)}"
    return Result(text=text, data={"path": path, "current_line": line, "total_lines": len(lines), "start_line": line,
                                   "end_line": end})


async def _replace(bench: Bench, host: str, sandbox: Sandbox, path: str, before: bytes | None, after: bytes) -> None:
    await sandbox.write_file(path, after)
    await bench.files.edited(host, path, before, after, bench.step)


async def _content(sandbox: Sandbox, path: str) -> bytes | None:
    try:
        return await sandbox.read_file(path, READ_LIMIT)
    except NotFound:
        return None


def _current(bench: Bench, name: str) -> tuple[str, Sandbox, str, int]:
    host, sandbox = bench.host(name)
    if host not in bench.open_files:
        raise ActionFailed("no_file_open", f"No file is open on {host}; use open_file.", "refused")
    return host, sandbox, *bench.open_files[host]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _lines(text: str) -> list[str]:
    """The lines of a text, split at \\n only, so that edits keep every other byte; none for an empty text."""
    return text.removesuffix("\n").split("\n") if text else []


def _numbered(lines: list[str], first: int) -> str:
    plain = "\n".join(f"{n}|{line}" for n, line in enumerate(lines, first))
    return plain.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


ACTIONS = (
    *declared(open_file, file_goto_line, file_scroll_down, file_scroll_up, create_file, edit_file), *SEARCHES,
    *declared(get_file_info),
)
