"""The desktop, started in this process where a window can be shown."""

from __future__ import annotations

import os
from collections.abc import Sequence

from core.cli.display import display_problem
from core.domain.errors import Unavailable


def launch(arguments: Sequence[str]) -> int:
    """Run the desktop until its window is closed. Raises Unavailable (no_display)."""
    check_display()
    from app.window.entry import main

    return main(list(arguments))


def check_display() -> None:
    """Raises Unavailable (no_display) where no window can be shown."""
    if "QT_QPA_PLATFORM" not in os.environ and (problem := display_problem()):
        raise Unavailable("no_display", f"There is no display for the desktop: {problem}")
