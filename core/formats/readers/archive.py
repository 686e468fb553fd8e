"""Our own archive, read without writing to disk.

A member with any other name than those of an archive, a link, a doubled name or a size beyond the bounds refuses the
archive, and every payload must match the hash that names it.
"""

from __future__ import annotations

import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from core.domain.blob import blob_hash
from core.domain.errors import InvalidInput, ProtocolMismatch
from core.domain.events import SessionCreated, StepAdded, blobs_of, decode_event
from core.domain.ids import is_id
from core.formats.archive import BLOBS, EVENTS, FORMAT_NAME, MANIFEST, VERSION, Manifest
from core.formats.format import Format
from core.formats.imported import Imported
from core.formats.source import Source
from core.formats.zipped import bad
from core.protocol.codec import MAX_EVENT

NAME = "archive"
MAX_MEMBERS = 2_000_000
MAX_EVENTS = 1024 * 1024 * 1024
MAX_BLOB = 256 * 1024 * 1024
MAX_TOTAL = 32 * 1024 * 1024 * 1024
"""Bounds of what is accepted, in uncompressed bytes."""

MAX_RATIO, FREE = 200, 64 * 1024 * 1024
"""An archive that unpacks to more than FREE bytes may be at most so many times as large as its file. Events hold
random identities and never come near that."""

_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, NotImplementedError,
           OverflowError)
"""What `zipfile` raises for a file that lies about itself."""

_NAME = re.compile(r"tiphys\.json|events\.jsonl|blobs/[0-9a-f]{64}")


class _Blobs(Mapping[str, bytes]):
    """The payloads, read and checked when asked for, so that an archive larger than memory can be imported."""

    def __init__(self, path: Path, names: Iterable[str]) -> None:
        self._path = path
        self._names = frozenset(names)

    def __getitem__(self, name: str) -> bytes:
        if name not in self._names:
            raise KeyError(name)
        with _opened(self._path) as file:
            return _payload(file, name)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._names))

    def __len__(self) -> int:
        return len(self._names)


def recognises(source: Source) -> bool:
    """Whether the file is a zip file with our manifest."""
    if not source.head.startswith(b"PK\x03\x04"):
        return False
    if source.head[30 : 30 + len(MANIFEST)] == MANIFEST.encode():
        return True
    try:
        with zipfile.ZipFile(source.file) as file:
            return MANIFEST in file.namelist()
    except _DAMAGE:
        return False


def read(source: Source) -> Iterator[Imported]:
    """The one session. Of a log whose payloads are damaged, the events before the first that lacks one."""
    with _opened(source.file) as file:
        names = _checked_names(file)
        manifest = _manifest(file)
        session = _session(source, file, names, manifest)
    yield session


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive; whatever is wrong with it becomes InvalidInput."""
    try:
        with zipfile.ZipFile(path) as file:
            yield file
    except _DAMAGE as error:
        is_cut = not zipfile.is_zipfile(path)
        raise bad(path, "it is cut off: its end is missing" if is_cut else f"it is damaged ({error})") from error


def _checked_names(file: zipfile.ZipFile) -> frozenset[str]:
    """The members' names. Raises InvalidInput for what an archive of ours never holds."""
    infos = file.infolist()
    total = sum(i.file_size for i in infos)
    if len(infos) > MAX_MEMBERS or total > MAX_TOTAL:
        raise bad(file.filename, "it is larger than this program accepts")
    if total > max(FREE, MAX_RATIO * Path(str(file.filename)).stat().st_size):
        raise bad(file.filename, f"it would unpack to {total:,} bytes, which no session of its size does")
    for info in infos:
        kind = stat.S_IFMT(info.external_attr >> 16)
        bound = MAX_BLOB if info.filename.startswith(BLOBS) else MAX_EVENTS
        plain = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) and not info.flag_bits & 1
        if not _NAME.fullmatch(info.filename) or kind not in (0, stat.S_IFREG) or not plain:
            raise bad(file.filename, f"the member {info.filename[:100]!r} does not belong there")
        if info.file_size > bound:
            raise bad(file.filename, f"the member {info.filename!r} has {info.file_size:,} bytes")
    names = frozenset(i.filename for i in infos)
    if len(names) != len(infos):
        raise bad(file.filename, "a member occurs twice")
    return names


def _member(file: zipfile.ZipFile, name: str, bound: int) -> bytes:
    with file.open(name) as member:
        data = member.read(bound + 1)
    if len(data) > bound:
        raise bad(file.filename, f"the member {name!r} is larger than it says")
    return data


def _manifest(file: zipfile.ZipFile) -> Manifest:
    try:
        manifest = msgspec.json.decode(_member(file, MANIFEST, 1024 * 1024), type=Manifest)
    except (KeyError, ValueError, RecursionError) as error:
        raise bad(file.filename, "its manifest cannot be read") from error
    if manifest.version > VERSION:
        raise ProtocolMismatch("archive_too_new", f"{file.filename} has version {manifest.version}; this program reads "
                               f"up to {VERSION}.", version=manifest.version)
    if manifest.format != FORMAT_NAME or not is_id(manifest.session):
        raise bad(file.filename, "its manifest names no session")
    return manifest


def _payload(file: zipfile.ZipFile, name: str) -> bytes:
    data = _member(file, BLOBS + name, MAX_BLOB)
    if blob_hash(data) != name:
        raise bad(file.filename, f"the payload {name[:12]} does not match its name")
    return data


def _session(source: Source, file: zipfile.ZipFile, names: frozenset[str], manifest: Manifest) -> Imported:
    bodies: list[bytes] = []
    warnings: list[str] = []
    needed, steps, errors = set[str](), 0, 0
    for number, body in enumerate(_lines(file) if EVENTS in names else (), 1):
        try:
            fact = decode_event(body).fact
            wanted = [n for n in blobs_of(fact) if n not in needed]
            _check_payloads(file, names, wanted)
        except (InvalidInput, *_DAMAGE) as error:
            warnings.append(f"Only {number - 1} of {manifest.head} events were read; event {number}: {error}")
            break
        if number == 1 and not isinstance(fact, SessionCreated):
            raise bad(source.path, "its first event does not create a session")
        needed.update(wanted)
        bodies.append(body)
        steps += isinstance(fact, StepAdded)
        errors += isinstance(fact, StepAdded) and fact.head.is_error
    good = len(bodies)
    if not good:
        raise bad(source.path, warnings[0] if warnings else "it holds no event")
    if good < manifest.head and not warnings:
        warnings.append(f"Only {good} of {manifest.head} events are in the archive.")
    return Imported(session=manifest.session, source=source.name, format=NAME, title=manifest.title,
                    bodies=tuple(bodies), blobs=_Blobs(source.path, needed), steps=steps, errors=errors,
                    warnings=tuple(warnings))


def _lines(file: zipfile.ZipFile) -> Iterator[bytes]:
    """The lines of the events, one at a time; one that is longer than an event may be comes cut, and is unreadable."""
    read = 0
    with file.open(EVENTS) as member:
        while line := member.readline(MAX_EVENT + 2):
            read += len(line)
            if read > MAX_EVENTS:
                raise bad(file.filename, f"the member {EVENTS!r} is larger than it says")
            yield line.removesuffix(b"\n").removesuffix(b"\r")


def _check_payloads(file: zipfile.ZipFile, names: frozenset[str], wanted: list[str]) -> None:
    for name in wanted:
        if BLOBS + name not in names:
            raise bad(file.filename, f"the payload {name[:12]} is not in it")
        _payload(file, name)


FORMAT = Format(name=NAME, title="Tiphys archive", recognises=recognises, read=read)
