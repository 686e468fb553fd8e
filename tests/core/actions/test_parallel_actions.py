"""Actions of one answer that change nothing are carried out together; waiting for one of several jobs."""

from __future__ import annotations

import asyncio

from support.sandboxes import Acting, Box, acting

from core.agents.loop import in_groups
from core.domain.action_kinds import ACTION_KINDS
from core.domain.step import Action


def grouped(*tools: str) -> list[list[str]]:
    actions = [Action(call_id=f"c{n}", tool=tool, family="other") for n, tool in enumerate(tools)]
    return [[one.tool for one in group] for group in in_groups(actions)]


def test_what_only_looks_is_grouped_and_what_changes_stands_alone() -> None:
    assert grouped("sleep", "list_files", "run_command", "run_command", "list_sessions", "sleep") == [
        ["sleep", "list_files"], ["run_command"], ["run_command"], ["list_sessions", "sleep"]]
    assert grouped("open_file", "file_scroll_down", "web_page_scroll_down", "web_page_scroll_down", "no_such") == [
        ["open_file"], ["file_scroll_down"], ["web_page_scroll_down"], ["web_page_scroll_down"], ["no_such"]]
    assert all(kind.effect in ("looks", "waits") for kind in ACTION_KINDS.values() if kind.is_parallel)


def test_two_waits_together_take_as_long_as_one(place: Box) -> None:
    async def work(at: Acting) -> None:
        began = asyncio.get_running_loop().time()
        first, second, listing = await asyncio.gather(
            at.do("sleep", sleep_time=1.5), at.do("sleep", sleep_time=1.5), at.do("list_files"))
        assert asyncio.get_running_loop().time() - began < 2.9
        assert first.data["reason"] == second.data["reason"] == "time" and listing.status == "finished"

    acting(place, work)


def test_a_sleep_is_ended_by_the_first_of_the_jobs_that_it_names(place: Box) -> None:
    async def work(at: Acting) -> None:
        jobs = {}
        for name, seconds in (("slow", 60), ("other", 1), ("third", 3)):
            seen = await at.do("run_command", command=f"sleep {seconds}", session_id=name, wait_for_completion=False)
            jobs[name] = seen.job
        seen = await at.do("sleep", sleep_time=50, jobs=[jobs["slow"], jobs["third"]])
        assert seen.data["reason"] == "job" and seen.data["slept_s"] > 1.2, "the other one's end is not waited for"
        seen = await at.do("sleep", sleep_time=50, jobs=["s9-nothing"])
        assert seen.error is not None and seen.error.kind == "not_found"

    acting(place, work)
