"""What wants a person's look, from the counters alone; each kind is raised once and cleared when it is over."""

import msgspec

from core.agents.progress import AgentProgress, nearly_reached
from core.domain.attention import Thresholds, is_uniform
from core.domain.events import AttentionCleared, AttentionKind, AttentionRaised, Fact
from core.domain.step import StepHead
from core.domain.task import Limits


def after_step(progress: AgentProgress, head: StepHead, limits: Limits, least: Thresholds = Thresholds()
               ) -> tuple[AgentProgress, list[Fact]]:
    """The counters with what is raised now, and the facts that tell of changes."""
    evidence: dict[AttentionKind, str] = {
        "error_burst": _many(progress.errors_in_a_row, least.errors, "failed in a row, the last: " + head.title),
        "loop": _many(progress.equal_in_a_row, least.same, "times the same: " + head.title)
                or is_uniform(progress.commands, least.diversity),
        "stall": _many(progress.waits_in_a_row, least.waits, "waiting steps in a row"),
        "budget": nearly_reached(progress, limits, least.budget),
    }
    facts: list[Fact] = []
    for kind, text in evidence.items():
        progress, raised = mark(progress, kind, text, head.number)
        facts.extend(raised)
    return progress, facts


def stalled(progress: AgentProgress, quiet_s: float, least: Thresholds) -> tuple[AgentProgress, list[Fact]]:
    """Raise a stall where no step has ended for too long; a step that ends clears it."""
    if not least.stall_min or quiet_s < least.stall_min * 60 or progress.state != "running":
        return progress, []
    return mark(progress, "stall", f"no step ended for {quiet_s / 60:.0f} min")


def mark(progress: AgentProgress, kind: AttentionKind, evidence: str, step: int | None = None
         ) -> tuple[AgentProgress, list[Fact]]:
    """Raise it, unless it stands already; with no evidence, clear it, if it stands."""
    if (kind in progress.raised) == bool(evidence):
        return progress, []
    if not evidence:
        left = tuple(k for k in progress.raised if k != kind)
        return msgspec.structs.replace(progress, raised=left), [AttentionCleared(kind=kind)]
    fact = AttentionRaised(kind=kind, evidence=evidence[:300], step=progress.steps if step is None else step)
    return msgspec.structs.replace(progress, raised=(*progress.raised, kind)), [fact]


def _many(count: int, least: int, what: str) -> str:
    return f"{count} {what}" if least and count >= least else ""
