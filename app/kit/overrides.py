"""What Qt calls in our classes never raises into Qt: an error there is reported, and Qt gets a value that does no harm.

PySide6 on Python 3.11 ends the process when C code raises (an unhashable key, `int("x")`) inside a method by which a
class overrides one of Qt's: it adds the method's name to an exception that is none yet. Any other error comes out of
whatever Python called into Qt last. So each class of ours that derives from one of Qt's has its overrides guarded when
it is made; there is nothing to remember. Slots need none: their errors reach `sys.excepthook` by themselves.
"""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import TypeVar

from PySide6.QtCore import QModelIndex, QObject, QSize, Qt
from PySide6.QtGui import QPixmap

OURS = "app."
"""Classes of modules whose names begin so are guarded."""

NEUTRAL: dict[str, Callable[[], object]] = {
    "rowCount": int, "columnCount": int, "index": QModelIndex, "parent": QModelIndex,
    "flags": lambda: Qt.ItemFlag.NoItemFlags, "data": lambda: None, "headerData": lambda: None,
    "hasChildren": bool, "canFetchMore": bool, "setData": bool, "dropMimeData": bool, "canDropMimeData": bool,
    "event": bool, "eventFilter": bool, "viewportEvent": bool, "editorEvent": bool, "helpEvent": bool,
    "focusNextPrevChild": bool, "hasHeightForWidth": bool, "heightForWidth": int, "count": int,
    "sizeHint": lambda: QSize(20, 20), "minimumSizeHint": lambda: QSize(0, 0), "minimumSize": lambda: QSize(0, 0),
    "expandingDirections": lambda: Qt.Orientation(0), "filterAcceptsRow": lambda: True, "lessThan": bool,
    "pixmap": QPixmap,
}
"""What Qt is given in place of a result, by the method's name; other methods return nothing. A row keeps some height,
so that it is seen that there is one."""

NOT_QTS = frozenset({"setModel", "setText"})
"""Methods of Qt's that we alone call: their errors are the caller's."""

_TAKES_MORE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS

_C = TypeVar("_C", bound=type)


def guarded(cls: _C) -> _C:
    """The class with each method that overrides one of Qt's guarded."""
    for name, method in list(vars(cls).items()):
        if isinstance(method, FunctionType) and _overrides(cls, name):
            setattr(cls, name, _guard(method, f"{cls.__module__}.{cls.__qualname__}.{name}", NEUTRAL.get(name)))
    return cls


def guard_all() -> None:
    """Guard every class of ours that will be made of a QObject from now on."""

    def made(cls: type, **options: object) -> None:
        super(QObject, cls).__init_subclass__(**options)  # type: ignore[misc]
        if cls.__module__.startswith(OURS):
            guarded(cls)

    QObject.__init_subclass__ = classmethod(made)  # type: ignore[assignment, arg-type]


def to_excepthook(place: str, error: Exception) -> None:
    """Tell an error that nobody handled as Python does."""
    sys.excepthook(type(error), error, error.__traceback__)


report: Callable[[str, Exception], None] = to_excepthook
"""Takes the first error of a kind at each place (module, class and method): what paints meets it many times a second.
It must not raise, and may be called while something is painted."""

met: Counter[tuple[str, str]] = Counter()
"""How often an error of a kind was met at each place."""


def report_by(taker: Callable[[str, Exception], None]) -> None:
    """Let `taker` have the errors from now on."""
    global report
    report = taker


def _meet(place: str, error: Exception) -> None:
    key = (place, type(error).__name__)
    met[key] += 1
    if met[key] == 1:
        report(place, error)


def _overrides(cls: type, name: str) -> bool:
    if name.startswith("__") or name in NOT_QTS:
        return False
    return any(name in vars(base) for base in cls.__mro__[1:] if base.__module__.startswith("PySide6"))


def _guard(method: FunctionType, place: str, neutral: Callable[[], object] | None) -> Callable[..., object]:
    """A method without arguments stays one: Qt counts what a slot takes."""

    def met(error: Exception) -> object:
        _meet(place, error)
        return neutral() if neutral is not None else None

    code = method.__code__
    if (code.co_argcount, code.co_kwonlyargcount, code.co_flags & _TAKES_MORE) == (1, 0, 0):

        @wraps(method)
        def alone(self: object) -> object:
            try:
                return method(self)
            except Exception as error:  # noqa: BLE001 - whatever it is, Qt must not see it
                return met(error)

        return alone

    @wraps(method)
    def guard(self: object, *arguments: object, **named: object) -> object:
        try:
            return method(self, *arguments, **named)
        except Exception as error:  # noqa: BLE001 - whatever it is, Qt must not see it
            return met(error)

    return guard
