"""What of a task's hidden part an agent could read in its host: the same files, or most of their lines, anywhere."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from core.sandbox.sandbox import Sandbox
from core.sandbox.streams import own_python
from core.tasks.catalogue import Catalogue
from core.tasks.reader import CatalogueTask

LEAST = 16
"""Bytes below which a file says too little to be a secret."""

LINE = 24
"""Characters below which a line does."""

SHARE = 0.5
MAX_LINES = 5000
MAX_TEXT = 32 << 20

_SCAN = r"""
import hashlib, json, os, sys
asked = json.load(sys.stdin)
sizes = {one["size"] for one in asked}
lines = {line for one in asked for line in one["lines"]}
seen, files = set(), []
for top, folders, names in os.walk("/"):
    if top in ("/proc", "/sys", "/dev"):
        folders[:] = []
        continue
    for name in names:
        path = os.path.join(top, name)
        try:
            size = os.lstat(path).st_size
            if not os.path.isfile(path) or os.path.islink(path):
                continue
            system = top.startswith(("/usr", "/lib", "/bin", "/sbin", "/opt/tiphys"))
            if size in sizes:
                data = open(path, "rb").read()
                files.append([path, hashlib.sha256(data).hexdigest()])
            if lines and not system and size <= 32 << 20:
                for line in open(path, "rb"):
                    digest = hashlib.sha256(line.strip()).hexdigest()[:16]
                    if digest in lines:
                        seen.add(digest)
        except OSError:
            pass
print(json.dumps({"files": files[:10000], "lines": sorted(seen)}))
"""


class Secret(msgspec.Struct, frozen=True):
    """A hidden file: its name, size, digest, and the digests of its lines."""

    name: str
    size: int
    digest: str
    lines: tuple[str, ...]


class _Seen(msgspec.Struct, frozen=True):
    files: list[tuple[str, str]]
    lines: list[str]


async def readable_secrets(host: Sandbox, entry: CatalogueTask, catalogue: Catalogue) -> list[str]:
    """What could be read, in words; empty where nothing could. Raises what the host raises."""
    secrets = await asyncio.to_thread(lambda: list(_secrets(entry, catalogue)))
    asked = msgspec.json.encode([{"size": s.size, "lines": s.lines} for s in secrets])
    ran = await host.run(own_python("-I", "-B", "-c", _SCAN), input=asked, timeout=300, limit=8 << 20)
    try:
        seen = msgspec.json.decode(ran.output, type=_Seen)
    except (ValueError, RecursionError):
        return [f"the host could not be looked through: {ran.output[-300:].decode('utf-8', 'replace')}"]
    by_digest = {digest: path for path, digest in seen.files}
    lines = set(seen.lines)
    found = [f"{s.name} lies at {by_digest[s.digest]}" for s in secrets if s.digest in by_digest]
    for secret in secrets:
        share = len(lines & {*secret.lines}) / len(secret.lines) if secret.lines else 0.0
        if share >= SHARE and secret.digest not in by_digest:
            found.append(f"{share:.0%} of the lines of {secret.name} can be read")
    return found


def _secrets(entry: CatalogueTask, catalogue: Catalogue) -> Iterator[Secret]:
    """The evaluator, the references that are not shown, and the solution's script."""
    task, proof = entry.task, entry.proof
    named = [name for name in (task.evaluator.script, task.evaluator.references) if name]
    for name in named:
        for relative, path in catalogue.paths(task, name):
            if relative not in proof.shown:
                yield from _secret(f"{name}/{relative}" if name != relative else name, path, with_lines=True)
    if proof.solution:
        yield from _secret(proof.solution, catalogue.file(task, proof.solution), with_lines=False)


def _secret(name: str, path: Path, *, with_lines: bool) -> Iterator[Secret]:
    size = path.stat().st_size
    if size < LEAST:
        return
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    lines: list[str] = []
    if with_lines and size <= MAX_TEXT:
        texts = (line.strip() for line in path.read_bytes().splitlines())
        long = dict.fromkeys(text for text in texts if len(text) >= LINE)
        lines = [hashlib.sha256(text).hexdigest()[:16] for text in long][:MAX_LINES]
    yield Secret(name, size, digest, tuple(lines) if len(lines) >= 4 else ())
