"""The web search family: one query to the engine that the person configured; none is configured by default.

Environment: TIPHYS_SEARCH_URL (an endpoint that speaks SearxNG's JSON, or Serper's where the host is
google.serper.dev) and TIPHYS_SEARCH_KEY. The runner asks, not the sandbox, which may have no network.
"""

import os
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from core.actions.bench import Bench
from core.actions.declare import Arguments, declared
from core.actions.result import ActionFailed, Result
from core.domain.events import SearchMade, SearchResult

SECONDS = 20.0
ANSWER_LIMIT = 2 << 20


class WebSearch(Arguments, frozen=True, kw_only=True):
    """Search the web."""

    query: Annotated[str, Meta(description="What to search for.", min_length=1, max_length=2000)]
    top_k: Annotated[int, Meta(description="How many results, 1 to 100.", ge=1, le=100)] = 10


class _Hit(msgspec.Struct):
    title: str = ""
    url: str = ""
    link: str = ""
    content: str = ""
    snippet: str = ""


class _Answer(msgspec.Struct):
    results: list[_Hit] = []
    organic: list[_Hit] = []


async def web_search(a: WebSearch, bench: Bench) -> Result:
    """Ask the engine."""
    url = os.environ.get("TIPHYS_SEARCH_URL", "")
    if not url:
        raise ActionFailed("not_configured", "No search engine is configured for this session.", "refused")
    engine = urlsplit(url).hostname or "unknown"
    hits = await _ask(url, engine, os.environ.get("TIPHYS_SEARCH_KEY", ""), a)
    results = tuple(SearchResult(title=h.title[:500], link=(h.url or h.link)[:2000],
                                 snippet=(h.content or h.snippet)[:2000], position=n)
                    for n, h in enumerate(hits[: a.top_k], 1))
    await bench.sink.emit(SearchMade(query=a.query, engine=engine, step=bench.step, results=results))
    text = "\n\n".join(f"{r.position}. {r.title}\n{r.link}\n{r.snippet}" for r in results)
    return Result(text=text or "Nothing was found.",
                  data={"query": a.query, "requested_top_k": a.top_k, "total_results": len(results),
                        "search_results": [msgspec.structs.asdict(r) for r in results]})


async def _ask(url: str, engine: str, key: str, a: WebSearch) -> list[_Hit]:
    import httpx2  # here, as every runner would load it, and few have a search engine

    serper = engine == "google.serper.dev"
    try:
        async with httpx2.AsyncClient(timeout=SECONDS) as client:
            if serper:
                found = await client.post(url, json={"q": a.query, "num": a.top_k}, headers={"X-API-KEY": key})
            else:
                params: dict[str, Any] = {"q": a.query, "format": "json"}
                found = await client.get(url, params=params, headers={"Authorization": f"Bearer {key}"} if key else {})
        found.raise_for_status()
        answer = msgspec.json.decode(found.content[:ANSWER_LIMIT], type=_Answer)
    except httpx2.TimeoutException as error:
        raise ActionFailed("timeout", f"{engine} did not answer within {SECONDS:g} s.", "timeout") from error
    except httpx2.HTTPStatusError as error:
        raise ActionFailed("search_failed", f"{engine} answered with status {error.response.status_code}.") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ActionFailed("search_failed", f"{engine} cannot be reached ({type(error).__name__}).") from error
    except (ValueError, RecursionError) as error:
        raise ActionFailed("search_failed", f"{engine} gave an answer that cannot be read.") from error
    return answer.organic if serper else answer.results


ACTIONS = declared(web_search)
