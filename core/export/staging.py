"""A data set's files take their places together: the last export's stay until all of the new one rests on the disk.

They are written into the folder `.export` of the data set's folder, which is named `.whole` once nothing is missing.
From then on the data set is the new one, whatever ends the program; who opens the folder next moves the files to their
places.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from core.domain.errors import Conflict, Unavailable
from core.export.formats import FORMATS
from core.store.home import sync

_STAGED, _WHOLE = ".export", ".whole"

_MANIFEST = "manifest.json"
"""It is taken away first and put in its place last: a folder without one holds no whole data set."""

_OWN = re.compile(r"(data|eval)(-\d{5}-of-\d{5})?\.(jsonl|parquet)|README\.md")
_BESIDE = {name for form in FORMATS.values() for name in form.beside}


class _Files(msgspec.Struct):
    """The names that a manifest tells."""

    files: list[str]


class Staging:
    """The folder into which a data set is written, while that of the last export is still in place."""

    def __init__(self, folder: Path) -> None:
        """Raises Conflict (folder_not_empty) where the folder holds something else than an earlier export, Unavailable
        (folder_unusable)."""
        self.folder, self.path = folder, folder / _STAGED
        with usable(folder):
            folder.mkdir(parents=True, exist_ok=True)
            finish_interrupted(folder)
            foreign = {p.name for p in folder.iterdir()} - {_STAGED}
            if foreign and _MANIFEST not in foreign:
                raise Conflict("folder_not_empty", f"{folder} holds other files; choose an empty folder.",
                               path=str(folder))
            shutil.rmtree(self.path, ignore_errors=True)
            self.path.mkdir()

    def __enter__(self) -> Staging:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    def put_in_place(self) -> None:
        """The data set is now what was written. Raises Unavailable (folder_unusable)."""
        with usable(self.folder):
            for path in self.path.iterdir():
                sync(path)
            sync(self.path)
            self.path.replace(self.folder / _WHOLE)
            sync(self.folder)
        finish_interrupted(self.folder)


def finish_interrupted(folder: Path) -> None:
    """Put the files of an export in their places that was ended between its last byte and that. Raises Unavailable
    (folder_unusable)."""
    whole = folder / _WHOLE
    if not whole.is_dir():
        return
    with usable(folder):
        if (whole / _MANIFEST).is_file():
            names = msgspec.json.decode((whole / _MANIFEST).read_bytes(), type=_Files).files
            (folder / _MANIFEST).unlink(missing_ok=True)
            _remove(path for path in folder.iterdir() if _is_own(path.name) and path.name not in names)
            for name in (*names, _MANIFEST):
                if (whole / name).exists():
                    (whole / name).replace(folder / name)
            sync(folder)
        whole.rmdir()


def _is_own(name: str) -> bool:
    return name in _BESIDE or _OWN.fullmatch(name) is not None


def _remove(paths: Iterable[Path]) -> None:
    for path in list(paths):
        path.unlink()


@contextmanager
def usable(folder: Path) -> Iterator[None]:
    """What is done in a folder that a person named. Raises Unavailable (folder_unusable), in words, for an OSError."""
    try:
        yield
    except OSError as error:
        raise Unavailable("folder_unusable", f"{folder} cannot be used: {error.strerror}.", path=str(folder)) from error
