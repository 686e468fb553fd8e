"""Our own archive: one zip file that holds the events and the payloads of one session.

`tiphys.json` (the manifest), `events.jsonl` (the bodies in order, byte for byte as in the log) and one
`blobs/HASH` per payload. `readers.archive` reads it.
"""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from core.domain.errors import Unavailable
from core.domain.events import Placed, blobs_of
from core.store.home import in_place_of

FORMAT_NAME, VERSION = "tiphys-archive", 1
MANIFEST, EVENTS, BLOBS = "tiphys.json", "events.jsonl", "blobs/"
_EPOCH = (1980, 1, 1, 0, 0, 0)


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The first member. `head` is how many events there are."""

    format: str
    version: int
    session: str
    head: int
    title: str = ""
    source: str = ""


def write(path: Path, session: str, title: str, bodies: Iterable[bytes], blob: Callable[[str], bytes]) -> int:
    """Write a session's archive and put it in place whole; gives the number of events. `blob` finds a payload."""
    try:
        with in_place_of(path) as part:
            return write_at(part, session, title, bodies, blob)
    except OSError as error:
        raise Unavailable("cannot_write", f"{path} cannot be written: {error.strerror}.", path=str(path)) from error


def write_at(place: Path, session: str, title: str, bodies: Iterable[bytes], blob: Callable[[str], bytes]) -> int:
    """The same under a name at which nobody reads yet; for its owner alone."""
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(handle, "wb") as raw, zipfile.ZipFile(raw, "w") as file:
        return _write_members(file, session, title, list(bodies), blob)


def _write_members(
    file: zipfile.ZipFile, session: str, title: str, bodies: list[bytes], blob: Callable[[str], bytes]
) -> int:
    manifest = Manifest(format=FORMAT_NAME, version=VERSION, session=session, head=len(bodies), title=title)
    _put(file, MANIFEST, msgspec.json.encode(manifest))
    _put(file, EVENTS, b"".join(body + b"\n" for body in bodies))
    placed = (Placed(session=session, seq=seq, body=body) for seq, body in enumerate(bodies, 1))
    names = dict.fromkeys(name for one in placed for name in blobs_of(one.event.fact))
    for name in names:
        _put(file, BLOBS + name, blob(name))
    return len(bodies)


def _put(file: zipfile.ZipFile, name: str, data: bytes) -> None:
    info = zipfile.ZipInfo(name, date_time=_EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = (stat.S_IFREG | 0o644) << 16
    file.writestr(info, data)
