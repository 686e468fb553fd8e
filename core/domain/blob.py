"""Content addresses: a payload is named by the BLAKE2b-256 hash of its raw bytes."""

import hashlib
import re
from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

BlobName = Annotated[str, "names a blob", Meta(pattern=r"^[0-9a-f]{64}\Z", max_length=64)]
"""The type of a field that names a blob."""

BlobRef = Annotated[str, "names a blob", Meta(pattern=r"^(?:[0-9a-f]{64})?\Z", max_length=64)]
"""The type of a field that names a blob; "" for none."""

_WHOLE = (bytes, bytearray, memoryview)
_HASH = re.compile(r"[0-9a-f]{64}\Z")


def blob_hash(data: bytes | Iterator[bytes]) -> str:
    """The name of a payload, whole or in pieces: 64 lower-case hexadecimal digits."""
    if isinstance(data, _WHOLE):
        return hashlib.blake2b(data, digest_size=32).hexdigest()
    hashed = hashlib.blake2b(digest_size=32)
    for piece in data:
        hashed.update(piece)
    return hashed.hexdigest()


def blob_digest(data: bytes) -> bytes:
    """The 32 bytes that a payload's name writes."""
    return hashlib.blake2b(data, digest_size=32).digest()


def is_blob_hash(text: str) -> bool:
    """Whether a text has the form of a payload's name."""
    return _HASH.match(text) is not None
