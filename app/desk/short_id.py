"""The end of a session's id: what tells sessions of one name apart where there is little room."""

from __future__ import annotations

LONGEST, END = 12, 8
"""Characters of an id that stands there whole, and those that are left of a longer one."""


def short_id(session: str) -> str:
    """The id without its server, cut in front where it is long: such ids are digits of a hash."""
    own = session.partition("@")[0]
    return own if len(own) <= LONGEST else own[-END:]
