"""Checkpoints of a run: which one is whole, and what a killed process left half-written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from core.domain.errors import Conflict

_STATE = "trainer_state.json"
"""Written last, so a folder where it can be read is whole."""


def last_checkpoint(folder: Path) -> Path | None:
    """The newest whole checkpoint; folders that are not whole are removed."""
    found: list[tuple[int, Path]] = []
    for path in folder.glob("checkpoint-*"):
        step = _step_of(path)
        if step is None:
            shutil.rmtree(path)
        else:
            found.append((step, path))
    return max(found)[1] if found else None


def step_of(checkpoint: Path | None) -> int:
    """After how many updates a checkpoint was made; 0 for none."""
    return (_step_of(checkpoint) or 0) if checkpoint is not None else 0


def check_form(checkpoint: Path | None, sharded: bool) -> None:
    """Raises Conflict (other_checkpoint) where several processes left the checkpoint and one is to go on, or the
    reverse. From several processes to another number of several there is nothing in the way."""
    if checkpoint is None or _is_sharded(checkpoint) == sharded:
        return
    wrote, goes_on = ("several processes", "one") if not sharded else ("one process", "several")
    raise Conflict("other_checkpoint", f"{checkpoint} was left by {wrote}, and {goes_on} cannot go on from it; use as "
                   "before gpus or processes, or another folder.", path=str(checkpoint))


def _is_sharded(checkpoint: Path) -> bool:
    return any(checkpoint.glob("pytorch_model_fsdp_*"))


def _step_of(path: Path) -> int | None:
    try:
        state = json.loads((path / _STATE).read_text(encoding="utf-8"))
        return int(state["global_step"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
