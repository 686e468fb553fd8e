"""What the server answers to plain HTTP, before any WebSocket: health, metrics, and who opens an invitation.

The rules for names and web pages hold here as for every handshake: a page of a browser learns nothing, not even that
there is a server. The pages of health need no token, so they say a word and nothing else.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING

import msgspec
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from core.client.invitation import CODE, OWN_TOKEN
from core.domain.errors import Denied, InvalidInput, ReportableError, Unavailable
from core.server.counts import Pulse
from core.server.gate import Gate
from core.server.hub import Hub
from core.server.metrics import CONTENT_TYPE, page
from core.store import identities, invitations
from core.store.home import Home

if TYPE_CHECKING:
    from core.server.certificate import CertificateFiles
    from core.server.id_tokens import IdTokens
    from core.store.accounts import Principal

_log = logging.getLogger("wire")

LEAST_ROOM = 64 * 1024 * 1024
"""Bytes that must be free on the disk of the log: with less the next blob may be refused."""

COMMIT_S = 5.0
"""How long an empty COMMIT may take."""


class HttpPages:
    """Answers handshakes: a page, a refusal, or None where a WebSocket may begin."""

    def __init__(self, hub: Hub, gate: Gate, home: Home, pulse: Pulse, certificate: CertificateFiles | None,
                 id_tokens: IdTokens | None) -> None:
        self._id_tokens = id_tokens
        self._hub, self._gate, self._home, self._pulse, self._certificate = hub, gate, home, pulse, certificate

    async def answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """The page or the refusal, or None."""
        refusal = self._gate.refuse_place(connection, request)
        path = request.path.partition("?")[0]
        if refusal is not None or path not in _PAGES:
            return refusal or self._gate.refuse_token(connection, request)
        self._hub.counts.pages[path] += 1
        response = await _PAGES[path](self, connection, request)
        response.headers["Cache-Control"] = "no-store"
        return response

    async def _alive(self, connection: ServerConnection, _: Request) -> Response:
        return connection.respond(HTTPStatus.OK, "ok\n")

    async def _ready(self, connection: ServerConnection, _: Request) -> Response:
        problem = await self.problem()
        if problem:
            return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, problem + "\n")
        return connection.respond(HTTPStatus.OK, "ready\n")

    async def problem(self) -> str:
        """Why nothing can be stored now, in a word: disk_full, store_slow, or the code of what the disk says."""
        try:
            if shutil.disk_usage(self._home.path).free < LEAST_ROOM:
                return "disk_full"
            async with asyncio.timeout(COMMIT_S):
                await self._hub.store(lambda conn: conn.execute("SELECT 1").fetchone())
        except TimeoutError:
            return "store_slow"
        except ReportableError as error:
            return error.code
        except OSError:
            return "store_unavailable"
        return ""

    async def _metrics(self, connection: ServerConnection, request: Request) -> Response:
        refusal = self._gate.refuse_token(connection, request)
        if refusal is not None:
            return refusal
        try:
            self._gate.holder(request)[0].require("metrics")
        except Denied as error:
            self._hub.counts.refusals[error.code] += 1
            return connection.respond(HTTPStatus.FORBIDDEN, error.sentence + "\n")
        until = self._certificate.until if self._certificate else None
        response = connection.respond(HTTPStatus.OK, page(self._hub, self._home, self._pulse, until))
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = CONTENT_TYPE
        return response

    async def _invitation(self, connection: ServerConnection, request: Request) -> Response:
        """Exchanges a one-time token, which stands where a token does, for the token in the header beside it."""
        async def exchange(secret: str, given: str) -> Principal:
            return await self._hub.store(lambda conn: invitations.exchange(conn, secret, given))

        return await self._joined(connection, request, exchange, "%s (%s) accepted an invitation from %s")

    async def _log_in(self, connection: ServerConnection, _: Request) -> Response:
        """By whom people may log in: no secret, as each of them has to know it."""
        if self._id_tokens is None:
            return connection.respond(HTTPStatus.NOT_FOUND, "This server has no log-in but invitations and tokens.\n")
        return connection.respond(HTTPStatus.OK, msgspec.json.encode(self._id_tokens.rules.offer).decode())

    async def _log_in_token(self, connection: ServerConnection, request: Request) -> Response:
        """Exchanges an ID token of the lab's provider in the same way."""
        judge = self._id_tokens
        if judge is None:
            return await self._log_in(connection, request)

        async def exchange(secret: str, given: str) -> Principal:
            who = await judge.whose(secret)
            return await self._hub.store(lambda conn: identities.log_in(conn, who, secret, given, judge.rules.until))

        return await self._joined(connection, request, exchange, "%s (%s) logged in from %s")

    async def _log_in_answer(self, connection: ServerConnection, request: Request) -> Response:
        """Whether the person of a code, which stands where a token does, has agreed at the provider by now."""
        return await self._log_in_code(connection, request, _secret(request))

    async def _log_in_code(self, connection: ServerConnection, request: Request, code: str | None = None) -> Response:
        """Has the provider give a code to somebody who begins, where it wants the secret that only this server has."""
        judge = self._id_tokens
        if judge is None:
            return await self._log_in(connection, request)
        try:
            if code is None:
                self._gate.require_patience(connection, request)
            return _as_json(connection, await judge.ask_provider(code))
        except InvalidInput as error:  # the administrator's concern: strangers are not told of files and places
            _log.error("nobody can log in [%s]: %s", error.code, error.sentence)
            return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "The lab's provider cannot be asked now.\n")
        except ReportableError as error:
            return self._refusal(connection, request, error)

    async def _joined(self, connection: ServerConnection, request: Request,
                      exchange: Callable[[str, str], Awaitable[Principal]], line: str) -> Response:
        try:
            joined = await exchange(_secret(request), request.headers.get(OWN_TOKEN, ""))
        except ReportableError as error:
            return self._refusal(connection, request, error)
        _log.info(line, joined.name, " ".join(joined.scopes), self._gate.address(connection, request))
        return _as_json(connection, {"name": joined.name, "scopes": joined.scopes})

    def _refusal(self, connection: ServerConnection, request: Request, error: ReportableError) -> Response:
        if isinstance(error, Unavailable):
            return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, error.sentence + "\n")
        response = self._gate.refuse(connection, request, error, HTTPStatus.FORBIDDEN)
        response.headers[CODE] = error.code
        return response


def _secret(request: Request) -> str:
    kind, _, secret = request.headers.get("Authorization", "").partition(" ")
    return secret if kind.lower() == "bearer" else ""


def _as_json(connection: ServerConnection, answer: Mapping[str, object]) -> Response:
    return connection.respond(HTTPStatus.OK, msgspec.json.encode(answer).decode())


_PAGES = {"/healthz": HttpPages._alive, "/readyz": HttpPages._ready, "/metrics": HttpPages._metrics,
          "/invitation": HttpPages._invitation, "/log-in": HttpPages._log_in, "/log-in/token": HttpPages._log_in_token,
          "/log-in/code": HttpPages._log_in_code, "/log-in/answer": HttpPages._log_in_answer}
