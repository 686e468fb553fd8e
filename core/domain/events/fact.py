"""What every fact of a log has in common."""

from __future__ import annotations

import msgspec


class Fact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """What happened. Each subclass is one kind of event."""


class UnknownFact(Fact, frozen=True, kw_only=True, tag="unknown"):
    """A fact of a newer version; `raw` is its JSON as it came. Never encoded."""

    kind: str
    raw: bytes
