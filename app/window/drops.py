"""What is dropped onto the window: files and folders of this computer, or a link."""

from __future__ import annotations

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QDropEvent

from core.domain.deep_link import is_link


def list_folder(data: QMimeData) -> list[str]:
    """The paths of files and folders."""
    return [url.toLocalFile() for url in data.urls() if url.isLocalFile()]


def accept(event: QDropEvent) -> bool:
    """Take a link or files; whether it is either."""
    is_ours = bool(link_in(event.mimeData()) or list_folder(event.mimeData()))
    if is_ours:
        event.acceptProposedAction()
    return is_ours


def link_in(data: QMimeData) -> str:
    """The deep link; "" where it is none."""
    text = data.text().strip() if data.hasText() else ""
    return text if is_link(text) else ""
