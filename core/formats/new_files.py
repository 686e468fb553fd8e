"""New files in folders that are watched: a program that begins a session writes a file that was not there before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from core.domain.errors import ReportableError
from core.formats import registry

MOST = 20_000
"""Files of a folder beyond which it is not watched for new ones."""


class NewFiles:
    """The files below some folders that were not there before and are of a known format."""

    def __init__(self, folders: list[Path]) -> None:
        self._seen = {folder: set(_names(folder)) for folder in folders if folder.is_dir()}

    def since_last_time(self) -> list[Path]:
        """The files that came since the last call; one of no known format is examined again by the next call."""
        return [path for folder in self._seen for path in self._new(folder)]

    def _new(self, folder: Path) -> Iterator[Path]:
        seen = self._seen[folder]
        if len(seen) > MOST:
            return
        unseen = {name for name in _names(folder) if name not in seen}
        if not unseen:
            return
        try:
            importable = [path for path in registry.files(folder) if str(path) in unseen]
        except OSError:
            return  # a folder went while it was walked
        unknown = set()
        for path in importable:
            try:
                registry.recognise(path)
                yield path
            except ReportableError:
                unknown.add(str(path))
        seen |= unseen - unknown


def _names(folder: Path) -> Iterator[str]:
    for place, names, leaves in os.walk(folder, followlinks=False):
        names[:] = [n for n in names if not n.startswith(".")]
        yield from (os.path.join(place, leaf) for leaf in leaves if not leaf.startswith("."))  # noqa: PTH118 - speed
