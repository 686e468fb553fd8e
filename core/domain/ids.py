"""Identities: made once, by the party that acts, and never reused."""

from __future__ import annotations

import re

import uuid_utils

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")


LONGEST_LABEL = 200
"""Characters of the name or version of a rule or judge."""


def new_id() -> str:
    """A new identity that sorts by the time of its making (UUIDv7, RFC 9562)."""
    return str(uuid_utils.uuid7())


def made_at(id: str) -> float | None:
    """When an identity was made, in seconds since 1970 by its maker's clock; None where it does not say (RFC 9562)."""
    digits = id.replace("-", "")
    if len(id) != 36 or len(digits) != 32 or digits[12] != "7":
        return None
    try:
        return int(digits[:12], 16) / 1000
    except ValueError:
        return None


def is_id(text: str) -> bool:
    """Whether a text may serve as an identity: short, plain ASCII, safe as a file name."""
    return _ID.match(text) is not None and ".." not in text


def is_label(text: str) -> bool:
    """Whether a text may name a rule, a judge or its version: one short line that can be printed."""
    return 0 < len(text) <= LONGEST_LABEL and text.isprintable()
