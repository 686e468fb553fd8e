"""Lines of conversation: whose request it is, the main line's, a subagent's or a call beside them, and how it goes on.

Headers decide where the agent sends any; else the longest common prefix and the tools do.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from core.domain.context import shared_length
from core.gateway.http_head import Head

LineKind = Literal["main", "subagent", "side"]
MAIN = "main"
"""The name of the line that a session's steps are of."""
Relation = Literal["new", "extends", "retry", "rewound", "compacted", "summary", "side"]
"""How a request stands to its line: `summary` asks for what a compaction will put in the place of steps."""

SESSION_FIELDS = ("x-claude-code-session-id", "x-claude-code-agent-id", "thread-id", "x-session-id",
                  "x-session-affinity")
"""What agents themselves say about whose request it is."""

SUBAGENT_FIELDS = ("x-claude-code-agent-id", "x-openai-subagent", "x-codex-parent-thread-id", "x-parent-session-id")


class AgentLine(msgspec.Struct, kw_only=True):
    """One conversation, whose requests extend one another. `tools` names what the agent could call in it."""

    name: str
    kind: LineKind
    identity: tuple[str, ...] = ()
    tools: str = ""
    chain: list[bytes] = []


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What of a request says where it belongs. `opening` counts the leading items of a system prompt; `is_summary`:
    its last words are those with which this agent asks for a summary."""

    identity: tuple[str, ...] = ()
    is_subagent: bool = False
    tools: str = ""
    has_tools: bool = False
    chain: Sequence[bytes] = ()
    opening: int = 0
    is_summary: bool = False
    is_formed: bool = False
    """It has one tool, which the model must call: its arguments are the answer, and nothing is done."""


class LinePlacement(msgspec.Struct, frozen=True):
    """Where a request belongs: it shares the first `shared` items with its line. `is_taken_up`: it is the first one of
    an agent that was started again, and goes by what it is to the line, as the agent may have another name now."""

    line: AgentLine
    relation: Relation
    shared: int = 0
    is_taken_up: bool = False


def identity_of(head: Head) -> tuple[tuple[str, ...], bool]:
    """What a request's headers say: whose it is, and whether a subagent's."""
    identity = tuple(value for name in SESSION_FIELDS if (value := head.field(name)))
    return identity, any(head.field(name) for name in SUBAGENT_FIELDS)


class AgentLines:
    """The lines of a session's agent."""

    def __init__(self, lines: Sequence[AgentLine] = (), *, has_samples: bool = False) -> None:
        """`has_samples`: what begins anew, and says by no header of the agent's that it is the same conversation, is
        another one and no compaction."""
        self._lines, self._has_samples = [*lines], has_samples
        self.is_restarted = False
        """Whether the agent was started again since the main line's last request: it may have another name now."""
        self.was_summarised = False
        """Whether a summary was asked for since the main line's last request."""

    @property
    def main(self) -> AgentLine | None:
        """The main line, once there is one."""
        return next((line for line in self._lines if line.kind == "main"), None)

    def place(self, asked: Asked) -> LinePlacement:
        """Where a request belongs; a new subagent's line has no name yet. Nothing changes; `advance` makes it so."""
        main = self.main
        adopts = main is not None and self.is_restarted and not asked.is_subagent and asked.has_tools
        best, shared = self._nearest(asked, adopts)
        is_question = asked.is_formed and main is not None and asked.tools != main.tools
        if not asked.has_tools or asked.is_summary or is_question:
            is_summary = asked.is_summary or (best is not None and best.kind == "main" and shared == len(best.chain))
            kind: Relation = "summary" if is_summary else "side"
            side = AgentLine(name=best.name if is_summary and best else "side", kind="side")
            return LinePlacement(side, kind, shared)
        if best is not None and shared == len(best.chain):
            return LinePlacement(best, "retry" if shared == len(asked.chain) else "extends", shared)
        if best is not None and shared > asked.opening and not (best is main and self.was_summarised):
            return LinePlacement(best, "rewound", shared)
        begun = main if adopts else self._same(asked)
        if begun is not None:
            return LinePlacement(begun, "compacted", shared if best is begun else 0, adopts)
        if main is None and not asked.is_subagent:
            return LinePlacement(AgentLine(name=MAIN, kind="main"), "new")
        return LinePlacement(AgentLine(name="subagent", kind="subagent"), "new")

    def _same(self, asked: Asked) -> AgentLine | None:
        """The line that begins anew with nothing in common: a subagent's only where headers say that it is."""
        able = (line for line in reversed(self._lines) if (line is self.main or asked.is_subagent)
                and not (self._has_samples and not asked.identity))
        return next((line for line in able if (line.identity, line.tools) == (asked.identity, asked.tools)), None)

    def forget(self, line: AgentLine) -> None:
        """A line that is over: what extends it begins another one."""
        self._lines = [one for one in self._lines if one is not line]

    def advance(self, placement: LinePlacement, asked: Asked) -> AgentLine:
        """The line as it is with this request. A call beside the lines changes none."""
        line = placement.line
        if line.kind == "side":
            is_main = self.main is None or line.name == self.main.name
            self.was_summarised = self.was_summarised or (is_main and placement.relation == "summary")
            return line
        if line not in self._lines:
            self._lines.append(line)
        line.chain, line.identity, line.tools = [*asked.chain], asked.identity, asked.tools
        if line.kind == "main":
            self.is_restarted = self.was_summarised = False
        return line

    def _nearest(self, asked: Asked, adopts: bool) -> tuple[AgentLine | None, int]:
        """The line that shares most with a request, the newest of equals."""
        best, most = None, 0
        for line in reversed(self._lines):
            if line.identity == asked.identity or (adopts and line.kind == "main"):
                shared = shared_length(line.chain, asked.chain)
                if shared > most or (best is None and shared and shared == most):
                    best, most = line, shared
        return best, most
