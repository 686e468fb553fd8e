"""How much of a session is on this computer, in the status bar, and a button that cancels."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.kit.i18n import translate
from app.kit.progress_row import ProgressRow


class DownloadBar(ProgressRow):
    """Hidden while nothing is fetched as a whole."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(translate("DownloadBar", "How much of the session is here"),
                         translate("DownloadBar", "Stop fetching the session"), parent)

    def show_download(self, text: str, share: float) -> None:
        """What is fetched, and how much of it is here, from 0 to 1."""
        self.text.setText(text)
        self.show_share(share)
        self.cancel.show()
        self.show()

    def show_work(self, text: str) -> None:
        """What is done that cannot be measured or cancelled."""
        self.text.setText(text)
        self.bar.setRange(0, 0)
        self.cancel.hide()
        self.show()
