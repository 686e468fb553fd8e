"""The known formats: whatever module of `readers` declares one. A file is recognised by its content alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import msgspec

from core.domain.errors import ReportableError
from core.formats import readers
from core.formats.format import Format
from core.formats.imported import Imported
from core.formats.source import Source, is_plain
from core.formats.unknown import refusal


def declared() -> tuple[Format, ...]:
    """The formats of all readers, in the order in which they are asked: by rank, then by name."""
    modules = (import_module(f"{readers.__name__}.{found.name}") for found in iter_modules(readers.__path__))
    formats = (known for module in modules if isinstance(known := getattr(module, "FORMAT", None), Format))
    return tuple(sorted(formats, key=lambda known: (known.rank, known.name, known.title)))


FORMATS = declared()


def recognise(file: Path | Source) -> Format:
    """The format of one file. Raises InvalidInput where none fits: unknown_format, or what is wrong with the file."""
    source = Source(file) if isinstance(file, Path) else file
    for known in FORMATS:
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
    if not path.is_dir():
        yield path
        return
    for folder, names, leaves in os.walk(path, followlinks=False):
        found = [p for leaf in sorted(leaves) if not leaf.startswith(".") and is_plain(p := Path(folder, leaf))]
        companions = _companions(found)
        names[:] = sorted(n for n in names if not n.startswith(".") and Path(folder, n) not in companions)
        yield from (p for p in found if p not in companions)


def _companions(found: list[Path]) -> set[Path]:
    companions: set[Path] = set()
    for known in FORMATS:
        with suppress(ReportableError):  # it is reported when the file itself is read
            companions.update(known.companions(found))
    return companions
