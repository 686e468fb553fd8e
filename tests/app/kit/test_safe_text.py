"""Nothing in a trajectory can act on the workstation, nor hide."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QWidget
from support.cost import cost_s

from app.kit.long_text import FIRST, LongText, Part
from app.kit.safe_text import (
    MAX_LINE,
    PlainLabel,
    break_lines,
    displayable,
    menu_text,
    one_line,
    plain_tooltip,
    visible,
)

PAYLOADS = (
    "<img src='file:///etc/passwd'>", "<a href='http://example.org'>x</a>", "<b>bold</b>", "<script>alert(1)</script>",
    "<table><tr><td>x</td></tr></table>", "if x<b>y</b>: pass", "<p>", "\x1b]0;title\x07", "\x1b]52;c;aGk=\x07",
    "\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\", "\x1b[2J\x1b[31mred", "a\u202eb", "\u2066x\u2069", "a\u200bb",
    "\x00\x07\x08", "&amp;&lt;", "<!DOCTYPE html><html>", "<style>*{}</style>", "\ufeff", "\u2028\u2029",
)


@given(st.text())
def test_no_control_or_bidi_character_survives(text):
    shown = visible(text)
    hidden = [c for c in shown if (ord(c) < 0x20 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0
              or "\u202a" <= c <= "\u202e" or "\u2066" <= c <= "\u2069" or c in "\u200b\u200e\u200f\ufeff\u2028\u2029"]
    assert hidden == []


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"],
                             exclude_characters="\u3164\uffa0\u115f\u1160\ufffc")))
def test_ordinary_text_is_left_alone(text):
    assert visible(text) == text


def test_escape_sequences_are_shown_or_taken_out():
    assert visible("\x1b[31mred") == "␛[31mred"
    assert visible("\x1b[31mred\x1b]52;c;aGk=\x07", escapes=False) == "red"


@pytest.mark.parametrize("payload", PAYLOADS)
def test_labels_and_tooltips_never_render_markup(qtbot, payload):
    label = PlainLabel(payload)
    qtbot.addWidget(label)
    assert label.textFormat() == Qt.TextFormat.PlainText
    document = QTextDocument()
    document.setHtml(plain_tooltip(payload))
    flat = document.toPlainText().replace("\u00a0", " ")
    assert flat.split() == visible(payload, escapes=False).split()
    assert "<img" not in plain_tooltip(payload)
    assert "<a " not in plain_tooltip(payload)


def test_a_mnemonic_in_foreign_text_is_no_mnemonic():
    assert menu_text("R&D") == "R&&D"


@given(st.text(), st.integers(1, 50))
def test_one_line_is_one_line_and_bounded(text, limit):
    line = one_line(text, limit)
    assert "\n" not in line
    assert len(line) <= limit


@given(st.text(max_size=300), st.integers(1, 40))
def test_broken_lines_are_short_and_lose_nothing(text, limit):
    broken = break_lines(text, limit)
    assert max(map(len, broken.split("\n"))) <= limit + 1
    if "↩" not in text:
        assert broken.replace("↩\n", "") == text


def test_a_line_of_ten_megabytes_opens_as_quickly_as_one_of_a_twentieth(qtbot):
    view = LongText()
    qtbot.addWidget(view)
    view.resize(600, 400)
    view.show()

    def opened(text: str) -> None:
        view.show_text(text)
        view.grab()

    texts = iter("abcdef")
    short = cost_s(lambda: opened(next(texts) * 500_000))
    assert cost_s(lambda: opened(next(texts) * 10_000_000)) < 4 * short
    assert max(map(len, view.text.split("\n"))) <= MAX_LINE + 1


def test_a_long_text_is_cut_and_shown_whole_on_request(qtbot):
    view = LongText()
    qtbot.addWidget(view)
    view.show()
    text = "line\n" * (FIRST // 4)
    view.show_text(text)
    assert len(view.text) <= FIRST
    assert view._bar.isVisible()
    view.show_all()
    assert view.text == text
    assert not view._bar.isVisible()


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_text_view_shows_markup_as_text(qtbot, payload):
    view = LongText()
    qtbot.addWidget(view)
    view.show_parts([Part(text=payload, style="heading"), Part(text=payload, style="mono", lexer="html")])
    assert view.text == displayable(payload) * 2
    assert "<img" not in QWidget.windowTitle(view)


def test_colours_count_as_qt_counts(qtbot):
    view = LongText()
    qtbot.addWidget(view)
    view.show_text('"😀😀"\nimport os', "python")
    block = view.edit.document().findBlockByNumber(1)
    spans = [(f.start, f.length) for f in block.layout().formats()]
    assert (0, 6) in spans
