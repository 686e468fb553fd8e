"""What a process that the server starts finds around itself."""

from __future__ import annotations

import os
from pathlib import Path

from core.server.service_manager import VARIABLES


def child_environment(home: Path) -> dict[str, str]:
    """The environment: ours, with which the program is found from any folder, and the home; without what the service
    manager told the server alone."""
    root = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    ours = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    return {**ours, "PYTHONPATH": paths, "TIPHYS_HOME": str(home)}
