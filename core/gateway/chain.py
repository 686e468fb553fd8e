"""Names for prefixes: the n-th link names everything up to the n-th item, so equal links mean equal prefixes.

Agents change between requests what means the same (marks of a cache move, text stands alone or in a block); a link
does not see that. Bytes that were seen are not looked at again, so a long context costs its new items.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import msgspec

from core.gateway.dialect import Json, decode_raw

_MARKS = frozenset({"cache_control", "prompt_cache_breakpoint"})
_REMEMBERED = 50_000
LINK = 16
"""Bytes of a link."""

_ENCODER = msgspec.json.Encoder(order="deterministic")


class ChainMaker:
    """Makes chains; remembers what each item's bytes mean."""

    def __init__(self) -> None:
        self._meaning: OrderedDict[bytes, bytes] = OrderedDict()
        self.decoded: dict[bytes, Json] = {}
        """The values of the items whose bytes were new in the last chain."""

    def extend(self, links: Sequence[bytes], items: Sequence[bytes]) -> list[bytes]:
        """The links of a chain with those of more items, as they were written."""
        made = [*links]
        self.decoded = {}
        for item in items:
            made.append(_digest((made[-1] if made else b"") + self._mean(item)))
        return made

    def _mean(self, item: bytes) -> bytes:
        name = _digest(item)
        meaning = self._meaning.get(name)
        if meaning is None:
            value = self.decoded[item] = decode_raw(item)
            meaning = self._meaning[name] = _digest(_ENCODER.encode(_plain(value)))
            if len(self._meaning) > _REMEMBERED:
                self._meaning.popitem(last=False)
        return meaning


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=LINK).digest()


def _plain(item: Any) -> Any:
    item = _unmarked(item)
    if isinstance(item, dict) and isinstance(item.get("content"), str):
        item["content"] = [{"type": "text", "text": item["content"]}]
    return item


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _unmarked(v) for k, v in value.items() if k not in _MARKS}
    return [_unmarked(v) for v in value] if isinstance(value, list) else value
