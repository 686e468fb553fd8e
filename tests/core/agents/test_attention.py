"""What is raised and when not: nothing stalls that does not run, and long evidence is cut."""

from __future__ import annotations

import pytest

from core.agents.attention import after_step, stalled
from core.agents.progress import AgentProgress
from core.domain.attention import Thresholds
from core.domain.step import StepHead
from core.domain.task import Limits

HOUR = Thresholds(stall_min=60)


@pytest.mark.parametrize(("state", "seconds", "raised"), [
    ("running", 3_600, True), ("running", 3_599, False), ("paused", 1e6, False), ("waiting", 1e6, False),
    ("finished", 1e6, False)])
def test_only_what_runs_can_stall(state, seconds, raised):
    progress, facts = stalled(AgentProgress(state=state, steps=7), seconds, HOUR)
    assert [(f.kind, f.step) for f in facts] == ([("stall", 7)] if raised else [])
    assert stalled(progress, seconds, HOUR)[1] == [], "once"
    assert stalled(AgentProgress(state=state), 1e9, Thresholds(stall_min=0))[1] == [], "0 means never"


def test_evidence_travels_in_an_event_and_is_cut():
    head = StepHead(number=3, title="x" * 5_000, is_error=True)
    _, facts = after_step(AgentProgress(state="running", errors_in_a_row=3), head, Limits())
    assert [(f.kind, len(f.evidence)) for f in facts] == [("error_burst", 300)]
