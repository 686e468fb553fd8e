"""A whole desktop over a home folder, without a server of its own, and what its list of sessions says."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from app.desk.settings import Settings
from app.sessions.model import SessionRole
from app.window.bootstrap import Desktop, parse
from core.aio import TaskScope
from core.store.home import Home


@contextlib.asynccontextmanager
async def window(folder: Path, *argv: str) -> AsyncIterator[Desktop]:
    """The window of a home folder, closed tidily."""
    home = Home(folder)
    async with TaskScope("test") as scope:
        made = Desktop(home, Settings(home.settings), scope)
        made.connection.serve_here = lambda: None  # type: ignore[method-assign]
        made.start(parse(argv), "")
        made.window.filling.fill()
        try:
            yield made
        finally:
            await made.close()


def listed(made: Desktop) -> dict[str, str]:
    """What the list says of each session."""
    model = made.window.docks["sessions"].widget().list.model()  # type: ignore[attr-defined]
    return {line.session: line.spoken for r in range(model.rowCount())
            if (line := model.index(r, 0).data(SessionRole))}
