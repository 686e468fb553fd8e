"""The words on a page; the window gives them in its language."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


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
    states: Mapping[str, str] = {}
    """The words for states and their reasons; what is not among them stands as it is."""
    began: str = "began"
    count: str = "steps"
    errors: str = "errors"
    score: str = "score"
    cost: str = "cost"
    guidance: str = "guidance"
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
