"""The desktop's entry: Qt before qasync, log and handlers before the application, one event loop for the process."""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType

os.environ.setdefault("QT_API", "pyside6")

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from app.desk.central import central_file, read_central
from app.desk.settings import Settings
from app.kit import i18n, icons, theme
from app.window.bootstrap import parse, run_desktop
from app.window.garbage import Collector
from app.window.instance import take_or_hand_over
from core import logs
from core.domain.errors import ReportableError
from core.program import command, newest_python
from core.store.home import Home

_log = logging.getLogger("ui")
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG, QtMsgType.QtInfoMsg: logging.INFO, QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR, QtMsgType.QtFatalMsg: logging.CRITICAL,
}
EXIT_S = 10.0
"""How long leaving may take before all stacks are logged and the process ends."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the desktop; returns the exit status."""
    options = parse(sys.argv[1:] if argv is None else argv)
    try:
        home = Home(options.home) if options.home else Home.default()
        logs.set_up("desktop", home.logs)
        _catch_all()
        lock = take_or_hand_over(home, options.as_request(options.token))
        if lock is None:
            return 0
        settings = Settings(home.settings, central=read_central(central_file()))
        app = make_application(settings, options.language)
        with ExitStack() as ending, asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
            starts_again = runner.run(run_desktop(app, options, home, settings))
            ending.enter_context(_watched())
        lock.release()
        if starts_again:
            subprocess.Popen(command("desktop", *(["--home", str(home.path)] if options.home else []),
                                     python=newest_python()), start_new_session=True)
        return 0
    except ReportableError as error:
        sys.stderr.write(f"tiphys: {error.sentence} [{error.code}]\n")
        return error.exit_status


def make_application(settings: Settings, language: str = "") -> QApplication:
    """The application object with its style, colours and languages."""
    existing = QApplication.instance()
    app = existing if isinstance(existing, QApplication) else QApplication(["tiphys"])
    app.setApplicationName("tiphys")
    app.setApplicationDisplayName("Tiphys")
    app.setQuitOnLastWindowClosed(False)
    Collector(app)
    i18n.install(app, language or settings.text("appearance.language"))
    theme.apply(app, settings.text("appearance.colours"), float(settings.get("appearance.text_size")),
                settings.text("appearance.contrast"))
    app.setWindowIcon(icons.icon("ship-wheel", "person"))
    return app


def _catch_all() -> None:
    """Whatever nobody handled goes into the log; a slot's error does not end the program."""
    sys.excepthook = _unhandled
    qInstallMessageHandler(_qt_message)


def _unhandled(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    _log.error("Unhandled error", exc_info=(kind, error, trace))


def _qt_message(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    if "propagateSizeHints" in message:  # the offscreen platform says so for every dialog
        return
    _log.log(_LEVELS.get(kind, logging.WARNING), "Qt: %s", message)


@contextmanager
def _watched() -> Iterator[None]:
    """Leaving may not hang: after EXIT_S all stacks are written and the process ends."""

    def give_up() -> None:
        faulthandler.dump_traceback()
        os._exit(3)

    timer = threading.Timer(EXIT_S, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
