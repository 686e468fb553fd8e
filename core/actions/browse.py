"""The web browse family: one page open at a time, read through a window of 100 lines.

The runner fetches, so this is off unless TIPHYS_BROWSE=on, and addresses of this machine and of private
networks are refused, after each redirection too: an agent must not reach through us what it may not reach.
"""

import asyncio
import ipaddress
import os
import socket
from typing import Annotated
from urllib.parse import urljoin, urlsplit

from msgspec import Meta

from core.actions.bench import Bench, Page
from core.actions.declare import Arguments, Line, declared
from core.actions.page import read_page
from core.actions.result import ActionFailed, Result
from core.domain.events import SearchMade

WINDOW = 100
SECONDS = 30.0
PAGE_LIMIT = 8 << 20
REDIRECTIONS = 5
Around = Annotated[int, Meta(description="How many lines to show around the match.", ge=0, le=50)]


class WebBrowse(Arguments, frozen=True, kw_only=True):
    """Open a web page and show up to 100 lines of its text."""

    url: Annotated[str, Meta(description="The address, http or https.", min_length=1, max_length=4000)]
    line_number: Annotated[int, Meta(description="The first line to show.", ge=1)] = 1


class WebPageGotoLine(Arguments, frozen=True, kw_only=True):
    """Show the open page from a line on."""

    line_number: Line = 1


class WebPageScrollDown(Arguments, frozen=True, kw_only=True):
    """Show the next 100 lines of the open page."""


class WebPageScrollUp(Arguments, frozen=True, kw_only=True):
    """Show the 100 lines before, of the open page."""


class WebPageSearch(Arguments, frozen=True, kw_only=True):
    """Search a text in the open page, whatever its case, and show the first match."""

    keyword: Annotated[str, Meta(description="The text.", min_length=1)]
    context_lines: Around = 5


class WebPageSearchNext(Arguments, frozen=True, kw_only=True):
    """Show the next match of the last search, or the one of an index."""

    context_lines: Around = 5
    search_index: Annotated[int | None, Meta(description="Which match, counted from 0.")] = None


class WebPageGetLinks(Arguments, frozen=True, kw_only=True):
    """List the links of the open page."""

    page_size: Annotated[int, Meta(description="How many links at a time.", ge=1, le=200)] = 10
    page_number: Annotated[int, Meta(description="Which part of the list, from 1.", ge=1)] = 1


async def web_browse(a: WebBrowse, bench: Bench) -> Result:
    """Fetch a page."""
    if os.environ.get("TIPHYS_BROWSE") != "on":
        raise ActionFailed("not_configured", "Browsing the web is not allowed for this session.", "refused")
    import httpx2  # here, as every runner would load it, and few are allowed to browse

    try:
        async with asyncio.timeout(SECONDS):
            url, html = await _fetch(a.url)
    except TimeoutError as error:
        raise ActionFailed("timeout", f"{a.url} did not answer within {SECONDS:g} s.", "timeout") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise ActionFailed("browse_failed", f"{a.url} cannot be fetched ({type(error).__name__}).") from error
    lines, links = read_page(html, url)
    bench.page = Page(url=url, lines=lines, links=links)
    await bench.sink.emit(SearchMade(query=url, engine="page", step=bench.step))
    return _show(bench, a.line_number)


async def _fetch(url: str) -> tuple[str, str]:
    """The page behind an address and its final address."""
    import httpx2

    async with httpx2.AsyncClient(timeout=SECONDS, follow_redirects=False, trust_env=False) as client:
        for _ in range(REDIRECTIONS + 1):
            await _must_be_public(url)
            async with client.stream("GET", url, headers={"User-Agent": "Tiphys"}) as answer:
                if answer.is_redirect:
                    url = urljoin(url, answer.headers.get("location", ""))
                    continue
                answer.raise_for_status()
                kind = answer.headers.get("content-type", "")
                if kind and not kind.startswith(("text/", "application/xhtml", "application/json")):
                    raise ActionFailed("not_text", f"{url} is {kind.partition(';')[0]}, not a page of text.")
                data = bytearray()
                async for piece in answer.aiter_bytes():
                    data += piece[: PAGE_LIMIT - len(data)]
                    if len(data) >= PAGE_LIMIT:
                        break
                return url, data.decode(answer.encoding or "utf-8", "replace")
    raise ActionFailed("browse_failed", f"{url} redirects too often.")


