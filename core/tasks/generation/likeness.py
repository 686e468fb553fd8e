"""How alike two task texts are: the share of common runs of words (Broder's resemblance), estimated by MinHash.

Numbers count as one word, so that the same task with other numbers is the same task.
"""

from __future__ import annotations

import hashlib
import re

SHINGLE, HASHES = 4, 128
"""Words in a run, and how many minima stand for a text: the estimate errs by about 1/√HASHES."""

_WORD = re.compile(r"[^\W\d_]+|\d+")

Signature = tuple[int, ...]


def signature(text: str) -> Signature:
    """The minima of a text's runs of words; empty for a text of no words."""
    words = ["0" if word.isdigit() else word for word in _WORD.findall(text.casefold())]
    runs = {" ".join(words[n:n + SHINGLE]) for n in range(max(1, len(words) - SHINGLE + 1))} if words else set()
    return _minima(runs) if runs else ()


def resemblance(one: Signature, other: Signature) -> float:
    """The estimated share, 0 to 1, of runs that both have among those that either has."""
    if not one or not other:
        return float(one == other)
    return sum(a == b for a, b in zip(one, other, strict=True)) / HASHES


def _minima(runs: set[str]) -> Signature:
    """For each of HASHES functions (a·x + b modulo a prime, from one digest) the least value over all runs."""
    prime = (1 << 61) - 1
    values = [int.from_bytes(hashlib.blake2b(run.encode(), digest_size=8).digest()) for run in runs]
    return tuple(min((a * value + b) % prime for value in values) for a, b in _FACTORS)


def _factors() -> list[tuple[int, int]]:
    numbers = [int.from_bytes(hashlib.blake2b(b"%d" % n, digest_size=8).digest()) >> 4 for n in range(2 * HASHES)]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


_FACTORS = _factors()
