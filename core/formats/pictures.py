"""Pictures in what foreign files hold: content blocks of the usual APIs, with their bytes as base64 or a data address.

What only names a path or an address is told as that; nothing is ever loaded.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable
from typing import Any

import msgspec

from core.domain.bounds import NAME
from core.domain.picture import LARGEST_PICTURE, MOST_PICTURES, Picture
from core.formats.values import dict_of, text_of

_DATA = re.compile(r"data:(?P<media>image/[\w.+-]{1,60})(?:;[\w=.-]{1,60}){0,4};base64,")
_DEEPEST = 6
"""Blocks within blocks are looked into so far."""

_MOST_BLOCKS = 2_000


class FoundPicture(msgspec.Struct, frozen=True):
    """A picture as a file has it: its bytes in base64, or its place alone."""

    base64: str = ""
    media: str = ""
    place: str = ""

    def stored(self, put: Callable[[bytes], str]) -> Picture | None:
        """The picture, its bytes given to `put`, which names them; None where what stands there is no base64."""
        size = len(self.base64) * 3 // 4
        if not self.base64 or size > LARGEST_PICTURE:
            return Picture(media=self.media[:NAME], size=size, place=self.place[:NAME])
        try:
            data = binascii.a2b_base64(self.base64)
        except (binascii.Error, ValueError):
            return None
        return Picture(blob=put(data), media=self.media[:NAME], size=len(data)) if data else None


def pictures_in(content: Any) -> tuple[FoundPicture, ...]:
    """The pictures in a content, at any depth and in order; at most as many as a step keeps."""
    if isinstance(content, str):
        return ()
    found: list[FoundPicture] = []
    _collect(content, 0, found)
    return tuple(found)


def stored(found: tuple[FoundPicture, ...], put: Callable[[bytes], str]) -> tuple[Picture, ...]:
    """The pictures of which there is something to say, their bytes given to `put`."""
    return () if not found else tuple(picture for one in found if (picture := one.stored(put)) is not None)


_HOLDERS = ("content", "output", "parts", "image_urls", "functionResponse", "response")
"""Members in which pictures may lie, in the order in which they are looked at."""

_HOLDING = frozenset(_HOLDERS)
_MANY = (list, dict)

_NAMES = frozenset({"source", "inlineData", "inline_data", "image_url", "image", "data"})
"""Members without one of which a block is no picture."""


def _collect(value: Any, depth: int, found: list[FoundPicture]) -> None:
    if depth > _DEEPEST or len(found) >= MOST_PICTURES:
        return
    if isinstance(value, list):
        for one in value[:_MOST_BLOCKS]:
            _collect(one, depth + 1, found)
    elif isinstance(value, dict):
        if not _NAMES.isdisjoint(value) and (picture := _picture(value)) is not None:
            found.append(picture)
        elif not _HOLDING.isdisjoint(value):
            for key in _HOLDERS:
                if isinstance(held := value.get(key), _MANY):
                    _collect(held, depth + 1, found)
    elif isinstance(value, str) and depth and (one := _of_address(value)).base64:
        found.append(one)


def _picture(block: dict[str, Any]) -> FoundPicture | None:
    """The picture of one block, in the words of Anthropic, OpenAI (both APIs), Gemini, Inspect, ATIF and MCP."""
    source, inline = dict_of(block.get("source")), dict_of(block.get("inlineData", block.get("inline_data")))
    if source and block.get("type") == "image":
        media = text_of(source.get("media_type"))
        place = text_of(source.get("url")) or text_of(source.get("path"))
        return FoundPicture(text_of(source.get("data")), media, place)
    if inline:
        media = text_of(inline.get("mimeType", inline.get("mime_type")))
        return FoundPicture(text_of(inline.get("data")), media) if media.startswith("image/") else None
    if block.get("type") == "image" and isinstance(block.get("data"), str):
        return FoundPicture(block["data"], text_of(block.get("mimeType", block.get("mime_type"))))
    address = block.get("image_url", block.get("image"))
    if block.get("type") in ("image_url", "input_image", "image") and address is not None:
        address = dict_of(address).get("url", address)
        return _of_address(address) if isinstance(address, str) else None
    return None


def _of_address(address: str) -> FoundPicture:
    """A data address's picture; of any other address only the address."""
    found = _DATA.match(address)
    return FoundPicture(address[found.end() :], found["media"]) if found else FoundPicture(place=address)
