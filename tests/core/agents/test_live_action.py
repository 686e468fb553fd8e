"""What an agent does now is texts as live text while it lasts, again and again, and taken back at the end."""

from __future__ import annotations

import asyncio

import pytest

from core.agents import live_action
from core.agents.live_action import telling
from core.domain.errors import InvalidInput
from core.domain.running import TITLE, RunningAction, decode_running
from core.domain.step import Action


def test_an_action_is_told_until_it_is_over(monkeypatch):
    monkeypatch.setattr(live_action, "EVERY_S", 0.01)
    texts: list[str] = []
    action = Action(call_id="c1", tool="run_command", arguments={"command": "make " + "x" * 2 * TITLE})

    async def carry_out() -> None:
        async with telling(texts.append, 7, action):
            while len(texts) < 3:
                await asyncio.sleep(0.005)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(carry_out())
    assert texts[-1] == "" and decode_running(texts[-1]) is None
    first, later = decode_running(texts[0]), decode_running(texts[-2])
    assert first == RunningAction(7, "run_command", first.title) and first.title.startswith("make x")
    assert len(first.title) == TITLE and later.seconds >= first.seconds


def test_what_is_no_running_action_is_refused():
    with pytest.raises(InvalidInput, match="running action"):
        decode_running('{"step": -1, "tool": "x"}')
