"""Checkpoints that are whole or not there, whatever ends the program or the machine.

A checkpoint's folder is marked before anything is written into it. Once all of it rests on the disk the mark names
every file with its size; only then are older ones removed. A file that is missing, or cut as after a loss of power,
shows.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import msgspec

from core.domain.errors import Conflict
from core.store.home import sync

_SEAL = "tiphys.json"

_STATE = "trainer_state.json"
"""The engine writes it last. A folder without a mark was left by a version before marks: there it has to do."""

_log = logging.getLogger("training")


class _Seal(msgspec.Struct, frozen=True):
    """The sizes of all files by their path in the folder; none yet while they are written."""

    files: dict[str, int] = {}


def begin(folder: Path) -> None:
    """Mark a folder as not whole, on the disk too. What is there already of the same name no longer counts."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder, _Seal())
    sync(folder.parent)


def seal(folder: Path) -> None:
    """Put all that is in a folder on the disk, and then say that it is whole."""
    paths = [path for path in sync_all(folder) if path.name != _SEAL]
    _write(folder, _Seal({path.relative_to(folder).as_posix(): path.stat().st_size for path in paths}))


def sync_all(folder: Path) -> list[Path]:
    """Put a folder with all that is in it on the disk; gives its files."""
    paths = sorted(folder.rglob("*"))
    for path in (*paths, folder):
        sync(path)
    return [path for path in paths if path.is_file()]


def flaw(folder: Path) -> str:
    """What a marked folder lacks, as words that follow its name; "" where it is whole, or was never marked."""
    path = folder / _SEAL
    if not path.is_file():
        return ""
    try:
        files = msgspec.json.decode(path.read_bytes(), type=_Seal).files
    except (ValueError, RecursionError):
        return f"has no whole {_SEAL}"
    if not files:
        return "was not written to its end"
    for name, size in files.items():
        found = (folder / name).stat().st_size if (folder / name).is_file() else None
        if found != size:
            return f"lacks {name}" if found is None else f"has {found:,} of {size:,} bytes of {name}"
    return ""


def last_checkpoint(folder: Path) -> Path | None:
    """The newest whole checkpoint; folders that are not whole are removed, and the log says why."""
    found: list[tuple[int, Path]] = []
    for path in whole_ones(folder.glob("checkpoint-*")):
        if (step := _step(path)) is not None:
            found.append((step, path))
        else:
            _remove(path, f"has no whole {_STATE}")
    return max(found)[1] if found else None


def whole_ones(folders: Iterable[Path]) -> list[Path]:
    """Those of some folders that are whole, or were never marked; the others are removed, and the log says why."""
    found = []
    for path in sorted(folders):
        if problem := flaw(path):
            _remove(path, problem)
        else:
            found.append(path)
    return found


def remove_older(folder: Path, keep: int) -> None:
    """Leave the newest `keep` checkpoints."""
    numbered = [(step, path) for path in folder.glob("checkpoint-*") if (step := _step(path)) is not None]
    for _, path in sorted(numbered)[:-keep]:
        begin(path)
        shutil.rmtree(path)


def step_of(checkpoint: Path | None) -> int:
    """After how many updates a whole checkpoint was made; 0 for none."""
    return (_step(checkpoint) or 0) if checkpoint is not None and not flaw(checkpoint) else 0


def check_form(checkpoint: Path | None, sharded: bool) -> None:
    """Raises Conflict (other_checkpoint) where several processes left the checkpoint and one is to go on, or the
    reverse. From several processes to another number of several there is nothing in the way."""
    if checkpoint is None or any(checkpoint.glob("pytorch_model_fsdp_*")) == sharded:
        return
    wrote, goes_on = ("several processes", "one") if not sharded else ("one process", "several")
    raise Conflict("other_checkpoint", f"{checkpoint} was left by {wrote}, and {goes_on} cannot go on from it; use as "
                   "before gpus or processes, or another folder.", path=str(checkpoint))


def _remove(path: Path, problem: str) -> None:
    _log.warning("%s %s; it is removed", path.name, problem)
    shutil.rmtree(path)


def _step(path: Path) -> int | None:
    try:
        state = json.loads((path / _STATE).read_text(encoding="utf-8"))
        return int(state["global_step"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(folder: Path, value: _Seal) -> None:
    part = folder / f".{_SEAL}.part"
    with part.open("wb") as file:
        file.write(msgspec.json.encode(value))
        file.flush()
        os.fsync(file.fileno())
    part.replace(folder / _SEAL)
    sync(folder)
