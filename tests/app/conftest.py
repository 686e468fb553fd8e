"""Qt tests without a display; coroutine tests run on the one Qt event loop, each within 90 seconds.

Never call `qtbot.wait*` inside a coroutine test: it is a nested loop and would freeze the other tasks. Use
`support.eventually` there.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from functools import partial

import pytest
from support.garbage import collected_here  # noqa: F401 - a fixture

os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ["QT_API"] = "pyside6"


END_MS = 540_000
"""After so long a coroutine test's loop is stopped, whatever still runs in it."""

PATIENCE_MS = 240_000
"""How long a test waits at most for what must come; a machine under load takes more than the library's 5 seconds."""


@pytest.fixture
def qtbot(qtbot):
    """The library's bot, which waits as long as a busy machine needs."""
    for name in ("waitUntil", "waitSignal", "waitSignals", "waitExposed", "waitActive"):
        setattr(qtbot, name, partial(getattr(qtbot, name), timeout=PATIENCE_MS))
    return qtbot


@pytest.fixture(autouse=True)
def _dressed(qapp):
    """Every test sees the application's style and plain English."""
    from PySide6.QtCore import QEvent, QLocale

    from app.kit import theme

    QLocale.setDefault(QLocale("en_US"))
    theme.apply(qapp, "light")
    yield
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)  # widgets go with their worker processes


@pytest.fixture(autouse=True)
def _nothing_undrawn(_dressed):
    """No test passes in which Qt was given a neutral value in place of an answer; who means it clears `met`."""
    from app.kit import overrides

    overrides.met.clear()
    yield
    assert not overrides.met, f"errors that Qt must not see: {dict(overrides.met)}"


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run a coroutine test to its end on a Qt loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication
    from qasync import QEventLoop

    app = QApplication.instance() or QApplication([])
    names = inspect.signature(pyfuncitem.obj).parameters
    arguments = {name: pyfuncitem.funcargs[name] for name in names}

    async def bounded() -> None:
        async with asyncio.timeout(90):
            await pyfuncitem.obj(**arguments)

    with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
        # A task that does not end when it is cancelled fails this test: in Qt's loop no signal of pytest's would come.
        last = QTimer(singleShot=True, interval=END_MS)
        last.timeout.connect(runner.get_loop().stop)
        last.start()
        runner.run(bounded())
    return True
