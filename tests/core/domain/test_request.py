"""A session is named by what was asked, not by what a benchmark or a program wrote around it; times are true ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.domain.request import headline
from core.domain.session import SessionRow


@pytest.mark.parametrize(("text", "asked"), [
    ("You are an AI assistant tasked with solving command-line tasks in a Linux environment.\nFormat: JSON\n\n"
     "Task Description:\nCreate hello.txt.\n\nCurrent terminal state:\n$", "Create hello.txt."),
    ("We're currently solving the following issue within our repository. Here's the issue text:\nISSUE:\n"
     "TimeDelta rounds\nwrongly\n\nINSTRUCTIONS:\nNow, you're going to solve it.", "TimeDelta rounds\nwrongly"),
    ("Please fix the following issue for the repository in /workspace.\nReady.\n\n# Problem Statement\nAdd a toggle.",
     "Add a toggle."),
    ("\n<task_description>\n## Motivation\n\nData\n</task_description>\n<remaining_working_time>4</x>",
     "Data"),
    ("<task_description>\n## Motivation\nA long text that is cut", "A long text that is cut"),
    ("Implement the following plan:\n\n# Plan: Mend the parser\n\n## Summary", "Mend the parser\n\n## Summary"),
    ("Implement the following plan: mine", "Implement the following plan: mine"),
    ("# Fix the parser\nIt fails.", "# Fix the parser\nIt fails."),
    ("Explain ISSUE: 4 to me.", "Explain ISSUE: 4 to me."),
])
def test_what_was_asked_is_found_in_the_prompt_of_a_benchmark(text, asked):
    assert headline(text) == asked


def test_no_time_is_made_up_for_a_run_whose_file_has_none():
    read, began = datetime(2026, 1, 2, tzinfo=UTC), datetime(2025, 1, 2, tzinfo=UTC)
    row = SessionRow(session="s", origin="swe-agent", created_at=read)
    assert (row.started_at, row.worked_s) == (None, None)
    assert SessionRow(session="s", created_at=read).started_at == read, "a live session begins when it is made"
    known = SessionRow(session="s", origin="inspect", created_at=read, began_at=began, ended_at=began)
    assert (known.started_at, known.worked_s) == (began, None), "one time alone is no duration"
    took = SessionRow(session="s", origin="inspect", began_at=began, ended_at=began + timedelta(seconds=9))
    assert took.worked_s == 9.0
