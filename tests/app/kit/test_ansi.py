"""Output as a terminal would leave it, and long texts a little at a time."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QTextCursor
from support.watchdog import HELD, MUCH, Watchdog

from app.kit import theme
from app.kit.ansi import PLAIN, Style, drawn, is_drawn
from app.kit.long_text import LongText, Part


def text(output: str) -> str:
    return "".join(run for run, _ in drawn(output))


@pytest.mark.parametrize(("output", "left"), [
    ("plain\nlines\n", "plain\nlines\n"), ("10 %\r50 %\r100 %\ndone", "100 %\ndone"), ("abc\rX", "Xbc"),
    ("abc\b\bX", "aXc"), ("one\ntwo\n\x1b[2Auno\x1b[K\n", "uno\ntwo\n"), ("abcdef\r\x1b[3C\x1b[KX", "abcX"),
    ("\x1b]0;title\x07shown\x1b(B", "shown"), ("a\r\nb", "a\nb"), ("x\x1b[5Gy", "x   y"), ("ab\x1b[1Kc", "  c"),
    ("\x1b[999999999Aup", "up"), ("abc\x1b[2D\x1b[Pz", "az"),
])
def test_what_a_terminal_would_show(output, left):
    assert text(output) == left


def test_colours_by_name_number_and_value():
    output = "\x1b[31mred\x1b[1;44mbold\x1b[0m \x1b[38;5;208m208\x1b[48;2;1;2;3mrgb\x1b[7mturned\x1b[m."
    runs = [(run, style) for run, style in drawn(output) if run]
    assert runs == [("red", Style("red")), ("bold", Style("red", "blue", True)), (" ", PLAIN),
                    ("208", Style("ff8700")), ("rgb", Style("ff8700", "010203")),
                    ("turned", Style("ff8700", "010203", False, True)), (".", PLAIN)]
    assert not is_drawn("lines\r\nof another system\r\n")


def test_many_styles_and_any_bytes_are_survived():
    output = "".join(f"\x1b[38;2;{n % 256};{n // 256};7m{n}" for n in range(2000))
    assert text(output) == "".join(map(str, range(2000)))
    assert text("\x1b[;;;m\x1b[38m\x1b[38;5m\x1b[48;2;1mok") == "ok"


def test_colours_are_seen_and_hidden_characters_too(qtbot):
    view = LongText()
    qtbot.addWidget(view)
    view.show_parts([Part(text="a\x1b[31mred\x1b[0m\x00\u202eb", style="mono", terminal=True)])
    assert view.text == "ared␀‹RLO›b"
    cursor = QTextCursor(view.edit.document())
    cursor.setPosition(3)
    assert cursor.charFormat().foreground().color() == theme.terminal_colour("red")


def test_all_of_a_long_text_comes_without_holding_the_window(qtbot, qapp):
    view = LongText()
    qtbot.addWidget(view)
    view.resize(700, 500)
    view.show()
    line = "2026-03-01 12:00:00 loss=0.1234 step=100 some words follow here\n"
    text_ = line * (20_000_000 // len(line)) + "x" * 2_000_000 + "\nthe end"
    view.show_text(text_)
    assert view._bar.isVisible()
    with Watchdog(view.edit.document()) as dog:
        view.show_all()
        qtbot.waitUntil(lambda: not view._bar.isVisible(), timeout=100_000)
    assert dog.longest < HELD and dog.longest_text < MUCH
    assert dog.turns > 100
    assert view.edit.document().lastBlock().text() == "the end"
    assert view.text.replace("↩\n", "") == text_
