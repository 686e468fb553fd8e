"""What a reader declares: its format's name, how a file of it is known, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from core.formats.imported import Imported
from core.formats.session_span import SessionSpan
from core.formats.source import Source


def any_sample(fits: Callable[[Any], bool]) -> Callable[[Source], bool]:
    """Recognition by the first lines or items of a file: one of them fits."""
    return lambda source: any(map(fits, source.samples))


def _none(_: object) -> Iterable[Path]:
    return ()


def _unknown(_: object) -> SessionSpan | None:
    return None


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """One format. A module of `core.formats.readers` that holds one as `FORMAT` is a reader."""

    name: str
    title: str
    recognises: Callable[[Source], bool]
    """Looks at the content."""
    read: Callable[[Source], Iterator[Imported]]
    """The sessions that a file holds."""
    rank: int = 0
    """Who is asked first: 0 for a format with marks of its own, more for one whose layout others have too."""
    companions: Callable[[Sequence[Path]], Iterable[Path]] = _none
    """Of the regular files of a folder: the files and folders beside them that reading one of them reads too."""
    span: Callable[[Iterable[bytes]], SessionSpan | None] = _unknown
    """From when to when events of one session go, where its files may hold only what was new (see `session_span`)."""
    parts_of: Callable[[Path], Iterable[Path]] = _none
    """The folders in which a program that is at work adds to the session that a file stands for."""
