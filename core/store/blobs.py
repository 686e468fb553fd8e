"""Blobs: payloads by content address, each stored once, compressed with zstd.

Stored bytes and bytes from the wire are not trusted: they are decompressed up to a bound and checked against
their name before anyone sees them.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from itertools import starmap

from core.domain.blob import blob_hash, is_blob_hash
from core.domain.errors import InvalidInput, LimitReached, NotFound
from core.store.sqlite import Connection, scalar

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_RAW = 64 * 1024 * 1024
"""The largest payload in bytes."""

_LEVEL = 3
_AT_ONCE = 256
"""Payloads that one statement looks for."""

_INSERT = "INSERT INTO blob (hash, codec, size, data) VALUES (?, 'zstd', ?, ?) ON CONFLICT (hash) DO NOTHING"
_WINDOW: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 27}
"""At most 128 MiB of memory for a frame's window, whatever it asks for."""


def put(conn: Connection, data: bytes) -> str:
    """Store a payload; returns its name. Raises LimitReached above MAX_RAW."""
    _check_size(data)
    name = blob_hash(data)
    if not holds(conn, name):
        conn.execute(_INSERT, (_key(name), len(data), compress(data)))
    return name


def put_all(conn: Connection, payloads: Iterable[tuple[str, bytes]]) -> None:
    """Store payloads that were named just now, and of which few are held: those are compressed, too. Raises
    LimitReached above MAX_RAW."""
    conn.executemany(_INSERT, starmap(_entry, payloads))


def _entry(name: str, data: bytes) -> tuple[bytes, int, bytes]:
    _check_size(data)
    return _key(name), len(data), compress(data)


def _check_size(data: bytes) -> None:
    if len(data) > MAX_RAW:
        raise LimitReached("blob_too_large", f"A payload has {len(data)} bytes, more than {MAX_RAW}.", size=len(data))


def put_compressed(conn: Connection, hash: str, data: bytes) -> None:
    """Store a compressed payload as it came. Raises InvalidInput when it is not what its name says, LimitReached."""
    if holds(conn, hash):
        return
    raw = decompress(data)
    if blob_hash(raw) != hash:
        raise InvalidInput("blob_hash", f"A payload does not match its name {hash[:12]}….", hash=hash)
    conn.execute(_INSERT, (_key(hash), len(raw), data))


def get(conn: Connection, hash: str) -> bytes:
    """A payload. Raises NotFound; InvalidInput when the stored bytes are damaged."""
    raw = decompress(get_compressed(conn, hash))
    if blob_hash(raw) != hash:
        raise InvalidInput("blob_hash", f"The stored payload {hash[:12]}… is damaged.", hash=hash)
    return raw


def altered(conn: Connection) -> Iterator[str]:
    """The names of payloads whose bytes were changed on the disk, by reading every one (about 1 s per 300 MB)."""
    for (key,) in conn.execute("SELECT hash FROM blob ORDER BY id"):
        try:
            get(conn, key.hex())
        except (InvalidInput, LimitReached):
            yield key.hex()


def get_compressed(conn: Connection, hash: str) -> bytes:
    """A payload as one zstd frame, for the wire. Raises NotFound."""
    data: bytes | None = scalar(conn, "SELECT data FROM blob WHERE hash = ?", _key(hash))
    if data is None:
        raise NotFound("no_blob", f"The payload {hash[:12]}… is not held here.", hash=hash)
    return data


def get_part(conn: Connection, hash: str, offset: int, size: int) -> tuple[bytes, int]:
    """`size` bytes at `offset` of a compressed payload, and how long it is as a whole. Raises NotFound."""
    sql = "SELECT substr(data, ?2 + 1, ?3), length(data) FROM blob WHERE hash = ?1"
    row = conn.execute(sql, (_key(hash), offset, size)).fetchone()
    if row is None:
        raise NotFound("no_blob", f"The payload {hash[:12]}… is not held here.", hash=hash)
    return bytes(row[0]), int(row[1])


def holds(conn: Connection, hash: str) -> bool:
    """Whether a payload is held."""
    return scalar(conn, "SELECT 1 FROM blob WHERE hash = ?", _key(hash)) is not None


def size(conn: Connection, hash: str) -> int:
    """The bytes of a payload, uncompressed; 0 where it is not held."""
    return scalar(conn, "SELECT size FROM blob WHERE hash = ?", _key(hash)) or 0


def missing(conn: Connection, hashes: Iterable[str]) -> list[str]:
    """Those that are not held, each once, in the order given."""
    wanted = {_key(name): name for name in hashes}
    keys = list(wanted)
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        sql = f"SELECT hash FROM blob WHERE hash IN ({','.join('?' * len(some))})"
        for (held,) in conn.execute(sql, some):
            del wanted[bytes(held)]
    return list(wanted.values())


def compress(data: bytes) -> bytes:
    """One zstd frame."""
    return _own.compressor.compress(data, mode=zstd.ZstdCompressor.FLUSH_FRAME)


class _OfThread(threading.local):
    """A compressor for each thread: to make one costs ten times what a small payload does."""

    def __init__(self) -> None:
        self.compressor = zstd.ZstdCompressor(level=_LEVEL)


_own = _OfThread()


def decompress(data: bytes, limit: int = MAX_RAW) -> bytes:
    """The bytes of exactly one zstd frame. Raises LimitReached beyond `limit`, InvalidInput for anything else."""
    unpacker = zstd.ZstdDecompressor(options=_WINDOW)
    try:
        raw = unpacker.decompress(data, max_length=limit + 1)
    except zstd.ZstdError as error:
        raise InvalidInput("blob_damaged", f"A compressed payload cannot be read: {error}") from error
    if len(raw) > limit:
        raise LimitReached("blob_too_large", f"A compressed payload has more than {limit} bytes.", size=limit)
    if not unpacker.eof or unpacker.unused_data:
        raise InvalidInput("blob_damaged", "A compressed payload is cut short, or something follows it.")
    return raw


def _key(name: str) -> bytes:
    if not is_blob_hash(name):
        raise InvalidInput("blob_name", f"{name[:80]!r} is not the name of a payload.")
    return bytes.fromhex(name)
