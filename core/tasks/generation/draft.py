"""What the four phases make of a task. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec


class Idea(msgspec.Struct, frozen=True, kw_only=True):
    """The first phase: what is asked, and the truth, a bash script that does it in the workspace.

    `folder` is the folder of the workspace in which everything lies, and which is handed in as a whole.
    """

    title: str
    description: str
    truth: str
    folder: str
    category: str = ""
    difficulty: str = ""


class Image(msgspec.Struct, frozen=True, kw_only=True):
    """The third phase: the files of the folder, by their path in it; `setup` is a bash script that makes them there."""

    files: Mapping[str, bytes] = {}
    setup: str = ""


class FinalTests(msgspec.Struct, frozen=True, kw_only=True):
    """The fourth phase: the tests of the end, and bash scripts by name that try to pass them without the work."""

    tests: str
    cheats: Mapping[str, str] = {}


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A task that is being made; what its author has not given yet is empty."""

    id: str
    idea: Idea
    initial: str = ""
    image: Image = Image()
    final: FinalTests = FinalTests(tests="")


class TaskAuthor(Protocol):
    """Who writes drafts. `mend` is what a gate said of the answer before, "" at first; the answer replaces that one.

    Each raises InvalidInput (bad_draft) for an answer that cannot be read, and what an endpoint raises.
    """

    async def describe(self, number: int, mend: str) -> Idea:
        """Description and truth of the draft of that number."""

    async def initial_tests(self, idea: Idea, mend: str) -> str:
        """Python: functions `test_…` that assert what must be there before anybody begins."""

    async def image(self, idea: Idea, initial: str, mend: str) -> Image:
        """What lies in the folder when an agent begins."""

    async def final_tests(self, idea: Idea, initial: str, image: Image, mend: str) -> FinalTests:
        """Python: functions `test_…` that assert what must be there in the end."""
