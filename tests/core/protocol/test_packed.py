"""Packed text frames: what was packed comes back, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from core.domain.errors import InvalidInput
from core.protocol.codec import MAX_TEXT_FRAME
from core.protocol.frames import is_packed, pack, pieces, unpack


@pytest.mark.parametrize("text", [b"", b"{}", "用训练集。".encode() * 999, b"x" * MAX_TEXT_FRAME])
def test_what_was_packed_comes_back(text: bytes) -> None:
    assert is_packed(pack(text)) and unpack(pack(text)) == text


def test_a_piece_of_a_payload_is_not_packed() -> None:
    assert not any(map(is_packed, pieces("0" * 64, b"data"))) and not is_packed(b"")


@pytest.mark.parametrize("frame", [
    b"\x02", b"\x02no zstd", pack(b"x" * 9)[:-1], pack(b"x") + b"y", pack(b"x" * (MAX_TEXT_FRAME + 1)),
], ids=["nothing", "nonsense", "cut", "more", "too large"])
def test_what_is_no_whole_frame_within_the_bound_is_refused(frame: bytes) -> None:
    with pytest.raises(InvalidInput) as raised:
        unpack(frame)
    assert raised.value.code == "bad_frame"
