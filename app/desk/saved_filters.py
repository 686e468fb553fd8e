"""Filters with names, as they stand in the settings file: one `name = query` per line; and what one does not mean. No
Qt but for words."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.kit.i18n import translate
from app.kit.safe_text import one_line
from core.domain.session_query import SessionQuery

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
    others = [f for f in filters if f.name != fresh.name]
    return [*others, fresh]


def usual_filters() -> list[SavedFilter]:
    """What is offered while the reader has saved none."""
    return [SavedFilter(translate("Sessions", "Needs you"), "is:attention"),
            SavedFilter(translate("Sessions", "New"), "is:new"),
            SavedFilter(translate("Sessions", "Running"), "state:running")]


def _clean(text: str) -> str:
    return " ".join(text.replace(" = ", " ").split())
