"""What a process that the server starts finds around itself."""

from __future__ import annotations

import os
from pathlib import Path


def child_environment(home: Path) -> dict[str, str]:
    """The environment: ours, with which the program is found from any folder, and the home."""
    root = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": paths, "TIPHYS_HOME": str(home)}
