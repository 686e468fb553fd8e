"""Content addresses: a payload is named by the BLAKE2b-256 hash of its raw bytes."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated

from msgspec import Meta

BlobName = Annotated[str, "names a blob", Meta(pattern=r"^[0-9a-f]{64}\Z", max_length=64)]
"""The type of a field that names a blob."""

BlobRef = Annotated[str, "names a blob", Meta(pattern=r"^(?:[0-9a-f]{64})?\Z", max_length=64)]
"""The type of a field that names a blob; "" for none."""

_HASH = re.compile(r"[0-9a-f]{64}\Z")


def blob_hash(data: bytes) -> str:
    """The name of a payload: 64 lower-case hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=32).hexdigest()


def is_blob_hash(text: str) -> bool:
    """Whether a text has the form of a payload's name."""
    return _HASH.match(text) is not None
