"""Pictures that a step saw: where their bytes are, and what their source says of them. Nobody decodes them here."""

import msgspec

from core.domain.blob import BlobRef
from core.domain.bounds import Name, Total

LARGEST_PICTURE = 8 * 1024 * 1024
"""Bytes of a picture that is stored; of a larger one only its size is."""

MOST_PICTURES = 32
"""Pictures of one step that are stored."""


class Picture(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One picture. `blob` is "" where the source names only a `place` (a path or an address, which is never loaded), or
    where the picture is larger than is stored; `size` in bytes, 0 where it is not known."""

    blob: BlobRef = ""
    media: Name = ""
    size: Total = 0
    place: Name = ""
