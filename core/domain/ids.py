"""Identities: made once, by the party that acts, and never reused."""

import re
import uuid
from datetime import UTC, datetime

import uuid_utils

_SUBAGENT = ".sub."

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")

LONGEST_LABEL = 200
"""Characters of the name or version of a rule or judge."""


def new_id() -> str:
    """A new identity that sorts by the time of its making (UUIDv7, RFC 9562)."""
    return str(uuid_utils.uuid7())


def made_at(id: str) -> datetime | None:
    """When `new_id` made an identity, by the clock of its maker; None for one of another making."""
    try:
        made = uuid.UUID(id)
    except ValueError:
        return None
    return datetime.fromtimestamp((made.int >> 80) / 1000, UTC) if made.version == 7 else None


def subagent_id(session: str, number: int) -> str:
    """The identity of the n-th subagent that a session's agent called: whoever may write that session may make it."""
    return f"{root_session(session)}{_SUBAGENT}{number}"


def root_session(session: str) -> str:
    """The session whose runner writes this one: itself, or that of the agent whose subagent it is."""
    return session.partition(_SUBAGENT)[0]


def is_id(text: str) -> bool:
    """Whether a text may serve as an identity: short, plain ASCII, safe as a file name."""
    return _ID.match(text) is not None and ".." not in text


def is_label(text: str) -> bool:
    """Whether a text may name a rule, a judge or its version: one short line that can be printed."""
    return 0 < len(text) <= LONGEST_LABEL and text.isprintable()
