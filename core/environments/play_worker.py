"""Plays environments whose code is foreign in a process of its own, which can be ended where that code does not end.

`python -m core.environments.play_worker` reads a request a line, carries one out after the other and answers each.
"""

from __future__ import annotations

import asyncio
import math
import os
import socket
import sys
from collections.abc import Callable

import msgspec

from core.domain.errors import Unavailable
from core.domain.step import Observation
from core.environments.guarded import GuardedEnvironment
from core.environments.play_requests import PlayAct, PlayClose, PlayRequest, PlayReset, PlayScore, PlayScored, PlaySeen
from core.environments.registry import kind_of, open_here
from core.environments.stem import be_stem
from core.workers.serve import Send, answer_line, serve


class _Places:
    """The environments of this process, by number."""

    def __init__(self) -> None:
        self._open: dict[int, GuardedEnvironment] = {}

    async def answer(self, request: PlayRequest) -> PlaySeen | PlayScored | None:
        """Raises InvalidInput, Unavailable."""
        match request:
            case PlayReset(place=place, settings=settings):
                await self._close(place)
                made = GuardedEnvironment(open_here(settings), kind_of(settings).name, patience_s=math.inf)
                self._open[place] = made
                return _shown(made, await made.reset(request.task, request.seed))
            case PlayAct(place=place, action=action, step=step):
                made = self._at(place)
                return _shown(made, await made.act(action, step))
            case PlayScore(place=place):
                made = self._at(place)
                outcome, payload = await made.score()
                return PlayScored(outcome=outcome, payload=payload, state=made.state())
            case PlayClose(place=place):
                await self._close(place)
                return None

    def _at(self, place: int) -> GuardedEnvironment:
        made = self._open.get(place)
        if made is None:
            raise Unavailable("environment_failed", "The environment is not there.")
        return made

    async def _close(self, place: int) -> None:
        made = self._open.pop(place, None)
        if made is not None:
            await made.close()


def _shown(made: GuardedEnvironment, seen: Observation) -> PlaySeen:
    return PlaySeen(seen=seen, tools=list(made.tools()), state=made.state())


def main() -> int:
    """Serve until the input ends. What foreign code, or a program that it starts, prints or reads goes elsewhere. With
    the number of a socket and modules among the arguments it is the stem of such workers."""
    if sys.argv[1:]:
        be_stem(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
    lines, out = os.fdopen(os.dup(0), "rb"), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout = os.fdopen(out, "w")
    decoder, places = msgspec.json.Decoder(PlayRequest), _Places()
    with asyncio.Runner() as loop:
        def make(send: Send) -> Callable[[bytes], None]:
            return lambda line: answer_line(line, decoder, lambda asked: loop.run(places.answer(asked)), send)

        return serve(make, lines)


if __name__ == "__main__":
    sys.exit(main())
