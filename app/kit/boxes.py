"""Rows and columns of widgets, their names, and boxes for words, said in one line."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QLineEdit, QVBoxLayout, QWidget

from app.kit import theme, tokens

Item = QWidget | QLayout | int | tuple[QWidget | QLayout, int]
"""A widget or layout, one with its stretch, or empty room by its stretch."""

_Box = TypeVar("_Box", bound=QBoxLayout)
_Widget = TypeVar("_Widget", bound=QWidget)

Margin = int | tuple[int, int, int, int]
"""All around, or left, top, right and bottom."""


def row(*items: Item, on: QWidget | None = None, spacing: int | None = None, margin: Margin | None = None
        ) -> QHBoxLayout:
    """The items side by side, laid out `on` a widget; spacing and margin in pixels, the style's where not given."""
    return _filled(QHBoxLayout(on) if on is not None else QHBoxLayout(), items, spacing, margin)


def column(*items: Item, on: QWidget | None = None, spacing: int | None = None, margin: Margin | None = None
           ) -> QVBoxLayout:
    """The items below each other; else as `row`."""
    return _filled(QVBoxLayout(on) if on is not None else QVBoxLayout(), items, spacing, margin)


def apart(*items: Item) -> QHBoxLayout:
    """A row of fields and buttons in a panel that touches its edges: it keeps away from them."""
    side, over = theme.px(tokens.SIDE), theme.px(tokens.WITHIN)
    return row(*items, spacing=theme.px(tokens.BETWEEN), margin=(side, over, side, over))


def named(widget: _Widget, name: str, *, is_tip: bool = False) -> _Widget:
    """A widget with its name for assistive technology, which its tip says too where that is wanted."""
    widget.setAccessibleName(name)
    if is_tip:
        widget.setToolTip(name)
    return widget


def words_box(parent: QWidget, hint: str, name: str, *, clears: bool = False) -> QLineEdit:
    """A box for some words: the hint that stands in it while it is empty, its name, whether a button empties it."""
    return named(QLineEdit(parent, placeholderText=hint, clearButtonEnabled=clears), name)


def _filled(box: _Box, items: tuple[Item, ...], spacing: int | None, margin: Margin | None) -> _Box:
    if spacing is not None:
        box.setSpacing(spacing)
    if margin is not None:
        box.setContentsMargins(*((margin,) * 4 if isinstance(margin, int) else margin))
    for item in items:
        if isinstance(item, int):
            box.addStretch(item)
            continue
        part, stretch = item if isinstance(item, tuple) else (item, 0)
        box.addWidget(part, stretch) if isinstance(part, QWidget) else box.addLayout(part, stretch)
    return box
