"""What the viewer's benchmarks share: the product's own panels over a made replica, their baselines, clocks."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QT_API"] = "pyside6"

from PySide6.QtCore import QAbstractListModel, QEvent, QEventLoop, QLocale, QModelIndex, Qt, QTimer
from PySide6.QtWidgets import QApplication, QListView, QListWidget, QWidget
from support.panels import workplace

from app.desk.workplace import Workplace
from app.kit import theme
from app.window.garbage import Collector, freeze
from core.client.client import Client
from core.client.replica import Replica

WIDTH, HEIGHT = 900, 800
ROUNDS = 3


def application() -> QApplication:
    """The application, dressed as the product, which collects cycles itself: CPython's own collections would be
    measured with whatever they meet."""
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    QLocale.setDefault(QLocale("en_US"))
    theme.apply(app, "light")
    Collector(app)
    freeze()
    return app


class Clock:
    """Wall time and the GUI thread's processor time of a block, in ms."""

    def __enter__(self) -> Clock:
        self._cpu, self._wall = time.thread_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall = (time.perf_counter() - self._wall) * 1000
        self.cpu = (time.thread_time() - self._cpu) * 1000


@contextlib.contextmanager
def place_over(path: Path, client: Callable[[Replica], Client] | None = None) -> Iterator[Workplace]:
    """A workplace whose replica is this file; its home is made for it and goes with it."""
    folder = Path(tempfile.mkdtemp(prefix="tiphys-bench-"))
    replica = Replica(path)
    made = client(replica) if client else None
    try:
        with workplace(folder, client=made, replica=replica) as (place, _):
            try:
                yield place
            finally:
                place.desks.local.close()
                _put_away()
    finally:
        if made is not None:
            replica.close()
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def copy_of(path: Path) -> Iterator[Path]:
    """A copy of a replica to write into, with what lies beside it."""
    folder = Path(tempfile.mkdtemp(prefix="tiphys-bench-"))
    try:
        shutil.copy(path, folder / path.name)
        if (folds := path.with_suffix(".folds")).exists():
            shutil.copytree(folds, (folder / path.name).with_suffix(".folds"))
        os.sync()  # else the first commit that syncs the copy waits for all of it
        yield folder / path.name
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def shown(widget: QWidget) -> QWidget:
    """A widget at the size of all measurements, shown."""
    widget.resize(WIDTH, HEIGHT)
    widget.show()
    _shown.append(widget)
    return widget


_shown: list[QWidget] = []


def _put_away() -> None:
    """Widgets go before what they read from."""
    for widget in _shown:
        widget.hide()
        widget.deleteLater()
    QApplication.processEvents()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    _shown.clear()


def frame(widget: QWidget) -> None:
    """Everything that is due is done, the painting of the widget too."""
    assert widget.isVisible()
    QApplication.processEvents()


def until(done: Callable[[], bool], seconds: float = 120) -> None:
    """Run the loop until something is so; waiting costs no processor time."""
    end = time.monotonic() + seconds
    tick = QTimer()
    tick.start(10)
    while not done():
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
        if time.monotonic() > end:
            raise TimeoutError


def rss_mb() -> float:
    """Resident memory of this process."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def p99(told: Sequence[float]) -> float:
    """The 99th percentile."""
    return statistics.quantiles(told, n=100, method="inclusive")[98]


def median(told: Sequence[float]) -> float:
    """The median, rounded."""
    return round(statistics.median(told), 2)


def machine() -> dict[str, object]:
    """What figures of time depend on: how busy the machine was."""
    return {"load": round(os.getloadavg()[0], 1), "cores": os.cpu_count()}


# ---- what is compared with ---------------------------------------------------------------------------


def previews(place: Workplace, session: str, count: int) -> list[str]:
    """A preview of about 420 characters for each step: what a plain list would be given."""
    told = []
    for entry in place.desks.of(session).trajectory(session).steps[:count]:
        head = entry.head
        first = (f"{head.number} {head.title} " * 8)[:280]
        told.append(f"{first}\nexit code, {head.output_chars} characters\n" + "x" * 100)
    return told


class WrappedList(QListWidget):
    """A list widget with word wrap, one item a step."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__()
        self.setWordWrap(True)
        self.addItems(texts)


class PreviewModel(QAbstractListModel):
    """The usual Python model."""

    def __init__(self, texts: list[str]) -> None:
        super().__init__()
        self.texts = texts

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # type: ignore[override]
        return 0 if parent.isValid() else len(self.texts)

    def data(self, index: QModelIndex, role: int = 0) -> object:  # type: ignore[override]
        return self.texts[index.row()] if role == Qt.ItemDataRole.DisplayRole else None

    def add(self, texts: Sequence[str]) -> None:
        """Rows at the end."""
        self.beginInsertRows(QModelIndex(), len(self.texts), len(self.texts) + len(texts) - 1)
        self.texts += texts
        self.endInsertRows()


class UniformView(QListView):
    """A list view that is told that all rows are of one height."""

    def __init__(self, model: QAbstractListModel) -> None:
        super().__init__()
        self.setUniformItemSizes(True)
        self.setModel(model)
