"""Judging the ID tokens of the lab's OpenID Connect provider, and what their holders may do here.

Each refusal has a code of its own. A signature counts under the algorithms of its key's kind alone: what claims `none`,
or takes a public key for a shared secret, is refused before any key is looked at (RFC 8725, 3.1).
"""

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import jwt
import msgspec

from core.client.device_login import LogInOffer
from core.client.issuer import ask, checked_place, discover
from core.domain.errors import Denied, InvalidInput, ProtocolMismatch, ReportableError
from core.server.confidential_client import ConfidentialClient, read_secret
from core.store.accounts import ROLES
from core.store.identities import Identity

ALGORITHMS = {"RSA": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), "EC": ("ES256", "ES384", "ES512"),
              "OKP": ("EdDSA",)}
"""By the kind of the key; all of them asymmetric."""

LEEWAY_S = 60.0
"""How much clocks may differ."""

FRESH_S = 900.0
"""An ID token that was issued longer ago logs nobody in: it is for now."""

KEYS_EVERY_S = 60.0
"""Keys are asked for again at most so often, whatever key a token names."""

FAILED_EVERY_S = 5.0
"""A provider that gave no keys is asked again after so long."""

JUDGES = 2
"""Threads that may wait for the provider; they are their own, so that nothing else of a server waits with them."""

EVERYBODY = "*"
"""In place of a group: whoever the provider knows."""


class LogInRules(msgspec.Struct, frozen=True, kw_only=True):
    """Who logs people in and what they may do: `name` and `groups` are claims, `roles` pairs of a group and
    a role, of which the first that fits counts; `hours` is for how long a log-in is good; `secret_file` holds the
    client's secret, "" where it has none."""

    issuer: str
    client: str
    scope: str
    name: str
    groups: str
    roles: tuple[tuple[str, str], ...]
    hours: float
    secret_file: str = ""

    @property
    def offer(self) -> LogInOffer:
        """What whoever connects has to know."""
        return LogInOffer(issuer=self.issuer, client=self.client, scope=self.scope, by_server=bool(self.secret_file))

    @property
    def until(self) -> datetime:
        """When a log-in of now ends."""
        return datetime.now(UTC) + timedelta(hours=self.hours)


def rules_of(issuer: str, client: str, scope: str, name: str, groups: str, roles: tuple[str, ...], hours: float,
             secret_file: str = "") -> LogInRules:
    """The rules of the settings. Raises InvalidInput (bad_issuer, bad_role_rule, bad_client_secret)."""
    checked_place(issuer, "oidc_issuer")
    if not client or "openid" not in scope.split():
        raise InvalidInput("bad_issuer", "oidc_issuer needs oidc_client, and openid in oidc_scope.", url=issuer)
    pairs = tuple((group.strip(), role.strip()) for group, _, role in (line.rpartition("=") for line in roles))
    for group, role in pairs:
        if not group or role not in ROLES:
            raise InvalidInput("bad_role_rule", f"oidc_roles: {group}={role} is not GROUP=ROLE, with a role of "
                               f"{', '.join(ROLES)}.", rule=f"{group}={role}")
    if secret_file:
        read_secret(Path(secret_file))
    return LogInRules(issuer=issuer, client=client, scope=scope, name=name, groups=groups, roles=pairs, hours=hours,
                      secret_file=secret_file)


