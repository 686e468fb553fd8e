"""What the worker that decodes pictures is asked and answers: bytes that somebody wrote, and plain pixels."""

from __future__ import annotations

import msgspec

from core.workers.messages import WorkerRequest

MOST_SIDE = 1_600
"""Pixels of a side of what is shown; a larger picture is made smaller."""


class DecodedPicture(msgspec.Struct, frozen=True, kw_only=True):
    """Pixels of four bytes (red, green, blue, alpha), row by row."""

    width: int
    height: int
    pixels: bytes


class DecodePicture(WorkerRequest[DecodedPicture], frozen=True, tag="decode"):
    """The bytes of a picture's file."""

    data: bytes
