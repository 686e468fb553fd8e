"""`tiphys attach --acp`: the conversation with an agent that speaks the Agent Client Protocol, from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import click

from core.agents.external import GatewayAddress
from core.cli.output import note, say, visible
from core.domain.errors import InvalidInput, NotFound
from core.gateway.acp.agent import AcpAgent, AcpError
from core.gateway.acp.leave import leave_of
from core.gateway.acp.program import converse
from core.gateway.acp.session_words import SessionWords

Permissions = Literal["ask", "desktop", "allow", "reject"]
AWAY_S = 30.0
"""So long the session may be away, as while its runner is started again."""


def speak(command: Sequence[str], environment: Mapping[str, str], address: GatewayAddress, prompt: str,
          permissions: Permissions, *, stays: bool) -> int:
    """Give the agent its task, then a turn for each advice; the exit status. Raises NotFound, InvalidInput."""
    words = SessionWords(address.url, address.token, AWAY_S)

    def ask(what: str) -> bool:
        return click.confirm(f"The agent asks for leave: {visible(what)}", err=True)

    try:
        with AcpAgent(command, environment, str(Path.cwd()), on_leave=leave_of(permissions, ask, words.tell),
                      on_words=lambda text: click.echo(visible(text), nl=False), tell=words.tell) as agent:
            agent.begin()
            status = converse(agent, words.tell, prompt, stays=stays)
    except AcpError as error:
        if error.code == "no_program":
            raise NotFound("no_program", error.sentence) from error
        if error.code == "acp_version":
            raise InvalidInput("acp_version", error.sentence) from error
        note(error.sentence)
        return 1
    say("")
    return status
