"""The gateway at work: every request of the agent comes here, waits where a person wants it to, and is forwarded.

Serves only who knows the session's token, only the paths of the agent's dialects, and never the endpoint's key.
"""

import asyncio
import hmac
import logging
import re
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl, urlencode

from core.agents.agent_words import WORD_FIELD, AgentWords
from core.agents.answer_way import AnswerWay, refusal
from core.agents.delivery import Inbox
from core.agents.exchanges import Sending
from core.agents.line_sessions import LineSessions
from core.agents.signals import Signals
from core.agents.subagent import SubagentSession
from core.domain.errors import InvalidInput, ReportableError
from core.gateway.answer_reader import Heard
from core.gateway.dialect import Dialect
from core.gateway.http_head import Fields, Head
from core.gateway.inlet import AgentGone, Visit
from core.gateway.recipe import DIALECTS
from core.gateway.request import AgentRequest, RequestReader, plain_body
from core.gateway.upstream import Upstream, UpstreamRequest

log = logging.getLogger("agent")

FIRST_PING_S, PING_S = 25.0, 10.0
"""A held request shows no sign for so long, as a begun answer can no longer be an error; then pings come so often."""

_KEYS = ("authorization", "x-api-key", "x-goog-api-key")
_BEARER = re.compile(r"bearer +", re.IGNORECASE)
_DROPPED = (*_KEYS, "accept-encoding", "content-encoding")
_MODELS = ("/v1/models", "/models", "/v1beta/models")


