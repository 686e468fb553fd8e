"""InnoGym's novelty N of a solution: how far its method is from all known ones, by a judge (arXiv 2512.01822, F).

Each solution is first put into words; then the judge rates every pair on six dimensions from 0 to 4. The distance of
a pair is the mean of these, on a scale of 100; N is the smallest distance. A judge is asked several times about each
pair: how far its answers agree says how far N is to be trusted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Annotated

import msgspec
from msgspec import Meta

from core.domain.errors import InvalidInput, Unavailable
from core.domain.foreign import marked
from core.domain.message import Message
from core.llm.model import LanguageModel, Request
from core.store.home import resources
from core.supervision.coefficients import krippendorff_alpha

DIMENSIONS = ("framing", "method", "design", "data", "optimisation", "evaluation")
MAX_CHARS = 120_000
"""The most of a solution's text that a judge is shown."""

ATTEMPTS = 3

Rating = Annotated[int, Meta(ge=0, le=4)]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """One rating of how different two methods are: 0 the same, 4 another paradigm."""

    framing: Rating
    method: Rating
    design: Rating
    data: Rating
    optimisation: Rating
    evaluation: Rating
    why: str = ""

    @property
    def distance(self) -> float:
        """From 0 to 100."""
        ratings = [int(getattr(self, name)) for name in DIMENSIONS]
        return mean(ratings) / 4 * 100


class Distance(msgspec.Struct, frozen=True, kw_only=True):
    """How far a solution is from one known one: the mean of all answers, and each of them."""

    known: str
    distance: float
    answers: tuple[Comparison, ...]


class Novelty(msgspec.Struct, frozen=True, kw_only=True):
    """N, the distance to the nearest known solution (None: none is known, so that whatever works is new).

    `alpha` is Krippendorff's over the ratings that were given for one pair and dimension (None where all are equal, or
    there is one answer only), `within_one` the share of them that differ by one at most.
    """

    novelty: float | None
    nearest: str
    distances: tuple[Distance, ...]
    alpha: float | None
    within_one: float | None


async def novelty_of(model: LanguageModel, task: str, solution: str, known: Mapping[str, str], answers: int = 3
                     ) -> Novelty:
    """The novelty of a solution's text against those of known ones, by name.

    Raises EndpointError, Unavailable (judge_unreadable), InvalidInput for a solution without text.
    """
    own = await _in_words(model, task, solution)
    distances = []
    for name, text in known.items():
        other = await _in_words(model, task, text)
        rated = [await _compare(model, task, own, other) for _ in range(answers)]
        distances.append(Distance(known=name, distance=mean(r.distance for r in rated), answers=tuple(rated)))
    nearest = min(distances, key=lambda one: one.distance, default=None)
    alpha, within_one = agreement(distances)
    return Novelty(novelty=nearest.distance if nearest else None, nearest=nearest.known if nearest else "",
                   distances=tuple(distances), alpha=alpha, within_one=within_one)


def agreement(distances: Sequence[Distance]) -> tuple[float | None, float | None]:
    """How far a judge's answers about one pair agree: alpha, and the share within one."""
    units = [[getattr(answer, name) for answer in one.answers] for one in distances for name in DIMENSIONS]
    pairs = [(a, b) for unit in units for at, a in enumerate(unit) for b in unit[at + 1:]]
    within = sum(abs(a - b) <= 1 for a, b in pairs) / len(pairs) if pairs else None
    return krippendorff_alpha(units), within


async def _in_words(model: LanguageModel, task: str, text: str) -> str:
    if not text.strip():
        raise InvalidInput("no_solution", "There is no text of a solution that a judge could read.")
    return await _ask(model, "novelty_extract", f"{marked('task', task)}\n\n{marked('solution', text[:MAX_CHARS])}")


async def _compare(model: LanguageModel, task: str, first: str, second: str) -> Comparison:
    shown = f"{marked('task', task)}\n\n{marked('first', first)}\n\n{marked('second', second)}"
    for _ in range(ATTEMPTS):
        answer = await _ask(model, "novelty_compare", shown)
        found = re.search(r"\{.*\}", answer, re.DOTALL)
        try:
            return msgspec.convert(json.loads(found[0] if found else ""), Comparison)
        except (ValueError, RecursionError, msgspec.ValidationError):
            continue
    raise Unavailable("judge_unreadable", f"{model.name} did not compare two solutions in the form that was asked.")


async def _ask(model: LanguageModel, prompt: str, shown: str) -> str:
    system = (resources() / "prompts" / f"{prompt}.md").read_text(encoding="utf-8")
    request = Request(messages=(Message(role="system", content=system), Message(role="user", content=shown)),
                      temperature=0.0)
    return (await model.complete(request)).message.content
