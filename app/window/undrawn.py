"""What the window could not draw or answer: once for each place into the log, and to the reader."""

from __future__ import annotations

import logging

from PySide6.QtCore import QObject, Qt, Signal

from app.desk.notices import Notices
from app.kit import overrides
from core.domain.errors import ReportableError

_log = logging.getLogger("ui")


class Undrawn(QObject):
    """Takes what `app.kit.overrides` met, while it lives. The reader is told in a later turn of the loop: while
    something is painted no widget may be made."""

    _met = Signal(object)

    def __init__(self, notices: Notices, parent: QObject) -> None:
        super().__init__(parent)
        self._met.connect(notices.report, Qt.ConnectionType.QueuedConnection)
        overrides.report_by(self._take)

    def close(self) -> None:
        """Take no more."""
        overrides.report_by(overrides.to_excepthook)

    def _take(self, place: str, error: Exception) -> None:
        _log.error("An error in %s", place, exc_info=error)
        self._met.emit(ReportableError("not_drawn", f"{place} could not be drawn: {type(error).__name__}", place=place))
