"""A chore: one thing to be done in a task's folder, with its files, its truth, and the tests of beginning and end."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

import msgspec


class Chore(msgspec.Struct, frozen=True, kw_only=True):
    """Paths lie in the task's folder. `solve` are lines of bash, `final` lines of Python that assert, with `expected`
    at hand; `outputs` are the files that come of it."""

    category: str
    text: str
    files: Mapping[str, bytes]
    solve: str
    final: str
    outputs: Sequence[str]
    expected: object = None


Template = Callable[[random.Random], Chore]

PEOPLE = ("ada", "boris", "chen", "dana", "emil", "farah", "goran", "hana", "ines", "jonas", "kofi", "lena")
CITIES = ("Oslo", "Lima", "Accra", "Kyoto", "Turin", "Quito", "Perth", "Cairo", "Delhi", "Porto")
GOODS = ("bolts", "cables", "lamps", "gloves", "filters", "pumps", "valves", "sensors", "brackets", "fuses")
SERVICES = ("auth", "billing", "search", "mailer", "gateway", "storage", "indexer", "reports")


def lines(rows: Sequence[str]) -> bytes:
    """Rows as a text file."""
    return "".join(f"{row}\n" for row in rows).encode()


def some(rng: random.Random, words: Sequence[str], least: int, most: int) -> list[str]:
    """A few different words in a random order."""
    return rng.sample(list(words), rng.randint(least, most))
