"""What a rule is: a named, versioned check that reads facts and finds steps to mask, with a reason each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from core.domain.errors import InvalidInput, NotFound
from core.domain.events import FileChanged, ScoreGiven
from core.domain.guidance import Guidance
from core.domain.step import Action, StepBody
from core.domain.task import Task
from core.domain.verdict import Author
from core.supervision.rule_settings import fits, kinds_of, words_of
from core.supervision.traces import JobRun, job_runs

LIVE = "live"
"""The origin of sessions that ran under this program."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule may look at: the steps' bodies in order, changes of files and scores in the order of the log, the
    task and delivered guidance. `origin` is live, or the format that the session was imported from; then actions have
    our names (`foreign_tools`), and their results their own texts."""

    steps: Sequence[StepBody]
    files: Sequence[FileChanged] = ()
    scores: Sequence[ScoreGiven] = ()
    guidance: Sequence[Guidance] = ()
    task: Task | None = None
    origin: str = LIVE
    written: Mapping[tuple[int, int], str] = {}
    """The tool's own name of an action of an imported session, by step and place (from 1): what reasons say."""

    jobs: Sequence[JobRun] | None = None
    several: Mapping[int, int] | None = None
    absent: Collection[int] = ()
    """The background jobs, and how many actions the steps have that have more than one, where that was gathered; and
    which steps are not among these, as their bodies are not at hand."""

    @property
    def job_runs(self) -> Sequence[JobRun]:
        """All background jobs that the steps tell of."""
        return job_runs(self.steps) if self.jobs is None else self.jobs

    def has_several(self, step: int) -> int:
        """How many actions a step has; 0 for one, or none."""
        if self.several is None:
            return next((len(b.actions) for b in self.steps if b.number == step and len(b.actions) > 1), 0)
        return self.several.get(step, 0)

    def tool(self, step: int, place: int, action: Action | None) -> str:
        """The name of an action's tool as the reader of its log knows it."""
        return self.written.get((step, place), action.tool if action else "action")

    @property
    def instructions(self) -> str:
        """What the task says, title and description."""
        return f"{self.task.title}\n{self.task.description}" if self.task else ""


class Finding(msgspec.Struct, frozen=True, order=True):
    """A rule holds that training should not imitate step `step`, or of its actions the `action`-th alone (counted from
    1; 0: the whole step); `reason` is one sentence for the reviewer."""

    step: int
    reason: str
    action: int = 0


Find = Callable[..., Iterator[Finding]]
"""Takes the evidence, and settings by name as keyword-only arguments that have defaults. Their types say what they may
be (`Annotated[int, Meta(ge=1)]`); one without a type may be what its default is."""


class Rule(msgspec.Struct, frozen=True):
    """A check. `version` changes whenever its findings may; `about` says where the rule comes from; `settings` are
    its defaults by name, `kinds` what each may be. `enabled` False: what it said before is taken back; what it would
    find can still be asked."""

    name: str
    version: str
    about: str
    find: Find
    settings: Mapping[str, Any] = {}
    kinds: Mapping[str, Any] = {}
    enabled: bool = True

    @property
    def author(self) -> Author:
        """The author of this rule's verdicts."""
        return Author(kind="rule", name=self.name, version=self.version)

    def tuned(self, settings: Mapping[str, Any]) -> Rule:
        """The rule with other settings, which become part of its version. Raises InvalidInput (bad_rules)."""
        for key, value in settings.items():
            if key not in self.settings:
                known = ", ".join(self.settings) or "none"
                raise InvalidInput("bad_rules", f"The rule {self.name} has no setting {key}; known are: {known}.")
            if not fits(value, self.kinds[key]):
                wanted = words_of(self.kinds[key])
                raise InvalidInput("bad_rules", f"The setting {key} of the rule {self.name} is {wanted}, not "
                                   f"{value!r:.80}.")
        other = {k: v for k, v in settings.items() if v != self.settings[k]}
        if not other:
            return self
        version = "; ".join([self.version, *(f"{k}={other[k]}" for k in sorted(other))])
        return msgspec.structs.replace(self, find=partial(self.find, **other), version=version,
                                       settings={**self.settings, **other})

    def switched_off(self) -> Rule:
        """The rule as one that no longer counts."""
        return msgspec.structs.replace(self, enabled=False)


class Registry:
    """The rules that are known, by name, in the order of their definition."""

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        self._rules: dict[str, Rule] = {r.name: r for r in rules}

    def add(self, name: str, version: str) -> Callable[[Find], Find]:
        """Register a function as a rule; its docstring becomes the rule's `about`.

        Raises InvalidInput (bad_rules) for a name that another rule has.
        """

        def register(find: Find) -> Find:
            if name in self._rules:
                raise InvalidInput("bad_rules", f"There is a rule {name} already.", rule=name)
            about = " ".join((find.__doc__ or "").split())
            self._rules[name] = Rule(name, version, about, find, _settings(find), kinds_of(find))
            return find

        return register

    def names(self) -> list[str]:
        """The names of all rules."""
        return list(self._rules)

    def get(self, names: Sequence[str] | None = None) -> list[Rule]:
        """The named rules, or all. Raises NotFound for a name that is not known."""
        wanted = self.names() if names is None else names
        unknown = next((n for n in wanted if n not in self._rules), None)
        if unknown is not None:
            raise NotFound("no_rule", f"There is no rule {unknown}; known are {', '.join(self.names())}.", rule=unknown)
        return [self._rules[n] for n in wanted]


def _settings(find: Find) -> dict[str, Any]:
    named = inspect.signature(find).parameters.values()
    return {p.name: p.default for p in named if p.kind is p.KEYWORD_ONLY and p.default is not p.empty}


RULES = Registry()
