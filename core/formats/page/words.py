"""The words on a page; the window gives them in its language."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

REASONS = {
    "stopped_by_person": "by a person", "paused_by_person": "by a person", "end_not_recorded": "its file tells no end",
    "file_grows": "its file is being written", "runner_died": "its runner died",
    "agent_died": "the agent's program ended", "caller_ended": "the session that called it ended",
    "limit_steps": "its steps are used up", "limit_wall": "its time is used up",
    "limit_tokens": "its tokens are used up", "limit_cost": "its money is used up",
    "limit_evaluations": "its evaluations are used up", "endpoint": "the model does not answer",
    "guidance": "for advice", "host": "for a host that is away", "waits_for_host": "for a free host",
    "asks_for_leave": "it asks for leave"}
"""Why a session is in its state, by the codes that are ours."""


class PageWords(msgspec.Struct, frozen=True, kw_only=True):
    """Every word of ours on a page. Names in braces are put in."""

    language: str = "en"
    task: str = "Task"
    outline: str = "Outline"
    steps: str = "Cited steps"
    remarks: str = "Remarks on the session"
    step: str = "Step {n}"
    thought: str = "Thought"
    answer: str = "Answer"
    output: str = "Output"
    failed: str = "failed"
    model: str = "model"
    state: str = "state"
    states: Mapping[str, str] = msgspec.field(default_factory=lambda: REASONS)
    """The words for states and their reasons; what is not among them stands as it is."""
    because: str = "{state}: {reason}"
    began: str = "began"
    count: str = "steps"
    errors: str = "errors"
    score: str = "score"
    cost: str = "cost"
    guidance: str = "guidance"
    person: str = "person's turn"
    user: str = "user"
    submission: str = "handed in"
    summary: str = "summary of steps {first} to {last}"
    cut: str = "{shown} of {total} characters are shown."
    nothing: str = "No step was cited."
    gone: str = "on words that the step has no more: “{words}”"
    whole: str = "{cited} of the session's {n} steps"
    keep: str = "keep"
    mask: str = "mask"
    unsure: str = "unsure"
    none: str = "none"
