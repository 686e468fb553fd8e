"""Files of a checkpoint as a loss of power may leave them."""

from __future__ import annotations

import os
from pathlib import Path

from core.training.checkpoints import flaw, step_of


def assert_cut_is_found(path: Path, checkpoint: Path) -> None:
    """Empty, cut by a byte or gone, a file keeps its checkpoint from being gone on from; then it is put back."""
    data, step = path.read_bytes(), step_of(checkpoint)
    assert step and data
    for size in (0, len(data) - 1):
        os.truncate(path, size)
        assert path.name in flaw(checkpoint) and step_of(checkpoint) == 0
        path.write_bytes(data)
    if path.name != "tiphys.json":  # without it a checkpoint is one of before there were marks
        path.unlink()
        assert path.name in flaw(checkpoint) and step_of(checkpoint) == 0
        path.write_bytes(data)
    assert step_of(checkpoint) == step
