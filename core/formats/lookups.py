"""What an agent asked a search engine, and the pages that it opened, as its calls tell of them."""

from __future__ import annotations

from collections.abc import Iterator

from core.domain.deed import deed_of
from core.domain.step import StepBody
from core.domain.tools import ToolTable

PAGE = "page"
"""The engine under which a visit to a page is told."""

_MOST = 2_000


def lookups(body: StepBody, tools: ToolTable) -> Iterator[tuple[str, str]]:
    """(query, engine) of each search of a step, (address, PAGE) of each page."""
    for action in body.actions:
        kind = tools.tool(action.tool).kind_of(action.arguments)
        if kind not in ("web_search", "web_page") or action.malformed:
            continue
        if kind == "web_page":
            address = action.arguments.get("url")
            if isinstance(address, str) and address.startswith(("http://", "https://")):
                yield address[:_MOST], PAGE
        elif query := deed_of(action, tools).title[:_MOST]:
            yield query, action.tool[:100]
