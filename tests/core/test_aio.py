"""TaskScope: errors are told at once, nothing outlives its owner."""

import asyncio
import logging

import pytest

from core.aio import TaskScope
from core.domain.errors import NotFound


async def _fail(message="broken"):
    raise ValueError(message)


def test_a_failure_is_logged_and_told_at_once_and_the_others_go_on(caplog):
    told = []

    async def main():
        async with TaskScope("test", on_error=told.append) as scope:
            other = scope.spawn(asyncio.sleep(0.01, "went on"), name="other")
            failing = scope.spawn(_fail(), name="failing")
            await asyncio.wait([failing])
            await asyncio.sleep(0)
            assert [str(e) for e in told] == ["broken"]
            assert await other == "went on"

    with caplog.at_level(logging.ERROR):
        asyncio.run(main())
    assert "test: failing failed: broken" in caplog.text


def test_a_tasks_own_handler_is_told_instead_of_the_scopes():
    mine, theirs = [], []

    async def main():
        async with TaskScope("test", on_error=theirs.append) as scope:
            await asyncio.wait([scope.spawn(_fail(), name="failing", on_error=mine.append)])

    asyncio.run(main())
    assert len(mine) == 1 and not theirs


@pytest.mark.parametrize(("heard", "level"), [(True, "WARNING"), (False, "ERROR")])
def test_what_a_person_is_told_in_a_sentence_has_no_traceback_in_the_log(caplog, heard, level):
    async def scenario():
        async def refuse():
            raise NotFound("no_session", "There is no such session.")

        async with TaskScope("test", (lambda _: None) if heard else None) as scope:
            scope.spawn(refuse(), name="refused")
            await asyncio.sleep(0.01)

    with caplog.at_level(logging.WARNING, logger="session"):
        asyncio.run(scenario())
    (line,) = caplog.records
    assert line.levelname == level and bool(line.exc_info) != heard and "no such session" in line.getMessage()


def test_a_broken_handler_is_logged(caplog):
    def handler(error):
        raise RuntimeError("handler broken")

    async def main():
        async with TaskScope("test", on_error=handler) as scope:
            await asyncio.wait([scope.spawn(_fail(), name="failing")])

    with caplog.at_level(logging.ERROR):
        asyncio.run(main())
    assert "failing failed: broken" in caplog.text and "handler broken" in caplog.text


def test_closing_cancels_and_waits_for_clean_up():
    done = []

    async def tidy():
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            done.append("tidied")

    async def main():
        async with TaskScope("test") as scope:
            scope.spawn(tidy(), name="tidy")
            await asyncio.sleep(0)
            assert scope.names == ["test: tidy"]
        assert done == ["tidied"]
        assert scope.names == []

    asyncio.run(main())


def test_what_a_dying_task_starts_is_refused_and_a_task_may_close_its_scope():
    async def main():
        scope = TaskScope("test")

        async def last():
            await scope.close()
            with pytest.raises(RuntimeError, match="is closed"):
                scope.spawn(asyncio.sleep(0), name="late")
            return "closed from within"

        other = scope.spawn(asyncio.Event().wait(), name="other")
        assert await scope.spawn(last(), name="last") == "closed from within"
        assert other.cancelled()

    asyncio.run(main())