async def _must_be_public(url: str) -> None:
    """Refuse addresses of this machine and of private networks. Raises ActionFailed."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ActionFailed("bad_url", f"{url} is not an http or https address.", "refused")
    if parts.hostname in os.environ.get("TIPHYS_BROWSE_ALSO", "").split(","):
        return
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(parts.hostname, parts.port or 443, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ActionFailed("browse_failed", f"{parts.hostname} has no address.") from error
    if not all(ipaddress.ip_address(str(f[4][0]).partition("%")[0]).is_global for f in found):
        raise ActionFailed("not_public", f"{parts.hostname} is not a public address.", "refused")


async def web_page_goto_line(a: WebPageGotoLine, bench: Bench) -> Result:
    """Go to a line."""
    return _show(bench, a.line_number)


async def web_page_scroll_down(a: WebPageScrollDown, bench: Bench) -> Result:
    """Go on."""
    return _show(bench, bench.page.line + WINDOW)


async def web_page_scroll_up(a: WebPageScrollUp, bench: Bench) -> Result:
    """Go back."""
    return _show(bench, bench.page.line - WINDOW)


async def web_page_search(a: WebPageSearch, bench: Bench) -> Result:
    """Find the first match."""
    page = _page(bench)
    word = a.keyword.lower()
    page.matches = [n for n, line in enumerate(page.lines, 1) if word in line.lower()]
    page.match = 0 if page.matches else -1
    return _match(page, a.context_lines)


async def web_page_search_next(a: WebPageSearchNext, bench: Bench) -> Result:
    """Find the next match."""
    page = _page(bench)
    if page.matches:
        page.match = (page.match + 1 if a.search_index is None else a.search_index) % len(page.matches)
    return _match(page, a.context_lines)


async def web_page_get_links(a: WebPageGetLinks, bench: Bench) -> Result:
    """List links."""
    page = _page(bench)
    pages = max(1, -(-len(page.links) // a.page_size))
    start = (min(a.page_number, pages) - 1) * a.page_size
    shown = [{"index": n, "text": text, "href": href, "line_number": line}
             for n, (text, href, line) in enumerate(page.links[start : start + a.page_size], start)]
    text = "\n".join(f"{s['index']}. {s['text']} <{s['href']}> (line {s['line_number']})" for s in shown)
    return Result(text=text or "The page has no links.",
                  data={"links": shown, "page_number": min(a.page_number, pages), "total_pages": pages,
                        "page_size": a.page_size, "total_links": len(page.links)})


def _page(bench: Bench) -> Page:
    if not bench.page.url:
        raise ActionFailed("no_page_open", "No page is open; use web_browse.", "refused")
    return bench.page


def _show(bench: Bench, line: int) -> Result:
    page = _page(bench)
    page.line = min(max(1, line), max(1, len(page.lines)))
    shown = page.lines[page.line - 1 : page.line - 1 + WINDOW]
    header = f"[Page: {page.url} ({len(page.lines)} lines total)]"
    text = "\n".join([header, *(f"{n}|{text}" for n, text in enumerate(shown, page.line))])
    return Result(text=text, data={"start_line": page.line, "end_line": page.line - 1 + len(shown), "header": header})


def _match(page: Page, around: int) -> Result:
    if not page.matches:
        return Result(text="There is no match.", data={"search_matches": [], "current_match": None})
    line = page.line = page.matches[page.match]
    first = max(1, line - around)
    shown = page.lines[first - 1 : line + around]
    text = "\n".join([f"Match {page.match} of {len(page.matches)}, line {line}:",
                      *(f"{n}|{t}" for n, t in enumerate(shown, first))])
    return Result(text=text, data={"search_matches": page.matches[:200], "current_match": page.match,
                                   "current_line": line})


ACTIONS = declared(web_browse, web_page_goto_line, web_page_scroll_down, web_page_scroll_up, web_page_search,
                   web_page_search_next, web_page_get_links)
