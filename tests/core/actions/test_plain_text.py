"""Terminal bytes as plain text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cost import assert_linear

from core.actions.render import cut, plain_text


@pytest.mark.parametrize(("raw", "text"), [
    (b"plain\r\nlines\r\n", "plain\nlines"),
    (b"\x1b[31mred\x1b[0m \x1b[1;32mgreen\x1b[m", "red green"),
    (b" 10%|#  |\r 50%|## |\r100%|###|\r\ndone", "100%|###|\ndone"),
    (b"long line\rab", "abng line"),
    (b"long line\r\x1b[Kab", "ab"),
    (b"one\ntwo\nthree\x1b[2A\r\x1b[2KONE", "ONE\ntwo\nthree"),
    (b"a\x1b]0;window title\x07b\x1b]7717;nonce;end;x;0;/\x07c\x1b]8;;http://x\x1b\\link", "abclink"),
    (b"x\x1b]unfinished", "x"),
    (b"ab\x08c", "ac"),
    (b"a\tb", "a       b"),
    (b"\x07\x00bell", "bell"),
    ("é漢\u200b".encode() + b"\xff", "é漢\u200b\ufffd"),
    (b"trailing   \r\n\r\n\r\n", "trailing"),
    (b"\x1b[?2004h\x1b(Bkept\x1b[?2004l\x1bM", "kept"),
    (b"abc\x1b[2D\x1b[1PX", "aX"),
    (b"a\x1b[3Cb", "a   b"),
    (b"", ""),
])
def test_what_a_screen_would_show(raw: bytes, text: str) -> None:
    assert plain_text(raw) == text


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([b"\x1b[", b"\x1b]", b"\x07", b"\r", b"\n", b"\b", b"9999999999A", b"K", b"2J", b";",
                                 b"abc", b"\xc3", b"\t", b"\x1b\\", b"\x1b[200C"]) | st.binary(max_size=3)))
def test_no_bytes_break_it_and_no_control_is_left(pieces: list[bytes]) -> None:
    text = plain_text(b"".join(pieces))
    assert not [c for c in text if ord(c) < 32 and c != "\n"]


@pytest.mark.parametrize("raw", [b"a\x07", b"ab\x08", b"a\r", b"\x1b]", b"\x1b[", b"\x1b[9999Ca\x1b[K\r",
                                 b"\x1b[31mx\x1b[0m\r\n"])
def test_hostile_output_takes_linear_time(raw: bytes) -> None:
    assert_linear(lambda size: plain_text(raw * size), 6_000)


def test_a_cut_keeps_front_and_back_and_says_how_much_is_missing() -> None:
    text, was_cut = cut("a" * 50 + "b" * 900 + "c" * 50, 100)
    assert was_cut and text.startswith("a" * 20 + "\n[… 900 characters left out …]\n") and text.endswith("c" * 50)
    assert cut("x" * 100, 100) == ("x" * 100, False)
