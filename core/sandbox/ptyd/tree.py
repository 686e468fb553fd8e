"""Says what lies in folders, or lays it down again: a program of its own, run for each snapshot and each restoring.

`save ROOT…` reads from stdin one JSON line of what is known of each root ({path: [size, mtime, ctime, inode, hash of
each piece …]}, hashes for files of several pieces), and prints records: a kind, a length, a payload. `load ROOT…`
empties the roots and takes such records. Paths travel as the Latin-1 of their bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import struct
import subprocess
import sys
import time
from typing import Any, BinaryIO

HEAD = struct.Struct(">cI")
PIECE, RECORD = 4 << 20, 1 << 20
TICK_NS = 20_000_000
"""A file that changed so shortly before may change again within the same tick of the clock."""

DEEPEST = 200
"""Folders within folders that are saved; whoever reads a snapshot walks as deep."""
MOST_HOLES = 4 << 30
"""Bytes that a file may claim and not take on the disk: one with more is not read."""

Known = dict[str, list[Any]]

OUT = os.fdopen(os.dup(1), "wb", buffering=RECORD)
"""Records go out by the megabyte: a small file is several of them."""


def say(kind: bytes, payload: bytes) -> None:
    """Print a record."""
    OUT.write(HEAD.pack(kind, len(payload)))
    OUT.write(payload)


class Saver:
    """Walks one root."""

    def __init__(self, place: int, root: bytes, known: Known, began: int) -> None:
        self.place, self.root, self.known, self.began = place, root, known, began

    def walk(self, path: bytes = b"") -> None:
        """A folder and all below it, names in order."""
        try:
            names = sorted(os.listdir(os.path.join(self.root, path) if path else self.root))
        except OSError as error:
            self.problem(path, error)
            return
        for name in names:
            below = os.path.join(path, name) if path else name
            try:
                self.entry(below)
            except OSError as error:
                self.problem(below, error)

    def entry(self, path: bytes) -> None:
        """One name."""
        full = os.path.join(self.root, path)
        at = os.lstat(full)
        kind = _kind(at.st_mode)
        if not kind:
            self.problem(path, "neither a file, a folder nor a link")
            return
        if kind == "d" and path.count(b"/") >= DEEPEST:
            self.problem(path, "lies too deep")
            return
        if kind == "f" and at.st_size - 512 * at.st_blocks > MOST_HOLES:
            self.problem(path, "is almost all holes")
            return
        text = path.decode("latin-1")
        look = [at.st_size, at.st_mtime_ns, at.st_ctime_ns, at.st_ino]
        known = self.known.get(text, [])
        same = kind == "f" and known[:4] == look
        line = {"r": self.place, "p": text, "k": kind, "m": stat.S_IMODE(at.st_mode), "a": look, "same": same,
                "young": at.st_ctime_ns > self.began - TICK_NS}
        if kind == "l":
            line["l"] = os.readlink(full).decode("latin-1")
        if kind == "f" and not same:
            self.content(path, full, line, known[4:])
            return
        say(b"E", json.dumps(line).encode())
        if kind == "d":
            self.walk(path)

    def content(self, path: bytes, full: bytes, line: dict[str, Any], hashes: list[str]) -> None:
        """A file that is not known as it is; of its pieces only those that are not known."""
        with open(full, "rb", buffering=0) as file:
            say(b"E", json.dumps(line).encode())
            place = 0
            while data := _filled(file):
                if place < len(hashes) and hashlib.blake2b(data, digest_size=32).hexdigest() == hashes[place]:
                    say(b"K", str(place).encode())
                else:
                    for at in range(0, len(data), RECORD):
                        say(b"D", data[at : at + RECORD])
                place += 1
            after = os.fstat(file.fileno())
        changed = [after.st_size, after.st_mtime_ns] != line["a"][:2]
        say(b"F", b"1" if changed else b"0")
        if changed:
            self.problem(path, "was written to meanwhile")

    def problem(self, path: bytes, why: object) -> None:
        """What could not be saved."""
        text = (why.strerror or "unreadable") if isinstance(why, OSError) else str(why)
        say(b"X", json.dumps([self.place, path.decode("latin-1"), text]).encode())


class Loader:
    """Lays records down. Links come last, so that nothing is written through one; times of folders after them."""

    def __init__(self, roots: list[str]) -> None:
        self.roots = [os.fsencode(root) for root in roots]
        self.file: BinaryIO | None = None
        self.line: dict[str, Any] = {}
        self.folders: list[tuple[bytes, dict[str, Any]]] = []
        self.links: list[tuple[bytes, dict[str, Any]]] = []

    def load(self) -> None:
        """All of stdin."""
        while True:
            kind, size = HEAD.unpack(_exactly(HEAD.size))
            payload = _exactly(size)
            if kind == b"D" and self.file is not None:
                self.file.write(payload)
                continue
            self.settle()
            if kind == b"Z":
                break
            self.begin(json.loads(payload))
        self.finish()

    def begin(self, line: dict[str, Any]) -> None:
        """The next name."""
        full = os.path.join(self.roots[line["r"]], line["p"].encode("latin-1"))
        if line["k"] == "d":
            os.makedirs(full, exist_ok=True)
            self.folders.append((full, line))
        elif line["k"] == "l":
            self.links.append((full, line))
        else:
            self.file, self.line = open(full, "wb"), line  # noqa: SIM115 - closed by `settle`

    def settle(self) -> None:
        """A file is whole."""
        if self.file is not None:
            self.file.close()
            _mark(os.fsencode(self.file.name), self.line)
            self.file = None

    def finish(self) -> None:
        """Links, then what folders look like."""
        for full, line in self.links:
            os.symlink(line["l"].encode("latin-1"), full)
            os.utime(full, ns=(line["t"], line["t"]), follow_symlinks=False)
        for full, line in reversed(self.folders):
            _mark(full, line)


def _filled(file: Any) -> bytes:
    """The next piece of a file, whole but for the last."""
    parts = []
    left = PIECE
    while left and (data := file.read(left)):
        parts.append(data)
        left -= len(data)
    return b"".join(parts)


def _mark(full: bytes, line: dict[str, Any]) -> None:
    os.chmod(full, line["m"])
    os.utime(full, ns=(line["t"], line["t"]))


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "d"
    if stat.S_ISLNK(mode):
        return "l"
    return "f" if stat.S_ISREG(mode) else ""


def _clear(root: str) -> None:
    """What lies in a folder goes, however deep (a walk of ours would end at some depth, and at the longest path)."""
    for one in list(os.scandir(root)):
        if one.is_dir(follow_symlinks=False):
            subprocess.run(["rm", "-rf", "--", one.path], check=True)
        else:
            os.unlink(one.path)


def _exactly(size: int) -> bytes:
    data = sys.stdin.buffer.read(size)
    if len(data) < size:
        raise EOFError("the records end too early")
    return data


def main(argv: list[str]) -> None:
    """`save ROOT…` or `load ROOT…`."""
    if argv[0] == "save":
        known, began = json.loads(sys.stdin.buffer.readline()), time.time_ns()
        for place, root in enumerate(argv[1:]):
            Saver(place, os.fsencode(root), known[place], began).walk()
        say(b"Z", b"")
        OUT.flush()
        return
    for root in argv[1:]:
        _clear(root)
    Loader(argv[1:]).load()


if __name__ == "__main__":
    main(sys.argv[1:])
