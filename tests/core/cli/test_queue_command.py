"""`tiphys queue` from a filter to done, in one home and through a running server."""

from __future__ import annotations

import asyncio

from support.wire import serving


def test_a_queue_is_made_from_a_filter_taken_judged_and_done(tiphys, imported) -> None:
    made = tiphys("queue", "make", "First look", "--filter", "is:undecided with_query", "--twice", 100, "--json").one
    assert made["sessions"] == 1
    line = tiphys("queue", "list", "--json").one
    assert (line["name"], line["asked"], line["judged"], line["filter"]) == (
        "First look", 4, 0, "is:undecided with_query")
    assert tiphys("queue", "take", "First look", "--json").one == {"taken": imported}
    assert tiphys("queue", "take", "First look", "--json").status == 1, "nothing is left for the same person"
    for step in (1, 2):
        tiphys("verdict", imported, step, "mask" if step == 2 else "keep")
    shown = tiphys("queue", "show", made["queue"], "--json").one
    (item,) = shown["items"]
    (person,) = item["people"]
    assert (person["judged"], person["masked"], person["done"]) == (2, 1, "judged") and not item["done"], "one of two"
    assert (shown["judged"], shown["asked"], shown["done"]) == (2, 4, 0)
    tiphys("verdict", imported, 1, "none")
    assert tiphys("queue", "show", "First look", "--json").one["items"][0]["people"][0]["done"] == ""
    tiphys("queue", "done", "First look", imported)
    assert tiphys("queue", "show", "First look", "--json").one["items"][0]["people"][0]["done"] == "person"
    tiphys("queue", "give-back", "First look", imported)
    assert tiphys("queue", "show", "First look", "--json").one["items"][0]["people"] == []
    assert tiphys("queue", "change", "First look", "--name", "Second", "--close").status == 0
    assert tiphys("queue", "list", "--json").one["closed"] is True
    assert "First look" not in tiphys("queue", "list").out


def test_a_queue_that_asks_for_errors_answers_and_reports(tiphys, imported) -> None:
    assert tiphys("queue", "make", "Claims", imported, "--steps", "reports").status == 0
    line = tiphys("queue", "list", "--json").one
    assert (line["asks"], line["asked"]) == ("reports", 1), "of its two steps it hands in by the second"
    assert "asks for errors, answers and reports" in tiphys("queue", "show", "Claims").out
    assert tiphys("queue", "make", "Errors", imported, "--steps", "errors").status == 0
    tiphys("queue", "take", "Errors")
    (item,) = tiphys("queue", "show", "Errors", "--json").one["items"]
    assert item["asked"] == 0 and item["people"][0]["done"] == "judged", "nothing is asked of it, so nothing is left"


def test_what_is_wrong_is_named(tiphys, imported) -> None:
    assert "usage" in tiphys("queue", "make", "Q").err
    assert "usage" in tiphys("queue", "make", "Q", imported, "--steps", "most").err
    assert "empty_queue" in tiphys("queue", "make", "Q", "--filter", "state:running").err
    assert "no_queue" in tiphys("queue", "show", "Q").err
    for _ in range(2):
        assert tiphys("queue", "make", "Q", imported, "--steps", "1").status == 0
    assert "queue_ambiguous" in tiphys("queue", "take", "Q").err


def test_a_running_server_carries_it_out(tiphys, imported, home) -> None:
    async def scenario() -> None:
        async with serving(home):
            made = await asyncio.to_thread(tiphys, "queue", "make", "Q", imported, "--steps", "errors", "--json")
            assert made.status == 0, made.err
            taken = await asyncio.to_thread(tiphys, "queue", "take", "Q", "--json")
            assert taken.one == {"taken": imported}

    asyncio.run(scenario())
