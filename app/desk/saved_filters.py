"""Filters with names, as the settings hold them: one `name = query` per line; what one does not mean; and sessions as
filters see them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from app.desk.session_key import server_of
from app.desk.workplace import Workplace
from app.kit.i18n import translate
from app.kit.safe_text import one_line
from core.domain.session import SessionRow
from core.domain.session_query import Candidate, SessionQuery

MAX_NAME = 40


class SavedFilter(msgspec.Struct, frozen=True):
    """A query under a name."""

    name: str
    query: str


def not_understood(query: SessionQuery) -> str:
    """Says which term of a filter is none, though it looks like one; "" where all are."""
    words = translate("Filters", "“{term}” is no term of a filter, so it is looked for as a word.")
    return words.format(term=one_line(query.not_understood[0], 40)) if query.not_understood else ""


def read_filters(text: str) -> list[SavedFilter]:
    """The filters of a setting; a line without "=" or name is passed over. The last of one name counts."""
    found: dict[str, SavedFilter] = {}
    for line in text.splitlines():
        name, sign, query = line.partition(" = ")
        if sign and name.strip() and query.strip():
            found[name.strip()[:MAX_NAME]] = SavedFilter(name.strip()[:MAX_NAME], query.strip())
    return list(found.values())


def write_filters(filters: Sequence[SavedFilter]) -> str:
    """The setting that `read_filters` reads."""
    return "\n".join(f"{_clean(f.name)} = {_clean(f.query)}" for f in filters)


def with_filter(filters: Sequence[SavedFilter], fresh: SavedFilter) -> list[SavedFilter]:
    """The filters with one more, or with another query under its name."""
    return [*(f for f in filters if f.name != fresh.name), fresh]


def usual_filters() -> list[SavedFilter]:
    """What is offered while the reader has saved none."""
    return [SavedFilter(translate("Sessions", "Needs you"), "is:attention"),
            SavedFilter(translate("Sessions", "New"), "is:new"),
            SavedFilter(translate("Sessions", "Running"), "state:running")]


def _clean(text: str) -> str:
    return " ".join(text.replace(" = ", " ").split())


def candidate_of(place: Workplace, row: SessionRow) -> Candidate:
    """A session with its server's name, what is new of it, and (asked for only where a term is about it) its review."""
    before = place.watermarks.steps(row.session)
    server = place.servers.name_of(server_of(row.session)) if len(place.desks.all) > 1 else ""
    fresh = max(0, row.steps - before) if before is not None else 0
    return Candidate(row, server, fresh, partial(place.queues.review, row))
