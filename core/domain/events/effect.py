"""Facts about what actions did and found: on the hosts' terminals and files, and in the web."""

from __future__ import annotations

from typing import Annotated

import msgspec

from core.domain.blob import BlobRef
from core.domain.bounds import Address, Bytes, Cells, Count, Many, Name, StepPlace, Text, Total
from core.domain.events.fact import Fact


class TerminalOutput(Fact, frozen=True, kw_only=True, tag="terminal_output"):
    """`size` bytes at `offset` of one terminal's stream: inline in `data` when small, else in blob `blob`.

    The first output tells how many `columns` and `rows` the terminal has, where that is known.
    """

    host: Name
    terminal: Name
    offset: Total
    size: Count
    data: Bytes = b""
    blob: BlobRef = ""
    columns: Cells = 0
    rows: Cells = 0


class FileChanged(Fact, frozen=True, kw_only=True, tag="file_changed"):
    """A file's content before and after, as blob hashes; empty for absent, `too_large` where it was not kept.

    `is_partial`: both are the changed part of the file alone, for the source tells no more.
    """

    host: Name
    path: Address
    before: BlobRef = ""
    after: BlobRef = ""
    size: Total = 0
    step: StepPlace = 0
    too_large: bool = False
    is_partial: bool = False


class SearchResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One result of a search, as the engine gave it."""

    title: Text
    link: Text
    snippet: Text = ""
    position: Count = 0


class SearchMade(Fact, frozen=True, kw_only=True, tag="search_made"):
    """The agent searched, or visited a page (`engine` is then "page" and `query` its address)."""

    query: Text
    engine: Name
    step: StepPlace
    results: Annotated[tuple[SearchResult, ...], Many] = ()
