"""The desktop, started in this process where a window can be shown."""

from __future__ import annotations

import os
from collections.abc import Sequence

from core.cli import system_libraries
from core.cli.display import display_problem
from core.domain.errors import Unavailable


def launch(arguments: Sequence[str]) -> int:
    """Run the desktop until its window is closed. Raises Unavailable (no_display, no_libraries)."""
    check_display()
    _check_libraries()
    from app.window.entry import main

    return main(list(arguments))


def check_display() -> None:
    """Raises Unavailable (no_display) where no window can be shown."""
    if "QT_QPA_PLATFORM" not in os.environ and (problem := display_problem()):
        raise Unavailable("no_display", f"There is no display for the desktop: {problem}")


def _check_libraries() -> None:
    """Raises Unavailable (no_libraries) where the system lacks what Qt is linked with; a dialog says so, too."""
    if lacking := system_libraries.missing():
        text = system_libraries.sentence(lacking)
        system_libraries.show(text)
        raise Unavailable("no_libraries", text, libraries=sorted(lacking))
