"""A session's name in the window: its id on this computer's own server, `ID@SERVER` on another one.

Two servers may hold a session of the same id (the same file imported twice); server and id together are one session.
"""

from __future__ import annotations

import hashlib

_AT = "@"
"""No id may hold it (`core.domain.ids`)."""

OWN = ""
"""The name of this computer's own server."""


def server_of_url(url: str) -> str:
    """The lasting short name of a server, made from its address."""
    return hashlib.blake2b(url.encode(), digest_size=8).hexdigest()


def key_of(session: str, server: str) -> str:
    """The name in the window of a session of a server."""
    return f"{session}{_AT}{server}" if session and server != OWN else session


def is_local(session: str) -> bool:
    """Whether a session is on this computer's own server."""
    return server_of(session) == OWN


def id_of(key: str) -> str:
    """The id that the session's server knows."""
    return key.partition(_AT)[0]


def server_of(key: str) -> str:
    """The short name of the session's server."""
    return key.partition(_AT)[2]
