"""The installed agents: where they lie, and what is particular about each in a conformance run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from core.gateway.recipe import recipe_named

FOLDER = Path(os.environ.get("TIPHYS_AGENTS", "build/agents")).absolute()
"""Where packaging/setup/agents.sh has put them."""


@dataclass(frozen=True)
class Agent:
    """One agent. `base` is the version that its endpoint's address ends with; `compacts` is put before its command to
    have it compact early ("": not provoked here); `has_subagents`: it is seen to start one, and `waits` for
    what that hands in; else it goes on beside it and is told later. `writes_late`: a SIGKILL may leave nothing of its
    conversation in its own record."""

    name: str
    folder: str
    base: str = "/v1"
    compacts: str = ""
    has_subagents: bool = False
    waits: bool = True
    writes_late: bool = False

    @property
    def path(self) -> Path:
        """The folder of its programs."""
        return FOLDER / self.folder

    @property
    def is_here(self) -> bool:
        """Whether it is installed."""
        program = {"openhands-sdk": "openhands", "swe-agent": "sweagent"}.get(
            self.name, recipe_named(self.name).command.split()[0])
        program = {"cd": "inspect"}.get(program, program)
        return (self.path / program).exists() or (self.name == "openhands-sdk" and (self.path / "python3").exists())


NODE = "node/node_modules/.bin"
AGENTS = (
    Agent("mini-swe-agent", "py/mini/bin"),
    Agent("claude-code", NODE, base="", has_subagents=True, waits=False,
          compacts="CLAUDE_CODE_AUTO_COMPACT_WINDOW=100000 CLAUDE_AUTOCOMPACT_PCT_OVERRIDE=60"),
    Agent("codex-cli", NODE, compacts="-c model_auto_compact_token_limit=100000"),
    Agent("gemini-cli", NODE, base="", has_subagents=True, writes_late=True),
    Agent("qwen-code", NODE, has_subagents=True, waits=False, compacts="true;"),
    Agent("opencode", NODE, has_subagents=True, compacts="true;"),
    Agent("inspect", "py/inspect/bin"),
    Agent("openhands-sdk", "py/openhands/bin"),
    Agent("swe-agent", "py/swe/bin"),
)


def command_that_compacts(agent: Agent) -> str:
    """The agent's command, with what makes it compact when an answer says that its window is nearly full."""
    command = recipe_named(agent.name).command
    if agent.compacts.startswith("-"):
        return command.replace(" exec ", f" exec {agent.compacts} ", 1)
    return f"{agent.compacts} {command}"
