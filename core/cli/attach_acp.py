"""`tiphys attach --acp`: the conversation with an agent that speaks the Agent Client Protocol, from here."""

from __future__ import annotations

import http.client
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import click
import msgspec

from core.agents.external import GatewayAddress
from core.cli.output import note, say, visible
from core.domain.errors import Unavailable
from core.gateway.acp import AcpAgent, Leave

Permissions = Literal["ask", "desktop", "allow", "reject"]
GO_ON = "Go on: a person has said something to you."
"""The words of a turn that an advice begins, which itself is put in at the model endpoint, as always."""


def converse(command: Sequence[str], values: Mapping[str, str], address: GatewayAddress, prompt: str,
             permissions: Permissions, *, stays: bool) -> int:
    """Give the agent its task, then a turn for each advice that is there when one ends; the exit status.

    `stays`: it waits for more advice until a person stops the session.
    """
    def leave(title: str) -> Leave:
        match permissions:
            case "ask":
                is_given = click.confirm(f"The agent asks for leave: {visible(title)}", err=True)
            case "desktop":
                is_given = _tell(address, "leave", title).get("allow") is True
            case _:
                is_given = permissions == "allow"
        given: Leave = "allow" if is_given else "reject"
        _tell(address, "note", f"The agent asked for leave: {title[:500]}. Answer: {given}.")
        return given

    def plan(checklist: str) -> None:
        _tell(address, "note", f"Plan:\n{checklist[:5000]}")

    try:
        with AcpAgent(command, {**os.environ, **values}, str(Path.cwd()), on_leave=leave,
                      on_words=lambda text: click.echo(visible(text), nl=False),
                      on_plan=plan) as agent:
            agent.begin()
            ended = agent.prompt(prompt)
            while _tell(address, "turn", stays).get("goes_on"):
                say("")
                ended = agent.prompt(GO_ON)
    except Unavailable as error:
        note(error.sentence)
        return 1
    say("")
    return 0 if ended == "end_turn" else 1


def _tell(address: GatewayAddress, what: str, body: object) -> dict[str, Any]:
    """A word to the session; its answer, nothing where it is over."""
    connection = http.client.HTTPConnection(urlsplit(address.url).netloc)
    try:
        connection.request("POST", f"/tiphys/{what}", msgspec.json.encode(body),
                           {"Authorization": f"Bearer {address.token}"})
        answer = connection.getresponse()
        raw = answer.read()
        return msgspec.json.decode(raw, type=dict[str, Any]) if answer.status == 200 else {}
    except (OSError, http.client.HTTPException):
        return {}
    finally:
        connection.close()
