"""The real window with all its panels over a made session, offscreen, for tests that press real keys."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QLocale, Qt, QTranslator
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from support.logs import Maker
from support.panels import workplace

from app.desk.workplace import Workplace
from app.kit import i18n
from app.window.application import ApplicationController
from app.window.window import Window

NONE = Qt.KeyboardModifier.NoModifier
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@contextlib.contextmanager
def shown_window(folder: Path, *sessions: Maker, layout: str = "", filled: bool = True
                 ) -> Iterator[tuple[Window, Workplace]]:
    """The window, shown, at no session yet. `layout`: live, review or compare. `filled`: with all panels."""
    with workplace(folder, *sessions) as (place, _):
        window = Window(place, folder / "window.ini")
        application = ApplicationController(place, window)
        window.resize(1600, 1000)
        window.show()
        if filled:
            window.filling.fill()
        if layout:
            window.lay_out(layout)
        settle()
        try:
            yield window, place
        finally:
            application.setParent(None)
            window.hide()
            window.deleteLater()
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def settle() -> None:
    """Let Qt do what is due."""
    with _between_tasks():
        QApplication.processEvents()


def write(window: QWidget, text: str, modifiers: Qt.KeyboardModifier = NONE) -> None:
    """Keys as they come to a window from outside, wherever the focus goes meanwhile."""
    with _between_tasks():
        for letter in text:
            QTest.keyClick(QApplication.focusWindow() or window.windowHandle(), letter, modifiers)


@contextlib.contextmanager
def _between_tasks() -> Iterator[None]:
    """In a coroutine's test also tasks may run meanwhile: each is entered as from the loop, for one that met another at
    work would be lost, and what it was to do never came."""
    loop = asyncio._get_running_loop()
    task = asyncio.current_task(loop) if loop is not None else None
    if loop is None or task is None:
        yield
        return
    asyncio.tasks._leave_task(loop, task)
    try:
        yield
    finally:
        asyncio.tasks._enter_task(loop, task)


@contextlib.contextmanager
def speaking(app: QApplication, language: str) -> Iterator[None]:
    """The application in a language, for as long as it takes."""
    i18n.install(app, language)
    try:
        yield
    finally:
        for translator in app.findChildren(QTranslator):
            QCoreApplication.removeTranslator(translator)
            translator.deleteLater()
        QLocale.setDefault(QLocale("en_US"))
        app.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def press(target: QWidget, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
    """A key pressed where the focus is, else in the target."""
    QTest.keyClick(QApplication.focusWidget() or target, key, modifiers)
