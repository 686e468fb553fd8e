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

from core.domain.errors import ReportableError
from core.formats import readers
from core.formats.format import Format
from core.formats.imported import Imported
from core.formats.source import Source, is_plain
from core.formats.unknown import refusal


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
    for known in formats():
        with suppress(ReportableError):  # it is reported when the file itself is read
            companions.update(known.companions(found))
    return companions
