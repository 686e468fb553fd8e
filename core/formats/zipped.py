"""Foreign zip files under the rules for hostile archives: only regular members, bounded, never written to disk."""

from __future__ import annotations

import stat
import struct
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.domain.errors import InvalidInput
from core.formats.cut_zip import LocalMember, local_members, unpacked

if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

MAX_MEMBERS = 200_000
MAX_MEMBER = 1024 * 1024 * 1024
MAX_TOTAL = 16 * 1024 * 1024 * 1024
MAX_RATIO, FREE = 300, 32 * 1024 * 1024
"""Bounds, in uncompressed bytes, and in uncompressed per compressed byte for members above FREE bytes."""

_DAMAGE: tuple[type[Exception], ...] = (zipfile.BadZipFile, ZstdError, zlib.error, EOFError, NotImplementedError,
                                        RuntimeError, OSError, ValueError, struct.error)


class Zip:
    """An open zip file. Every failure to read is an InvalidInput (bad_archive)."""

    trouble = ""
    """One sentence on what of the file is missing."""

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self._path = path
        self._file = file
        self._infos = {i.filename: i for i in self._checked()}

    @property
    def names(self) -> list[str]:
        """The regular members in the order of the file."""
        return list(self._infos)

    def read(self, name: str) -> bytes:
        """One member's bytes. Raises InvalidInput where it is damaged, or larger than it says."""
        try:
            with self._file.open(self._infos[name]) as member:
                data = member.read(MAX_MEMBER + 1)
        except _DAMAGE as error:
            raise bad(self._path, f"the member {name!r} is damaged ({error})") from error
        if len(data) > MAX_MEMBER:
            raise bad(self._path, f"the member {name!r} is larger than it says")
        return data

    def _checked(self) -> list[zipfile.ZipInfo]:
        infos = [i for i in self._file.infolist() if not i.is_dir()]
        if len(infos) > MAX_MEMBERS or sum(i.file_size for i in infos) > MAX_TOTAL:
            raise bad(self._path, "it is larger than this program accepts")
        for info in infos:
            kind = stat.S_IFMT(info.external_attr >> 16)
            if kind not in (0, stat.S_IFREG) or info.flag_bits & 1 or not _belongs(info.filename):
                raise bad(self._path, f"the member {info.filename!r} does not belong there")
            dense = info.file_size > FREE and info.file_size > MAX_RATIO * max(1, info.compress_size)
            if info.file_size > MAX_MEMBER or dense:
                raise bad(self._path, f"the member {info.filename!r} unpacks to {info.file_size:,} bytes")
        if len({i.filename for i in infos}) != len(infos):
            raise bad(self._path, "a member occurs twice")
        return infos


class CutZip(Zip):
    """A zip file that lost its end: the members whose own headers are there, the last of them perhaps in part."""

    def __init__(self, path: Path, members: list[LocalMember], trouble: str) -> None:
        self._path, self.trouble = path, trouble
        if len(members) > MAX_MEMBERS:
            raise bad(path, "it is larger than this program accepts")
        self._members = {m.name: m for m in members if not m.name.endswith("/")}
        for member in members:
            if member.is_secret or not _belongs(member.name):
                raise bad(path, f"the member {member.name!r} does not belong there")

    @property
    def names(self) -> list[str]:
        """The members in the order of the file."""
        return list(self._members)

    def read(self, name: str) -> bytes:
        """One member's bytes, as many as the file holds. Raises InvalidInput where it is damaged or too large."""
        try:
            return unpacked(self._path, self._members[name], MAX_MEMBER)
        except (OSError, ValueError) as error:
            raise bad(self._path, f"the member {name!r} is damaged ({error})") from error


@contextmanager
def opened(path: Path) -> Iterator[Zip]:
    """A zip file for reading, deflate and zstd; of one that was cut off, what is left.

    Raises InvalidInput (bad_archive) where nothing is.
    """
    try:
        file = zipfile.ZipFile(path)
    except _DAMAGE as error:
        yield _rest(path, error)
        return
    with file:
        yield Zip(path, file)


def _rest(path: Path, error: Exception) -> Zip:
    try:
        members, trouble = local_members(path, MAX_MEMBERS)
    except OSError as unreadable:
        raise bad(path, f"it cannot be read ({unreadable})") from unreadable
    if not members:
        raise bad(path, "it is cut off before anything that can be read") from error
    return CutZip(path, members, trouble)


def _belongs(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return ".." not in parts and bool(parts[0]) and ":" not in parts[0]


def bad(path: object, why: str) -> InvalidInput:
    """The error for an archive that cannot be read."""
    return InvalidInput("bad_archive", f"{path} is no readable archive: {why}.", path=str(path))
