"""The gates that a draft must pass: what is wrong with it, by the name of the gate, or nothing."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import msgspec

from core.domain.errors import InvalidInput
from core.tasks.catalogue import Catalogue
from core.tasks.generation.bench import BenchProver, DraftBench
from core.tasks.generation.draft import Draft, Idea
from core.tasks.generation.folders import write_harbor, write_own
from core.tasks.generation.likeness import Signature, resemblance, signature
from core.tasks.readers.harbor import read_harbor

ALIKE = 0.5
"""The resemblance from which on two descriptions are the same task."""

SPOKEN = 12
"""How long a line of the truth must be to give the solution away where the description holds it."""


class GateRefusal(msgspec.Struct, frozen=True):
    """The gate that a draft did not pass, and why."""

    gate: str
    reason: str


class Originality:
    """Remembers the descriptions of all drafts that were let in."""

    def __init__(self) -> None:
        self._seen: dict[str, Signature] = {}

    def nearest(self, idea: Idea) -> tuple[str, float]:
        """The id of the most similar one, and how similar it is; "" and 0 where there is none."""
        own = signature(idea.description)
        alike = {name: resemblance(own, other) for name, other in self._seen.items()}
        name = max(alike, key=lambda one: alike[one], default="")
        return name, alike.get(name, 0.0)

    def admit(self, name: str, idea: Idea) -> GateRefusal | None:
        """Remember a description, or say whose near-duplicate it is."""
        other, share = self.nearest(idea)
        if share >= ALIKE:
            return GateRefusal("near-duplicate", f"{share:.0%} of its runs of words are those of {other}")
        self._seen[name] = signature(idea.description)
        return None


def gives_away(idea: Idea) -> GateRefusal | None:
    """Whether the description says the truth: one of its longer command lines word by word."""
    text = " ".join(idea.description.split())
    lines = [" ".join(line.split()) for line in idea.truth.splitlines() if not re.match(r"\s*(#|cd |set )", line)]
    found = next((line for line in lines if len(line) >= SPOKEN and line in text), "")
    reason = f"the description holds the solution's line {found[:80]!r}"
    return GateRefusal("truth is hidden", reason) if found else None


async def prove_draft(draft: Draft, bench: DraftBench, base: str) -> GateRefusal | None:
    """The gates of the whole task, in containers; the first that it does not pass.

    Raises Unavailable where the engine does not answer.
    """
    with tempfile.TemporaryDirectory(prefix="draft-", dir=bench.folder) as place:
        own, harbor = Path(place, "own"), Path(place, "harbor", draft.id)
        try:
            write_own(draft, own / draft.id)
            write_harbor(draft, harbor, base)
            catalogue = Catalogue([own])
            if problems := catalogue.problems():
                return GateRefusal("form", problems[0].sentence)
            entry = catalogue.find(draft.id)
            read_harbor(harbor)
        except InvalidInput as error:
            return GateRefusal("form", error.sentence)
        async for finding in BenchProver(entry, catalogue, bench).findings():
            if not finding.passed:
                return GateRefusal(GATES.get(finding.check, finding.check), finding.detail)
    return None


GATES = {"hidden": "truth is hidden", "initial": "initial tests pass", "nothing": "doing nothing earns 0",
         "reference": "truth passes", "repeat": "truth passes again"}
"""The gates by what `tiphys tasks check` calls them; an attempt to cheat has its own name."""
