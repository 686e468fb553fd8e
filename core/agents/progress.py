"""How far the agent has come: the counters that limits, notes and attention read, kept with every step."""

from zlib import crc32

import msgspec

from core.domain.attention import DIVERSITY_LAST
from core.domain.events import SessionState
from core.domain.step import StepHead, Usage
from core.domain.task import Budget, Limits


class AgentProgress(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Counters since the session began. `worked_s` leaves pauses and outages out.

    `ratio` is real by estimated tokens of a context. `ending` is the reason for which the run ends at the
    next border; `in_a_row` counts errors, waiting steps and equal actions (`same` is the last one). `commands` are
    fingerprints of the last actions since the first error.
    """

    state: SessionState = "queued"
    steps: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    worked_s: float = 0.0
    evaluations: int = 0
    submissions: int = 0
    ratio: float = 1.0
    ending: str = ""
    final_scored: bool = False
    errors_in_a_row: int = 0
    waits_in_a_row: int = 0
    equal_in_a_row: int = 0
    same: str = ""
    erred: bool = False
    commands: tuple[int, ...] = ()
    raised: tuple[str, ...] = ()


def after_step(progress: AgentProgress, head: StepHead, same: str, worked_s: float) -> AgentProgress:
    """The counters after a step; `same` is one string for what it did."""
    return msgspec.structs.replace(
        with_usage(progress, head.usage),
        steps=head.number,
        worked_s=progress.worked_s + worked_s,
        errors_in_a_row=progress.errors_in_a_row + 1 if head.is_error else 0,
        waits_in_a_row=progress.waits_in_a_row + 1 if head.is_waiting else 0,
        equal_in_a_row=progress.equal_in_a_row + 1 if same == progress.same and not head.is_waiting else 1,
        same=same,
        erred=progress.erred or head.is_error,
        commands=_commands(progress, head, same),
    )


def _commands(progress: AgentProgress, head: StepHead, same: str) -> tuple[int, ...]:
    """Issued after the first error; waiting is no command."""
    if not progress.erred or head.is_waiting or not head.tools:
        return progress.commands
    return (*progress.commands, crc32(same.encode("utf-8", "replace")))[-DIVERSITY_LAST:]


def with_usage(progress: AgentProgress, usage: Usage) -> AgentProgress:
    """The counters after an answer of the model was paid for."""
    tokens = progress.tokens + (usage.input_tokens or 0) + (usage.output_tokens or 0)
    return msgspec.structs.replace(progress, tokens=tokens, cost_usd=progress.cost_usd + (usage.cost_usd or 0.0))


def calibrated(progress: AgentProgress, estimated: int, usage: Usage) -> AgentProgress:
    """Learn from a completion how long contexts really are."""
    if not usage.input_tokens or estimated <= 0:
        return progress
    return msgspec.structs.replace(progress, ratio=min(3.0, max(0.3, usage.input_tokens / estimated)))


def used(progress: AgentProgress) -> Budget:
    """What a session has used of its limits."""
    return Budget(steps=progress.steps, wall_s=progress.worked_s, tokens=progress.tokens, cost_usd=progress.cost_usd,
                  evaluations=progress.evaluations)


def shares(progress: AgentProgress, limits: Limits) -> dict[str, float]:
    """How much of each limit is used, 1.0 for all of it; evaluations end a run only when asked for beyond."""
    counts = {
        "limit_steps": (progress.steps, limits.steps),
        "limit_wall": (progress.worked_s, limits.wall_s),
        "limit_tokens": (progress.tokens, limits.tokens),
        "limit_cost": (progress.cost_usd, limits.cost_usd),
    }
    return {name: n / limit if limit else 1.0 for name, (n, limit) in counts.items() if limit is not None}


def reached(progress: AgentProgress, limits: Limits) -> str:
    """The limit that ends the run now, or ""."""
    return next((name for name, share in shares(progress, limits).items() if share >= 1.0), "")


def nearly_reached(progress: AgentProgress, limits: Limits, budget: float = 0.9) -> str:
    """Which limits are used to the share `budget` or more, as evidence for a person, or ""."""
    near = {name: share for name, share in shares(progress, limits).items() if budget and share >= budget}
    return ", ".join(f"{name} {share:.0%}" for name, share in near.items())
