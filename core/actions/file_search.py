"""The file family, part two: finding text and files, and listing folders, with the sandbox's own grep and find."""

import posixpath
from typing import Annotated

from msgspec import Meta

from core.actions.bench import Bench
from core.actions.declare import OnHost, declared
from core.actions.result import ActionFailed, Result
from core.sandbox.sandbox import Sandbox

MATCHES = 100
FOUND = 50
_SKIPPED = (".git", "node_modules", "__pycache__", ".venv")
Term = Annotated[str, Meta(description="The text to look for, as it stands (no pattern).", min_length=1)]
Folder = Annotated[str, Meta(description="The folder; the workspace if left out.")]


class SearchDir(OnHost, frozen=True, kw_only=True):
    """Search a text in all files below a folder."""

    search_term: Term
    dir_path: Folder = ""


class SearchFile(OnHost, frozen=True, kw_only=True):
    """Search a text in one file."""

    search_term: Term
    file_path: Annotated[str, Meta(description="The file; the open file if left out.")] = ""


class FindFile(OnHost, frozen=True, kw_only=True):
    """Find files by a part of their names below a folder."""

    file_name: Annotated[str, Meta(description="A part of the name.", min_length=1)]
    dir_path: Folder = ""


class ListFiles(OnHost, frozen=True, kw_only=True):
    """List a folder."""

    path: Folder = "."
    show_hidden: Annotated[bool, Meta(description="Names that begin with a dot too.")] = False


async def search_dir(a: SearchDir, bench: Bench) -> Result:
    """grep in a folder."""
    host, sandbox = bench.host(a.computer_ip)
    folder = await _folder(bench, sandbox, a.dir_path)
    skipped = [f"--exclude-dir={name}" for name in _SKIPPED]
    return await _grep(sandbox, ["-r", *skipped], a.search_term, folder, host)


async def search_file(a: SearchFile, bench: Bench) -> Result:
    """grep in a file."""
    host, sandbox = bench.host(a.computer_ip)
    path = bench.path(sandbox, a.file_path) if a.file_path else bench.open_files.get(host, ("", 0))[0]
    if not path:
        raise ActionFailed("no_file_open", f"No file is open on {host}; name a file_path.", "refused")
    if (await sandbox.stat(path)).kind == "dir":
        raise ActionFailed("not_a_file", f"{path} is a folder; use search_dir.")
    return await _grep(sandbox, [], a.search_term, path, host)


async def _grep(sandbox: Sandbox, options: list[str], term: str, where: str, host: str) -> Result:
    """Run grep; its NUL behind each file's name keeps names with colons apart from their lines."""
    if "\0" in term or "\n" in term:
        raise ActionFailed("bad_term", "A search term is one line.", "refused")
    ran = await sandbox.run(["grep", "-nHIFZs", *options, "-e", term, "--", where], timeout=60, limit=2 << 20)
    if ran.exit_code > 1 and not ran.output:
        raise ActionFailed("search_failed", f"grep could not search {where}.")
    matches = []
    for row in ran.output.decode("utf-8", "replace").split("\n"):
        name, nul, rest = row.partition("\0")
        number, colon, line = rest.partition(":")
        if nul and colon and number.isdigit():
            matches.append({"file_path": name, "line": int(number), "content": line[:500]})
    files = len({m["file_path"] for m in matches})
    more = len(matches) > MATCHES or ran.truncated or ran.timed_out
    shown = matches[:MATCHES]
    text = "\n".join(f"{m['file_path']}:{m['line']}: {m['content']}" for m in shown)
    count = f"{'More than ' if more else ''}{len(shown) if more else len(matches)} matches in {files} files"
    hint = "; narrow the search to see the rest" if more else ""
    return Result(text=f"{count} for {term!r} in {where}{hint}.\n{text}".rstrip(),
                  data={"search_matches": shown, "num_matches": len(matches), "num_files": files, "computer_ip": host})


async def find_file(a: FindFile, bench: Bench) -> Result:
    """find by name."""
    _, sandbox = bench.host(a.computer_ip)
    folder = await _folder(bench, sandbox, a.dir_path)
    prune = [part for name in _SKIPPED for part in ("-name", name, "-o")][:-1]
    ran = await sandbox.run(["find", folder, "(", *prune, ")", "-prune", "-o", "-type", "f", "-print0"],
                            timeout=60, limit=8 << 20)
    wanted = a.file_name.lower()
    names = [n for n in ran.output.decode("utf-8", "replace").split("\0") if wanted in posixpath.basename(n).lower()]
    shown = sorted(names)[:FOUND]
    more = f" (the first {FOUND} shown)" if len(names) > FOUND else ""
    return Result(text="\n".join([f"{len(names)} files match {a.file_name!r} in {folder}{more}.", *shown]),
                  data={"files": shown, "num_files": len(names)})


async def list_files(a: ListFiles, bench: Bench) -> Result:
    """List a folder."""
    _, sandbox = bench.host(a.computer_ip)
    folder = await _folder(bench, sandbox, a.path)
    entries = [e for e in await sandbox.list(folder) if a.show_hidden or not posixpath.basename(e.path).startswith(".")]
    folders = [posixpath.basename(e.path) for e in entries if e.kind == "dir"]
    files = [(posixpath.basename(e.path), e.size) for e in entries if e.kind != "dir"]
    lines = [f"{n}/" for n in folders[:FOUND]] + [f"{n}  {size:,} bytes" for n, size in files[:FOUND]]
    left = max(0, len(folders) - FOUND) + max(0, len(files) - FOUND)
    text = "\n".join([f"{folder}: {len(folders)} folders, {len(files)} files", *lines,
                      *([f"… and {left} more"] if left else [])])
    return Result(text=text, data={"list_directories": folders[:FOUND], "list_files": [n for n, _ in files[:FOUND]],
                                   "total_items": len(entries)})


async def _folder(bench: Bench, sandbox: Sandbox, path: str) -> str:
    folder = bench.path(sandbox, path or ".")
    if (await sandbox.stat(folder)).kind == "file":
        raise ActionFailed("not_a_folder", f"{folder} is a file.")
    return folder


SEARCHES = declared(search_dir, search_file, find_file, list_files)
