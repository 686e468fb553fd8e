"""Says that a newer version is there: offered by the administrator's feed, or installed beneath this window."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.kit.ask import yes_or_no
from app.kit.safe_text import one_line
from core.domain.errors import ReportableError
from core.domain.version import version as running_version
from core.program import installed

if TYPE_CHECKING:
    from app.desk.workplace import Workplace

_log = logging.getLogger("ui")

FEED_EVERY_S = 86_400.0
INSTALLED_EVERY_MS = 20_000


class UpdatesController(QObject):
    """Looks once a day into the feed, where one is set, and now and then at what is installed. Downloads nothing."""

    restart_asked = Signal()

    def __init__(self, place: Workplace, parent: QWidget) -> None:
        super().__init__(parent)
        self._place, self._parent = place, parent
        self._offered = ""
        self._timer = QTimer(self, interval=INSTALLED_EVERY_MS)
        self._timer.timeout.connect(self.look_at_installed)

    def start(self) -> None:
        """Begin to look into the feed."""
        if self._place.settings.updates is not None:
            self._place.scope.spawn(self._watch_feed(), name="updates")

    def watch_installed(self) -> None:
        """Note which version runs, and begin to look whether another one is installed."""
        if running_version():
            self._timer.start()

    def look_at_installed(self, installed: Callable[[], str] | None = None) -> None:
        """Offer a restart where another version lies on the disk than runs: asked once for each."""
        found = (installed or installed_version)()
        if found in ("", running_version(), self._offered):
            return
        self._offered = found
        self._place.scope.spawn(self._offer_restart(found), name="restart")

    async def _watch_feed(self) -> None:
        while True:
            await self.look_into_feed()
            await asyncio.sleep(FEED_EVERY_S)

    async def look_into_feed(self) -> None:
        """Say what the feed offers; one that cannot be read is the administrator's, and is written down alone."""
        feed = self._place.settings.updates
        if feed is None:
            return
        from core.client.update_feed import newer

        try:
            offered = await asyncio.to_thread(newer, feed.feed, feed.key, self._place.home.path / "feed_seen.json")
        except ReportableError as error:
            _log.warning("%s [%s]", error.sentence, error.code)
            if error.code in ("feed_signature", "feed_set_back"):
                self._place.notices.report(error)
            return
        if offered is not None:
            self._place.notices.tell(self.tr("Tiphys {version} is there ({place}); this is {running}.").format(
                version=one_line(offered.version, 30), place=one_line(feed.feed, 120), running=running_version()))

    async def _offer_restart(self, found: str) -> None:
        question = self.tr("Tiphys {version} was installed while {running} runs here. Start it again now?").format(
            version=one_line(found, 30), running=running_version())
        detail = self.tr("Until then this window and the agents of this computer go on as they are. Nothing that you "
                         "wrote is lost.")
        if await yes_or_no(self._parent, question, self.tr("Start again"), detail=detail):
            self.restart_asked.emit()


def installed_version() -> str:
    """The version that lies on the disk now; "" while it is being replaced."""
    from importlib import metadata  # as in core/domain/version.py: not before the window is there

    folder = installed()
    path = [str(folder / Path(one).relative_to(sys.prefix)) for one in sys.path if Path(one).is_relative_to(sys.prefix)]
    try:
        found = next(iter(metadata.distributions(name="tiphys", path=path if folder != Path(sys.prefix) else sys.path)))
        return found.version or ""
    except (StopIteration, OSError):
        return ""
