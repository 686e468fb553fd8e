"""The way of one answer from the endpoint to the agent: passed on as it comes, and told before its end is passed on."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import msgspec

from core.domain.errors import ReportableError
from core.gateway.answer_reader import AnswerReader, Heard
from core.gateway.inlet import Visit
from core.gateway.request import AgentRequest
from core.gateway.upstream import UpstreamAnswer, UpstreamRequest

log = logging.getLogger("agent")

LIVE_EVERY_S = 0.15


class AnswerWay:
    """One exchange, from the moment at which its request is sent on."""

    def __init__(self, visit: Visit, request: AgentRequest, tell: Callable[[str], None],
                 on_over: Callable[[Heard], None]) -> None:
        """`tell` shows the words so far; `on_over` is told once how the exchange ended, before the agent is."""
        self._visit, self._tell, self._on_over = visit, tell, on_over
        self._clock = asyncio.get_running_loop()
        self._began, self._is_over = self._clock.time(), False
        self._reader = AnswerReader(request.dialect, request.is_stream)

    async def pass_on(self, request: UpstreamRequest, settle: Callable[[], Awaitable[None]] | None) -> None:
        """Pass the answer on, or say that there is none; `settle` is awaited before the agent has its end."""
        try:
            answer = await request.answer()
        except ReportableError as error:
            await self._refuse(error.sentence, Heard(problem=error.sentence))
            return
        try:
            self._reader.begin(answer.head, self._clock.time() - self._began)
            last = await self._stream(answer)
            if settle is not None:
                await settle()
            self._is_over = True
            self._on_over(self._reader.ending())
            await self._visit.write(last)
            await self._visit.end()
        except ReportableError as error:
            if self._is_over:
                raise
            await self._refuse(error.sentence, self._discarded(error.sentence))
        finally:
            answer.close()

    def close(self) -> None:
        """Nothing more comes; who has no end by now never gets one."""
        if not self._is_over:
            self._is_over = True
            self._on_over(self._discarded("The agent hung up before the answer's end."))
        self._tell("")

    def _discarded(self, problem: str) -> Heard:
        return msgspec.structs.replace(self._reader.ending(), is_discarded=True, problem=problem)

    async def _refuse(self, sentence: str, ending: Heard) -> None:
        """Tell the agent that there is no answer; in the middle of one its connection ends."""
        self._is_over = True
        self._on_over(ending)
        if self._visit.has_begun:
            self._visit.cut()
        else:
            await self._visit.reply(503, "Service Unavailable", refusal("api_error", sentence))

    async def _stream(self, answer: UpstreamAnswer) -> bytes:
        """Pass the answer on, but for its end, which is given."""
        head, reader, visit = answer.head, self._reader, self._visit
        if visit.has_begun and not 200 <= head.status < 300:
            raw = b"".join([reader.take(piece) async for piece in answer.pieces()])
            return reader.dialect.late_error(head.status, raw) if reader.is_stream else raw
        is_plain = visit.has_begun  # by a head that names no coding
        if not is_plain:
            visit.begin(head.status, head.reason, head.passed_on(), head.length)
        return await self._all_but_the_end(answer, is_plain)

    async def _all_but_the_end(self, answer: UpstreamAnswer, is_plain: bool) -> bytes:
        last: list[bytes] = []
        shown = 0.0
        async for piece in answer.pieces():
            plain = self._reader.take(piece)
            piece = plain if is_plain else piece
            if self._reader.may_be_over:  # from here on the agent may act on it
                last.append(piece)
                continue
            await self._visit.write(piece)
            if self._clock.time() >= shown:
                shown = self._clock.time() + LIVE_EVERY_S
                self._tell(self._reader.text)
        return b"".join(last)


def refusal(kind: str, sentence: str) -> bytes:
    """An error of ours in a form that every dialect's library reads."""
    return msgspec.json.encode({"type": "error", "error": {"type": kind, "message": sentence, "code": kind}})
