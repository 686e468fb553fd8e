"""The known formats: whatever module of `readers` declares one. A file is recognised by its content alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import msgspec

from core.domain.errors import InvalidInput, ReportableError
from core.formats import foreign_database, readers, zipped
from core.formats.format import Format
from core.formats.imported import Imported
from core.formats.source import Source, is_plain


@cache
def formats() -> tuple[Format, ...]:
    """The formats of all readers, in the order in which they are asked: by rank, then by name. The readers are loaded
    when somebody asks first: most starts of the desktop read no foreign file."""
    modules = (import_module(f"{readers.__name__}.{found.name}") for found in iter_modules(readers.__path__))
    known = (format for module in modules if isinstance(format := getattr(module, "FORMAT", None), Format))
    return tuple(sorted(known, key=lambda format: (format.rank, format.name, format.title)))


def recognise(file: Path | Source) -> Format:
    """The format of one file. Raises InvalidInput where none fits: unknown_format, or what is wrong with the file."""
    source = Source(file) if isinstance(file, Path) else file
    for known in formats():
        if known.recognises(source):
            return known
    raise refusal(source)


def read(file: Path | Source) -> Iterator[Imported]:
    """The sessions of one file, each complete. Raises ReportableError where nothing of it can be read."""
    source = Source(file) if isinstance(file, Path) else file
    for number, made in enumerate(recognise(source).read(source)):
        first = source.trouble and not number
        yield msgspec.structs.replace(made, warnings=(*made.warnings, source.trouble)) if first else made


def files(path: Path) -> Iterator[Path]:
    """The file itself, or all regular files below a folder by name; links and hidden entries are passed over.

    Files and folders that are read with another file are left out: the events of a conversation folder, the casts of
    a trial, the continuation of a trajectory.
    """
    if not is_folder(path):
        yield path
        return
    for folder, names, leaves in os.walk(path, followlinks=False):
        found = [p for leaf in sorted(leaves) if not leaf.startswith(".") and is_plain(p := Path(folder, leaf))]
        companions = _companions(found)
        names[:] = sorted(n for n in names if not n.startswith(".") and Path(folder, n) not in companions)
        yield from (p for p in found if p not in companions)


def is_folder(path: Path) -> bool:
    """Not so where nobody may look; whoever reads it then says why."""
    with suppress(OSError):
        return path.is_dir()
    return False


def _companions(found: list[Path]) -> set[Path]:
    companions: set[Path] = set()
    for known in formats():
        with suppress(ReportableError):  # it is reported when the file itself is read
            companions.update(known.companions(found))
    return companions


_MAGIC = ((b"\x89PNG", "a picture"), (b"\xff\xd8\xff", "a picture"), (b"GIF8", "a picture"),
          (b"%PDF", "a PDF document"), (b"\x7fELF", "a program"), (b"MZ", "a program"))
_PACKINGS = ((b"\x28\xb5\x2f\xfd", "zstd"), (b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"), (b"7z\xbc\xaf", "7z"),
             (b"Rar!\x1a\x07", "RAR"))
"""What nobody here unpacks; gzip and zip are unpacked."""
_MOST_NAMES = 6


def refusal(source: Source) -> InvalidInput:
    """The error for a file that no reader takes: empty_file, bad_archive, bad_database, packed_otherwise, or
    unknown_format."""
    path = str(source.path)
    if source.trouble:
        return InvalidInput("bad_archive", f"{path}: {source.trouble}", path=path)
    if not source.size:
        return InvalidInput("empty_file", f"{path} is empty.", path=path)
    if packing := next((name for magic, name in _PACKINGS if source.head.startswith(magic)), ""):
        return InvalidInput("packed_otherwise", f"{path} is packed by {packing}, which is not unpacked here: "
                            "unpack it, and open what it holds.", path=path, packing=packing)
    try:
        what = _kind_of(source)
    except InvalidInput as error:
        return error
    return InvalidInput("unknown_format", f"{path} is in no format known here: it is {what}.", path=path)


def _kind_of(source: Source) -> str:
    """What a file is. Raises InvalidInput for an archive or a database that is damaged."""
    if source.head.startswith(b"PK"):
        with zipped.opened(source.file) as archive:
            shown = ", ".join(archive.names[:_MOST_NAMES])
            return f"a zip archive of other things ({shown})" if shown else "an empty zip archive"
    if foreign_database.is_database(source):
        with foreign_database.opened(source.file) as base:
            return f"a database of another program (tables {', '.join(base.tables()[:_MOST_NAMES])})"
    if found := next((what for magic, what in _MAGIC if source.head.startswith(magic)), ""):
        return found
    if source.shape != "none":
        return _json(source)
    return "no text" if b"\0" in source.head else "text that is no JSON"


def _json(source: Source) -> str:
    first = next(iter(source.samples), None)
    if isinstance(first, dict):
        return f"JSON whose first object has other members ({', '.join(list(first)[:_MOST_NAMES])[:200]})"
    problem = source.json.problem if source.shape != "lines" else ""
    return f"JSON of another kind{f' ({problem})' if problem else ''}"
