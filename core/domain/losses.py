"""What is lost with a session that is deleted: told beforehand, on this computer and over the wire."""

from typing import Annotated

import msgspec

from core.domain.bounds import Count, Many, Name, Sequence, StepPlace, Title, Total


class Losses(msgspec.Struct, frozen=True, kw_only=True):
    """`head` is the newest event; who deletes names it, so that nothing goes that nobody was told of.

    `opinions` counts the verdicts, notes and tags of people, `people` names these; `guidance` the texts that were sent
    to the agent; `bytes` what events and payloads take at rest (of payloads that other sessions name too, nothing is
    freed); `hosts` the sandboxes that go with their files.
    """

    session: Name
    title: Title = ""
    head: Sequence = 0
    steps: StepPlace = 0
    opinions: Count = 0
    people: Annotated[tuple[Name, ...], Many] = ()
    guidance: Count = 0
    bytes: Total = 0
    hosts: Count = 0
    is_deleted: bool = False
