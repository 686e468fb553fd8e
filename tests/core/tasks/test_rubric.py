"""What a judge reads of a stored submission, whoever wrote its bytes."""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.tasks.rubric import MAX_FILE, text_of_tar


def packed(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, data in files.items():
            one = tarfile.TarInfo(name)
            one.size = len(data)
            tar.addfile(one, io.BytesIO(data))
    return buffer.getvalue()


def extended(count: int) -> bytes:
    """Headers that are each about the next one."""
    one = tarfile.TarInfo("x")
    one.type, one.size = tarfile.XHDTYPE, 12
    return (one.tobuf(tarfile.USTAR_FORMAT) + b"12 path=abc\n".ljust(512, b"\0")) * count


@pytest.mark.parametrize("data", [extended(3_000), lzma.compress(packed(a=b"a" * MAX_FILE)),
                                  gzip.compress(packed(a=b"a" * MAX_FILE)), b"", b"\0" * 600, b"no tar" * 200])
def test_what_is_no_plain_tar_is_refused_and_ends_no_run(data: bytes) -> None:
    try:
        assert text_of_tar(data) == ""
    except tarfile.TarError:
        return


@given(st.binary(max_size=1_200), st.integers(0, 1_500))
def test_damage_is_one_error(noise: bytes, at: int) -> None:
    sound = packed(a=b"words", b=b"\0")
    assert text_of_tar(sound) == "### a\nwords"
    try:
        text_of_tar(sound[:at] + noise + sound[at + len(noise):])
    except tarfile.TarError:
        return
