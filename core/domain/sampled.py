"""What a policy sampled, in its own tokens: one answer with the prompt that it was given, and the rows that they make.

A prompt is written as what came behind the end of the answer before it. Where a context is no continuation (a summary
stands for the past, a template tells the past otherwise) the whole prompt is written, and a new row begins.
"""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from core.domain.bounds import INT32, NAME, Factor, Name, Share
from core.domain.bounds import Sequence as Number
from core.domain.errors import InvalidInput

MOST_TOKENS = 4_000_000
"""Tokens of the longest prompt or answer."""

_MOST_CHANCE = 1e-3
"""A log-probability is at most 0, but for what 32 bits make of it."""

MOST_IN_ROWS = 32 << 20
"""Tokens of all rows of a session: an answer of another policy tells the whole past again."""

Packed = Annotated[bytes, Meta(max_length=4 * MOST_TOKENS)]
"""Numbers of 32 bits, little-endian: token ids, or floats."""


class Sampled(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One answer of a policy. `continues`: the prompt goes on behind the end of the session's answer before it.

    `packed_logprobs` are log_softmax(logits / temperature) of the sampled tokens, before `top_p` cuts any off; at
    temperature 0, which takes the best token, log_softmax(logits). `version` is the number of the update that made
    the policy's weights. `texts` is what each token adds to the answer's text, for people ("" for the first tokens of a
    character that several make); () where the policy does not say. Make one with `of`.
    """

    packed_prompt: Packed = b""
    packed_ids: Packed = b""
    packed_logprobs: Packed = b""
    continues: bool = False
    policy: Name = ""
    version: Number = 0
    temperature: Factor = 1.0
    top_p: Share = 1.0
    texts: Annotated[tuple[Name, ...], Meta(max_length=MOST_TOKENS)] = ()

    @classmethod
    def of(cls, *, ids: Sequence[int], logprobs: Sequence[float], prompt_ids: Sequence[int], continues: bool = False,
           policy: str = "", version: int = 0, temperature: float = 1.0, top_p: float = 1.0,
           texts: Sequence[str] = ()) -> Sampled:
        """Raises InvalidInput (bad_sampled) for other numbers of ids and log-probabilities, or impossible ones. Texts
        of which one cannot be stored are left out."""
        if len(ids) != len(logprobs):
            raise _bad(f"{len(ids)} tokens have {len(logprobs)} log-probabilities")
        if texts and len(texts) != len(ids):
            raise _bad(f"{len(ids)} tokens have {len(texts)} texts")
        if not all(math.isfinite(one) and one <= _MOST_CHANCE for one in logprobs):
            raise _bad("a log-probability is above 0 or no number")
        try:
            return cls(packed_prompt=_packed("I", prompt_ids), packed_ids=_packed("I", ids),
                       packed_logprobs=_packed("f", logprobs), continues=continues, policy=policy[:500],
                       version=version, temperature=temperature, top_p=top_p,
                       texts=() if any(len(one) > NAME for one in texts) else tuple(texts))
        except (OverflowError, TypeError) as error:
            raise _bad(f"a token's id is none: {error}") from error

    @property
    def prompt_ids(self) -> list[int]:
        """The prompt: all of it, or what came behind the answer before it."""
        return _numbers("I", self.packed_prompt)

    @property
    def ids(self) -> list[int]:
        """The sampled tokens, with the stop token where the policy gave one."""
        return _numbers("I", self.packed_ids)

    @property
    def logprobs(self) -> list[float]:
        """The log-probability of each sampled token."""
        return _numbers("f", self.packed_logprobs)


class TokenRow(msgspec.Struct, kw_only=True):
    """Tokens of a session that one forward pass goes over. `is_own` says which the policy sampled; `steps` whose answer
    an own token belongs to (0 elsewhere), `versions` which update had made the policy (-1 elsewhere)."""

    ids: list[int] = []
    is_own: list[bool] = []
    logprobs: list[float] = []
    steps: list[int] = []
    versions: list[int] = []
    policy: str = ""
    temperature: float = 1.0
    top_p: float = 1.0

    def add(self, step: int, sampled: Sampled) -> None:
        """Put an answer with what came before it behind the row."""
        prompt, ids = sampled.prompt_ids, sampled.ids
        before, count = len(prompt), len(ids)
        self.ids += prompt + ids
        self.is_own += [False] * before + [True] * count
        self.logprobs += [0.0] * before + sampled.logprobs
        self.steps += [0] * before + [step] * count
        self.versions += [-1] * before + [sampled.version] * count


def token_rows(samples: Iterable[tuple[int, Sampled]]) -> list[TokenRow]:
    """The rows of a session's answers, each given with its step, in the log's order.

    An answer by another policy, or sampled otherwise, begins a row as well: all of a row counts alike.
    """
    rows: list[TokenRow] = []
    before = 0
    for step, one in samples:
        row = _row_for(one, rows[-1] if rows else None)
        if not rows or row is not rows[-1]:
            before += len(rows[-1].ids) if rows else 0
            rows.append(row)
        row.add(step, one)
        if before + len(row.ids) > MOST_IN_ROWS:
            raise _bad(f"they make rows of more than {MOST_IN_ROWS:,} tokens")
    return rows


def _row_for(one: Sampled, last: TokenRow | None) -> TokenRow:
    """The last row where an answer goes on in it, else a new one, with the past that it goes on from."""
    if one.continues and last is None:
        raise _bad("the first answer goes on from none")
    if last is None or not one.continues:
        return TokenRow(policy=one.policy, temperature=one.temperature, top_p=one.top_p)
    if (last.policy, last.temperature, last.top_p) == (one.policy, one.temperature, one.top_p):
        return last
    size = len(last.ids)
    return TokenRow(ids=[*last.ids], is_own=[False] * size, logprobs=[0.0] * size, steps=[0] * size,
                    versions=[-1] * size, policy=one.policy, temperature=one.temperature, top_p=one.top_p)


_DECODER = msgspec.msgpack.Decoder(Sampled)


def encode_sampled(sampled: Sampled) -> bytes:
    """The bytes under which an answer is stored as a blob."""
    return msgspec.msgpack.encode(sampled)


def decode_sampled(data: bytes) -> Sampled:
    """The answer of stored bytes. Raises InvalidInput (bad_sampled) for anything else: whoever wrote the log chose
    these bytes."""
    try:
        sampled = _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise _bad(str(error)) from error
    sizes = {len(sampled.packed_ids), len(sampled.packed_logprobs)}
    if sampled.texts:
        sizes.add(4 * len(sampled.texts))
    if len(sizes) > 1 or any(len(p) % 4 for p in (sampled.packed_prompt, sampled.packed_ids)):
        raise _bad("its lists have other lengths than each other")
    _check_numbers(sampled)
    return sampled


def _check_numbers(sampled: Sampled) -> None:
    """What `of` makes sure of. A sum tells of every number that is none, without a look at each."""
    if any(max(ids, default=0) > INT32 for ids in (sampled.prompt_ids, sampled.ids)):
        raise _bad("a token's id is beyond 31 bits")
    chances = sampled.logprobs
    if not math.isfinite(sum(chances)) or max(chances, default=0.0) > _MOST_CHANCE:
        raise _bad("a log-probability is above 0 or no number")


def _packed(kind: str, numbers: Sequence[int] | Sequence[float]) -> bytes:
    if len(numbers) > MOST_TOKENS:
        raise _bad(f"it has more than {MOST_TOKENS:,} tokens")
    if kind == "I" and any(not 0 <= n <= INT32 for n in numbers):
        raise OverflowError("a number beyond 31 bits")
    held = array(kind, numbers)
    if sys.byteorder == "big":
        held.byteswap()
    return held.tobytes()


def _numbers(kind: str, data: bytes) -> list:  # type: ignore[type-arg]
    held = array(kind)
    held.frombytes(data)
    if sys.byteorder == "big":
        held.byteswap()
    return held.tolist()


def _bad(why: str) -> InvalidInput:
    return InvalidInput("bad_sampled", f"The sampled tokens of a step cannot be used: {why}.")
