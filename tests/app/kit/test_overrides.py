"""No error of ours reaches Qt, from no class: PySide6 on Python 3.11 would end the process."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import subprocess
import sys

import pytest
from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QSize
from PySide6.QtGui import QIconEngine
from PySide6.QtWidgets import QAbstractItemDelegate, QStyledItemDelegate, QWidget
from shibokensupport.signature import get_signature

import app
from app.kit import overrides

PROGRAM = """
import app
from PySide6.QtCore import QAbstractListModel, QEvent, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QListView, QStyledItemDelegate, QWidget
from app.kit import overrides

def boom(self, *_):
    return {}[[]]  # an error that C code raises

def made(base, *names):
    return type("Made", (base,), {"__module__": "app.made_up", **{name: boom for name in names}})

class Rows(QAbstractListModel):
    def rowCount(self, parent=None):
        return 3
    def data(self, index, role=0):
        return "x" if role == 0 else None

application = QApplication([])
overrides.report_by(lambda place, error: None)
for model, delegate in (
    (made(QAbstractListModel, "rowCount"), QStyledItemDelegate),
    (made(Rows, "data", "flags"), QStyledItemDelegate),
    (Rows, made(QStyledItemDelegate, "paint", "sizeHint")),
):
    view = QListView()
    held = model(view), delegate(view)
    view.setModel(held[0])
    view.setItemDelegate(held[1])
    view.grab()
watch = made(QObject, "eventFilter")()
widget = made(QWidget, "sizeHint", "minimumSizeHint", "keyPressEvent", "mousePressEvent", "resizeEvent", "changeEvent",
              "showEvent", "paintEvent")()
widget.installEventFilter(watch)
widget.show()
QTest.mouseClick(widget, Qt.MouseButton.LeftButton)
QTest.keyClick(widget, Qt.Key.Key_A)
widget.adjustSize()
application.processEvents()
print(" ".join(sorted({place.rpartition(".")[2] for place, _ in overrides.met})))
"""


def test_an_error_that_c_code_raises_ends_nothing():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False,
                          env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
    assert done.returncode == 0, done.stderr
    assert {"data", "eventFilter", "flags", "keyPressEvent", "paint", "paintEvent", "rowCount", "sizeHint"} <= set(
        done.stdout.split())


def classes() -> list[type]:
    """Every class of ours that is made of one of Qt's."""
    for module in pkgutil.walk_packages(app.__path__, "app."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found: set[type] = set()
    open_ = [QObject, QIconEngine]
    while open_:
        below = type.__subclasses__(open_.pop())
        found.update(below)
        open_ += below
    return [cls for cls in found if cls.__module__.startswith("app.")]


def qts(cls: type, name: str) -> object:
    return next((vars(base)[name] for base in cls.__mro__ if base.__module__.startswith("PySide6")
                 and name in vars(base)), None)


def test_every_override_of_every_class_is_guarded_and_has_a_neutral_result():
    bare, without, seen = [], set(), 0
    for cls in classes():
        for name, method in vars(cls).items():
            if not inspect.isfunction(method) or name.startswith("__") or name in overrides.NOT_QTS:
                continue
            if (of_qt := qts(cls, name)) is None:
                continue
            seen += 1
            if method.__code__.co_filename != overrides.__file__:
                bare.append(f"{cls.__module__}.{cls.__qualname__}.{name}")
            said = get_signature(of_qt)
            result = (said[0] if isinstance(said, list) else said).return_annotation
            if result not in (None, "None", inspect.Signature.empty) and name not in overrides.NEUTRAL:
                without.add(name)
    assert not bare and seen > 200
    assert without <= {"clone", "itemAt", "takeAt", "widget"}  # objects, of which there may be none
    made = classes()
    assert sum(issubclass(cls, QAbstractItemModel) for cls in made) > 12
    assert sum(issubclass(cls, QAbstractItemDelegate) for cls in made) > 8


@overrides.guarded
class Half(QStyledItemDelegate):
    """Cannot measure."""

    def sizeHint(self, option: object, index: object) -> QSize:
        """Fails."""
        raise KeyError(index)


def test_a_place_is_told_once_and_counted(qtbot, monkeypatch):
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(overrides, "report", lambda place, error: told.append((place, repr(error)[:8])))
    delegate = Half()
    assert delegate.sizeHint(None, QModelIndex()) == QSize(20, 20) == delegate.sizeHint(None, QModelIndex())
    (place, error), = told
    assert place.endswith("Half.sizeHint") and error == "KeyError"
    assert list(overrides.met.values()) == [2]
    overrides.met.clear()


def test_what_nobody_takes_reaches_the_excepthook(qtbot, monkeypatch):
    hooked = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: hooked.append((kind, trace is not None)))
    Half().sizeHint(None, QModelIndex())
    assert hooked == [(KeyError, True)]
    overrides.met.clear()


def test_the_reader_is_told_in_a_later_turn_and_the_log_has_the_trace(qtbot, caplog):
    from app.desk.notices import Notices
    from app.window.undrawn import Undrawn

    owner, notices = QWidget(), Notices()
    qtbot.addWidget(owner)
    posted: list[object] = []
    notices.posted.connect(posted.append)
    undrawn = Undrawn(notices, owner)
    try:
        Half(owner).sizeHint(None, QModelIndex())
        assert not posted
        qtbot.waitUntil(lambda: bool(posted))
    finally:
        undrawn.close()
    assert "[not_drawn]" in posted[0].sentence and "Half.sizeHint" in posted[0].sentence
    assert "raise KeyError(index)" in caplog.text
    overrides.met.clear()


@pytest.mark.parametrize("name", ["rowCount", "sizeHint", "flags", "eventFilter", "index"])
def test_neutral_results_are_of_qts_types(name):
    expected = {"rowCount": int, "sizeHint": QSize, "flags": object, "eventFilter": bool, "index": QModelIndex}[name]
    assert isinstance(overrides.NEUTRAL[name](), expected)
