"""Scorers of other people's environments: none that runs a model's answer is offered."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from core.domain.errors import InvalidInput
from core.environments.adapters.reasoning_gym import ENVIRONMENT, _names
from core.environments.registry import environment_task, open_here


class Reads:
    """A set whose scorer compares."""

    def score_answer(self, answer: str, entry: dict[str, Any]) -> float:
        return float(answer == entry["answer"])


class Evaluates(Reads):
    """As n_queens of reasoning-gym 0.1.25, with the call out of sight."""

    def score_answer(self, answer: str, entry: dict[str, Any]) -> float:
        return max((lambda text: eval(text))(part) for part in [answer])


class Parses(Reads):
    """As countdown, whose parser is sympy's."""

    def score_answer(self, answer: str, entry: dict[str, Any]) -> float:
        from sympy.parsing.sympy_parser import parse_expr

        return float(parse_expr(answer))


@pytest.fixture
def sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of that name, as it is seldom installed."""
    package, factory = ModuleType("reasoning_gym"), ModuleType("reasoning_gym.factory")
    factory.DATASETS = {"reads": (Reads, None), "evaluates": (Evaluates, None), "parses": (Parses, None),
                        "composite": (Reads, None)}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "reasoning_gym", package)
    monkeypatch.setitem(sys.modules, "reasoning_gym.factory", factory)
    monkeypatch.setattr("core.environments.adapters.reasoning_gym.require_package", lambda *_: None)


def test_no_set_is_offered_whose_scorer_would_run_the_answer(sets: None) -> None:
    assert ENVIRONMENT.count() == 100, "one set of three, besides what is made of others"
    for name in ("evaluates", "parses"):
        with pytest.raises(InvalidInput, match="run it as a program"):
            open_here(environment_task("reasoning-gym", set=name).environment)


def test_every_set_that_is_offered_where_the_package_is_here_only_reads() -> None:
    factory = pytest.importorskip("reasoning_gym.factory")
    from core.environments.adapters.reasoning_gym import RUNS_TEXT, _sets

    offered = _sets()
    assert not {"n_queens", "countdown", "puzzle24", "spiral_matrix", "simple_integration"} & set(offered)
    assert not [name for name in offered if RUNS_TEXT & set(_names(factory.DATASETS[name][0].score_answer.__code__))]
