"""A conversation turn by turn; and as the program of a sandbox: `python3 acp.pyz WHO FIRST COMMAND…`.

WHO gives leave (desktop, allow, reject) and FIRST is `new` or `load`, for a conversation that was begun before.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from .agent import AcpAgent, AcpError
from .leave import leave_of
from .session_words import SessionWords
from .values import Json, text_of

GO_ON = "Go on: a person has said something to you."
"""The words of a turn that an advice begins, which itself is put in at the model endpoint, as always."""
TAKEN_UP = "Go on."
CONVERSATION = "~/.tiphys/acp-conversation"
"""Where the conversation's name rests in a sandbox, for the next start."""


def converse(agent: AcpAgent, tell: Callable[[str, object], Json], first: str, *, stays: bool) -> int:
    """Give the agent its first words, then a turn for each advice that is there when one ends; the exit status.

    `stays`: it waits for more advice until a person stops the session. Raises AcpError.
    """
    ended = agent.prompt(first)
    while tell("turn", stays).get("goes_on"):
        ended = agent.prompt(GO_ON)
    return 0 if ended == "end_turn" else 1


def take_up(agent: AcpAgent, conversation: str, task: str, tell: Callable[[str, object], Json]) -> str:
    """Open the conversation of before, and give the words to go on with. Where the agent was killed before it had
    written it down, or takes none up, open another, and tell it what the session knows. Raises AcpError."""
    why = "It has no name of it."
    if conversation:
        try:
            agent.begin(conversation)
            return TAKEN_UP
        except AcpError as error:
            if error.code != "acp_refused":
                raise
            why = error.sentence
    agent.begin()
    return task + text_of(tell("before", why).get("text"))


def main() -> None:
    """Speak with an agent in a sandbox, and end with its exit status."""
    sys.exit(speak(*sys.argv[1:]))


def speak(who: str, first: str, *command: str) -> int:
    """Speak with the agent of a command; gives the exit status."""
    environ = dict(os.environ)
    words = SessionWords(environ["TIPHYS_GATEWAY"], environ["TIPHYS_TOKEN"], float("inf"))
    place = Path(CONVERSATION).expanduser()
    conversation = place.read_text() if first == "load" and place.exists() else ""

    def show(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    try:
        with AcpAgent(command, environ, str(Path.cwd()), on_leave=leave_of(who, lambda _: False, words.tell),
                      on_words=show, tell=words.tell) as agent:
            task = environ["TIPHYS_TASK"]
            if first == "load":
                opening = take_up(agent, conversation, task, words.tell)
            else:
                agent.begin()
                opening = task
            part = place.with_suffix(".part")
            part.write_text(agent.conversation)
            part.replace(place)  # killed meanwhile, the next start takes the conversation up that there was
            return converse(agent, words.tell, opening, stays=False)
    except AcpError as error:
        show(f"{error.sentence}\n")
        return 1
