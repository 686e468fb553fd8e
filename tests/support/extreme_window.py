"""Goes through the real window with a session, panel by panel, and says what fell: exceptions in slots and tasks, Qt's
warnings."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import traceback
from collections.abc import Iterator
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, Qt, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QAbstractItemView, QApplication, QDialog, QLineEdit

from app.desk.workplace import Workplace
from app.window.layouts import LAYOUTS
from app.window.panels import PANELS
from app.window.window import Window
from core.domain.errors import ReportableError

OFFSCREEN = "This plugin does not support propagateSizeHints()"
"""What the offscreen platform says of every dock, whatever is in it."""

LEFT_OUT = frozenset({
    "file.quit", "file.import", "file.import_folder", "file.merge", "file.new_session", "session.save_filter",
    "guide.template",
})
"""Actions that close the window, or open a dialog of the system or a menu, which hold the loop."""

WORDS = ("#2147483647", "#99999999999999999999", "x", "[", "\u202e", "a" * 3_000, "")


class _Defects(logging.Handler):
    """Takes down every error that is none of ours for people: what a task, the loop or a notice reports as a fault."""

    def __init__(self, found: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._found = found

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and not isinstance(record.exc_info[1], ReportableError):
            self._found.append(logging.Formatter().format(record))


@contextlib.contextmanager
def falls() -> Iterator[list[str]]:
    """Collects every exception that reaches Qt or ends a task, and every message of Qt's."""
    found: list[str] = []
    defects = _Defects(found)

    def note(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        found.append("".join(traceback.format_exception(kind, error, trace)))

    def hear(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        if text != OFFSCREEN:
            found.append(f"Qt says: {text}")

    hook, sys.excepthook = sys.excepthook, note
    former = qInstallMessageHandler(hear)
    logging.getLogger().addHandler(defects)
    try:
        yield found
    finally:
        logging.getLogger().removeHandler(defects)
        qInstallMessageHandler(former)
        sys.excepthook = hook


async def turns(count: int = 2) -> None:
    """Let the window work."""
    for _ in range(count):
        await asyncio.sleep(0)


async def go_through(window: Window, place: Workplace, session: str, *, steps: int = 4, everything: bool = True
                     ) -> None:
    """Look at a session in every layout and panel, at some of its steps, at what stands aside; then do every action."""
    for layout in LAYOUTS:
        window.lay_out(layout)
        place.cursor.move(session)
        await turns(3)
        trajectory = place.sight.trajectory
        assert trajectory is not None
        numbers = list(dict.fromkeys(trajectory.steps.numbers))
        chosen = [*numbers[:steps], *numbers[-2:]]
        for panel in PANELS:
            window.show_panel(panel.key)
            for number in chosen if everything else chosen[:1]:
                place.cursor.to_step(number)
                await turns(1)
            await _touch(window.docks[panel.key])
        place.cursor.move(session)
        for item in list(trajectory.items)[:40]:
            if item.kind != "step":
                place.cursor.open_aside(item.kind, item.ref)
                await turns(1)
        if not everything:
            break
    for key in [entry.key for entry in place.actions.table if entry.key not in LEFT_OUT]:
        place.cursor.move(session, chosen[0] if chosen else None)
        await turns(1)
        if place.actions[key].isEnabled():
            place.actions[key].trigger()
            await turns(1)
            await _close_dialogs(window)
    place.cursor.move("")
    await turns(2)
    while place.sender.storing:
        await asyncio.sleep(0.01)


async def _touch(dock: QAbstractItemView | object) -> None:
    """Type into the panel's boxes, and choose the first and last of its lists."""
    for box in dock.findChildren(QLineEdit):  # type: ignore[attr-defined]
        if box.isVisible() and box.isEnabled() and not box.isReadOnly():
            before = box.text()
            for word in WORDS:
                box.setText(word)
                await turns(1)
            box.setText(before)
    for view in dock.findChildren(QAbstractItemView):  # type: ignore[attr-defined]
        model = view.model()
        if model is None or not view.isVisible():
            continue
        for row in {0, model.rowCount() - 1} - {-1}:
            index = model.index(row, 0)
            view.setCurrentIndex(index)
            for role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.DisplayRole):
                index.data(role)
            await turns(1)


async def _close_dialogs(window: Window) -> None:
    for dialog in window.findChildren(QDialog):
        if dialog.isVisible():
            dialog.reject()
    popup = QApplication.activePopupWidget()
    if popup is not None:
        popup.close()
    await turns(1)