class IdTokens:
    """Judges tokens. `identity` waits for the network; `whose` is for the event loop."""

    def __init__(self, rules: LogInRules) -> None:
        self.rules = rules
        self._keys: list[jwt.PyJWK] = []
        self._failure: ReportableError | None = None
        self._ask_again_at = float("-inf")
        self._lock = Lock()
        self._threads = ThreadPoolExecutor(JUDGES, "log-in")
        self._client = ConfidentialClient(rules.offer, Path(rules.secret_file)) if rules.secret_file else None

    async def whose(self, token: str) -> Identity:
        """`identity`, off the event loop. Raises as that does."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self.identity, token)

    async def ask_provider(self, device_code: str | None) -> dict[str, Any]:
        """What the provider says to this server, off the event loop: a new code, or how it went with one.

        Raises ProtocolMismatch (no_log_in) where desktops ask it themselves, and as ConfidentialClient does."""
        client = self._client
        if client is None:
            raise ProtocolMismatch("no_log_in", "This server does not ask the provider for others.")
        ask_for = client.code if device_code is None else partial(client.answer, device_code)
        return await asyncio.get_running_loop().run_in_executor(self._threads, ask_for)

    def identity(self, token: str) -> Identity:
        """Whom a token is about. Raises Denied (id_token_…, login_no_role), Unavailable (issuer_away)."""
        claims = self._claims(token)
        name = claims.get(self.rules.name)
        if not isinstance(name, str) or not name.strip():
            raise Denied("id_token_incomplete", f"The ID token names nobody: it lacks {self.rules.name}.",
                         why=self.rules.name)
        return Identity(subject=f"{claims['iss']} {claims['sub']}", name=name.strip(),
                        scopes=self._scopes(name, claims))

    def _claims(self, token: str) -> dict[str, Any]:
        try:
            header = jwt.get_unverified_header(token)
            key, algorithms = self._key_of(header)
            claims = jwt.decode(token, key.key, algorithms=list(algorithms), audience=self.rules.client,
                                issuer=self.rules.issuer, leeway=LEEWAY_S,
                                options={"require": ["iss", "sub", "aud", "exp", "iat"]})
        except (jwt.PyJWTError, ValueError, OverflowError, RecursionError) as error:
            raise _refusal(error) from error
        if claims.get("azp", self.rules.client) != self.rules.client or (
                isinstance(claims["aud"], list) and len(claims["aud"]) > 1 and "azp" not in claims):
            raise Denied("id_token_audience", "The ID token was made for another program.", why="azp")
        if int(claims["iat"]) < time.time() - FRESH_S - LEEWAY_S:
            raise Denied("id_token_old", "The ID token was issued too long ago: log in again.")
        return dict(claims)

    def _key_of(self, header: Mapping[str, Any]) -> tuple[jwt.PyJWK, tuple[str, ...]]:
        """The key that a token names, and under which algorithms it counts."""
        if not any(header.get("alg") in names for names in ALGORITHMS.values()):
            raise jwt.InvalidAlgorithmError(f"{str(header.get('alg'))[:20]!r} is not accepted")
        with self._lock:
            key = self._known(header)
            if key is None and time.monotonic() >= self._ask_again_at:
                self._fetch()
                key = self._known(header)
        if key is None and self._failure is not None:
            raise self._failure
        if key is None:
            raise Denied("id_token_key", f"The ID token is signed with a key that {self.rules.issuer} does not name.")
        return key, ALGORITHMS[key.key_type or ""]

    def _known(self, header: Mapping[str, Any]) -> jwt.PyJWK | None:
        named = [key for key in self._keys if key.key_id == header.get("kid")] if "kid" in header else self._keys
        return named[0] if len(named) == 1 else None

    def _fetch(self) -> None:
        """Raises Unavailable (issuer_away), InvalidInput (bad_issuer)."""
        try:
            found = ask(discover(self.rules.issuer).jwks_uri).get("keys")
        except ReportableError as error:  # whoever waits behind this one is not to wait as long again
            self._failure, self._ask_again_at = error, time.monotonic() + FAILED_EVERY_S
            raise
        self._keys = [key for one in (found if isinstance(found, list) else []) if (key := _signing_key(one))]
        self._failure, self._ask_again_at = None, time.monotonic() + KEYS_EVERY_S

    def _scopes(self, name: str, claims: Mapping[str, Any]) -> tuple[str, ...]:
        found = claims.get(self.rules.groups, [])
        groups = {found} if isinstance(found, str) else {g for g in found if isinstance(g, str)} \
            if isinstance(found, list) else set()
        for group, role in self.rules.roles:
            if group == EVERYBODY or group in groups:
                return ROLES[role]
        raise Denied("login_no_role", f"{name} is in no group that may work on this server.", name=name)


def _signing_key(one: object) -> jwt.PyJWK | None:
    """A key that signs; None for others, and of kinds that are not accepted."""
    if not isinstance(one, dict) or not isinstance(one.get("kty"), str) or one["kty"] not in ALGORITHMS or (
            one.get("use", "sig") != "sig"):
        return None
    try:
        return jwt.PyJWK(one)
    except (jwt.PyJWTError, TypeError, ValueError):  # a field of another type than the standard's
        return None


def _refusal(error: Exception) -> Denied:
    """What is wrong with a token, by a code of its own."""
    match error:
        case jwt.ExpiredSignatureError():
            return Denied("id_token_expired", "The ID token has expired: log in again.")
        case jwt.ImmatureSignatureError():
            return Denied("id_token_early", "The ID token is not valid yet: the clocks differ.")
        case jwt.InvalidIssuerError():
            return Denied("id_token_issuer", f"The ID token is of another issuer: {error}")
        case jwt.InvalidAudienceError():
            return Denied("id_token_audience", "The ID token was made for another program.")
        case jwt.MissingRequiredClaimError():
            return Denied("id_token_incomplete", f"The ID token lacks a claim: {error}")
        case jwt.InvalidAlgorithmError():
            return Denied("id_token_algorithm", f"The ID token is signed in a way that is not accepted: {error}")
        case jwt.InvalidSignatureError():
            return Denied("id_token_signature", "The signature of the ID token is none of the provider's.")
    return Denied("id_token_bad", f"The ID token cannot be read: {error}")