class Seam:
    """The handler of an agent's requests."""

    def __init__(self, lines: LineSessions, inbox: Inbox, signals: Signals, reader: RequestReader, upstream: Upstream,
                 *, token: str, key: str, words: AgentWords, is_over: Callable[[], bool],
                 on_paused: Callable[[bool], None], on_text: Callable[[str], None],
                 on_step: Callable[[int], Callable[[], Awaitable[None]] | None],
                 on_failures: Callable[[int, str], None]) -> None:
        """`words` takes what is said beside the dialects. `is_over` says that nothing more may be asked; `on_step` is
        told when a step begins, and what it gives is awaited before the agent has the answer's end; `on_failures` is
        told how many answers of the main line failed in a row."""
        self._lines, self._inbox, self._signals, self._reader = lines, inbox, signals, reader
        self._upstream, self._token, self._key = upstream, token, key
        self._words, self._is_over, self._on_paused = words, is_over, on_paused
        self._on_text, self._on_step, self._on_failures = on_text, on_step, on_failures
        self._failures = 0

    def close(self) -> None:
        """Let go of the endpoint."""
        self._upstream.close()

    async def handle(self, visit: Visit) -> None:
        """One request, to its end."""
        head = visit.head
        if head.method in ("HEAD", "GET") and head.path == "/":
            await visit.reply(200, "OK", b"")
            return
        if not self._is_known(head):
            await visit.reply(401, "Unauthorized", refusal("authentication_error", "This is not the session's token."))
            return
        dialect = next((d for d in DIALECTS.values() if d.path.match(head.path)), None)
        try:
            if head.method == "POST" and self._words.knows(head.path):
                answer = await self._words.take(head.path, visit.body, head.field(WORD_FIELD)[:100])
                await visit.reply(200, "OK", answer)
            elif head.method == "POST" and dialect is not None:
                await self._ask(visit, dialect)
            elif head.method == "GET" and head.path.rstrip("/") in _MODELS:
                await self._pass(visit, DIALECTS["gemini" if "beta" in head.path else "chat"], visit.body)
            else:
                await visit.reply(404, "Not Found", refusal("not_found_error", f"No {head.path[:200]} is served here."))
        except InvalidInput as error:
            log.warning("%s", error.sentence)
            if visit.has_begun:
                visit.cut()
            else:
                await visit.reply(400, "Bad Request", refusal("invalid_request_error", error.sentence))

    def _is_known(self, head: Head) -> bool:
        given = [_BEARER.sub("", head.field(name), count=1) for name in _KEYS]
        if "?" in head.target:
            given.append(dict(parse_qsl(head.target.partition("?")[2])).get("key", ""))
        return any(hmac.compare_digest(one.encode(), self._token.encode()) for one in given if one)

    async def _ask(self, visit: Visit, dialect: Dialect) -> None:
        request = self._reader.read(dialect, visit.head, plain_body(visit.head, visit.body, visit.take))
        if dialect.purpose(visit.head.path) == "count":
            await self._pass(visit, dialect, self._lines.counting(request))
            return
        held_s = await self._held(visit, request)
        if self._is_over():
            raise AgentGone
        subagent, sending = self._lines.arrive(request, held_s)
        if sending.binds:
            self._commit(sending, subagent)
        await self._exchange(visit, sending, subagent)

    def _commit(self, sending: Sending, subagent: SubagentSession | None) -> None:
        """The journal holds the request."""
        (subagent.own if subagent else self._lines.main).book.commit(sending)
        if subagent is not None:
            subagent.begun()

    # ---- a person's pause

    async def _held(self, visit: Visit, request: AgentRequest) -> float:
        """Wait while the session is paused, in seconds. Raises AgentGone on a stop."""
        clock = asyncio.get_running_loop()
        began = clock.time()
        next_ping = began + FIRST_PING_S
        holders: list[Callable[[bool], None]] = []
        while (holder := self._holder(request)) is not None:
            holder(True)
            holders += [holder] if holder not in holders else []
            if await self._signals.heard(max(0.0, next_ping - clock.time())):
                continue
            await self._ping(visit, request)
            next_ping = clock.time() + PING_S
        if self._inbox.wish == "stop":
            raise AgentGone
        for holder in holders:
            holder(False)
        return clock.time() - began if holders else 0.0

    def _holder(self, request: AgentRequest) -> Callable[[bool], None] | None:
        """Whose pause holds a request, the session's or that of one subagent by itself: what shows that it does."""
        if self._inbox.wish == "pause":
            return self._on_paused
        subagent = self._lines.find(request)
        return subagent.show_pause if subagent is not None and subagent.own.inbox.wish == "pause" else None

    @staticmethod
    async def _ping(visit: Visit, request: AgentRequest) -> None:
        """A sign that the answer will come, in the dialect's own way; an answer in one piece begins with spaces."""
        if not visit.has_begun:
            kind = "text/event-stream" if request.is_stream else "application/json"
            visit.begin(200, "OK", (("Content-Type", kind), ("Cache-Control", "no-cache")), None)
        await visit.write(request.dialect.ping if request.is_stream else b" ")

    # ---- the endpoint

    async def _pass(self, visit: Visit, dialect: Dialect, body: bytes) -> None:
        """Forward what no step is made of."""
        try:
            answer = await self._send(visit, dialect, body).answer()
        except ReportableError as error:
            await visit.reply(503, "Service Unavailable", refusal("api_error", error.sentence))
            return
        try:
            visit.begin(answer.head.status, answer.head.reason, answer.head.passed_on(), answer.head.length)
            async for piece in answer.pieces():
                await visit.write(piece)
            await visit.end()
        except ReportableError as error:
            log.warning("%s", error.sentence)
            visit.cut()
        finally:
            answer.close()

    def _send(self, visit: Visit, dialect: Dialect, body: bytes) -> UpstreamRequest:
        fields = visit.head.passed_on(_DROPPED)
        key: Fields = ((dialect.key_field, dialect.key_prefix + self._key),) if self._key else ()
        return self._upstream.send(visit.head.method, self._target(visit.head, dialect),
                                   (*fields, ("Accept-Encoding", "identity"), *key), body)

    def _target(self, head: Head, dialect: Dialect) -> str:
        """The path at the endpoint. A base address of OpenAI's kind ends with the version already."""
        path, _, query = head.target.partition("?")
        if dialect.keeps_version:
            path = path.removeprefix("/v1")
        if not query:
            return self._upstream.prefix + path
        passed = urlencode([(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name != "key"])
        return f"{self._upstream.prefix}{path}{'?' if passed else ''}{passed}"

    async def _exchange(self, visit: Visit, sending: Sending, subagent: SubagentSession | None) -> None:
        """Forward, pass the answer on as it comes, and hold it in the journal before its end is passed on."""
        way = AnswerWay(visit, sending.request, subagent.tell_text if subagent else self._on_text,
                        lambda heard: self._over(sending, subagent, heard))
        request = self._send(visit, sending.request.dialect, sending.body)
        try:
            if not sending.binds:  # the request is on its way while the journal is written
                self._commit(sending, subagent)
            settle = self._on_step(sending.step) if sending.placement.line.kind == "main" else None
            await way.pass_on(request, settle)
        finally:
            request.close()
            way.close()

    def _over(self, sending: Sending, subagent: SubagentSession | None, ending: Heard) -> None:
        if not sending.is_committed:
            self._commit(sending, subagent)
        (subagent.own if subagent else self._lines.main).book.answered(sending, ending)
        if sending.placement.line.kind != "main" or ending.is_discarded:
            return
        is_good = ending.answer is not None and ending.answer.is_whole
        self._failures = 0 if is_good else self._failures + 1
        self._on_failures(self._failures, ending.problem or f"The endpoint answered {ending.status}.")
