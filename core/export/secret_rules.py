"""Rules for secrets in the form of gitleaks' configuration (TOML), which many teams keep already: a file that a person
names, read beside the program's own forms.

Read are `rules` with `id`, `regex`, `secretGroup`, `entropy`, `keywords` and `allowlists`, and the global `allowlist`;
rules about paths alone are passed over. Go writes regular expressions otherwise than Python in three places: a flag in
the middle, `\\z`, and classes such as [[:alnum:]].
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from core.domain.errors import InvalidInput
from core.domain.secret_text import SecretSpan

_POSIX = {"alnum": "0-9A-Za-z", "alpha": "A-Za-z", "digit": "0-9", "lower": "a-z", "upper": "A-Z", "space": r"\s",
          "xdigit": "0-9A-Fa-f", "word": r"\w", "punct": r"!-/:-@\[-`{-~"}
_MIDDLE_FLAG = re.compile(r"\(\?([imsx]+)\)")


class Allow(msgspec.Struct, frozen=True, kw_only=True):
    """What is no secret after all: by its form (in the secret, or the whole match) or by a word in it."""

    patterns: tuple[re.Pattern[str], ...] = ()
    words: tuple[str, ...] = ()
    whole: bool = False

    def holds(self, secret: str, match: str) -> bool:
        """Whether the find is allowed."""
        searched = match if self.whole else secret
        return any(p.search(searched) for p in self.patterns) or any(w in secret.lower() for w in self.words)


class SecretRule(msgspec.Struct, frozen=True, kw_only=True):
    """One form of secrets. A text without any of the `keywords` (lower case) is not searched."""

    name: str
    pattern: re.Pattern[str]
    group: int = 0
    entropy: float = 0.0
    keywords: tuple[str, ...] = ()
    allowed: tuple[Allow, ...] = ()

    def find(self, text: str, lower: str) -> Iterator[SecretSpan]:
        """The places of such secrets in a text; `lower` is the same in lower case."""
        if self.keywords and not any(k in lower for k in self.keywords):
            return
        for match in self.pattern.finditer(text):
            group = self.group or (1 if self.pattern.groups and match[1] else 0)
            secret = match[group] or ""
            if secret and entropy(secret) >= self.entropy and not any(a.holds(secret, match[0]) for a in self.allowed):
                yield SecretSpan(match.start(group), match.end(group), self.name)


def read_rules(path: Path) -> list[SecretRule]:
    """The rules of a file. Raises InvalidInput (bad_secret_rules), which names what cannot be read."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        allowed = _allowed([tables.get("allowlist") or {}, *tables.get("allowlists", ())])
        return [_rule(one, allowed) for one in tables.get("rules", ()) if one.get("regex")]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, re.error) as error:
        raise InvalidInput("bad_secret_rules", f"{path} cannot be read as rules for secrets: {error}",
                           path=str(path)) from error


def entropy(text: str) -> float:
    """Shannon's entropy of a text's characters, in bits per character."""
    counts = Counter(text).values()
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts)


def _rule(table: dict[str, Any], allowed: Sequence[Allow]) -> SecretRule:
    try:
        pattern = re.compile(in_python(table["regex"]))
    except re.error as error:
        raise InvalidInput("bad_secret_rules", f"The rule {table['id']} has an expression that cannot be read: {error}"
                           ) from error
    keywords = tuple(k.lower() for k in table.get("keywords", ()))
    return SecretRule(name=str(table["id"]), pattern=pattern, group=int(table.get("secretGroup", 0)), keywords=keywords,
                      entropy=float(table.get("entropy", 0)),
                      allowed=(*_allowed([table.get("allowlist") or {}, *table.get("allowlists", ())]), *allowed))


def _allowed(lists: Sequence[dict[str, Any]]) -> list[Allow]:
    """Lists that also ask for a path (condition AND) say nothing here: a text of a session has none."""
    return [Allow(patterns=tuple(re.compile(in_python(r)) for r in one.get("regexes", ())),
                  words=tuple(w.lower() for w in one.get("stopwords", ())),
                  whole=one.get("regexTarget", "") in ("match", "line"))
            for one in lists if not (one.get("condition") == "AND" and one.get("paths"))]


def in_python(pattern: str) -> str:
    """A regular expression of Go in Python's words."""
    translated = _classes(pattern.replace(r"\z", r"\Z"))
    while (flag := _first_flag(translated)) is not None:
        end = _group_end(translated, flag.end())
        parts = f")|(?{flag[1]}:".join(_alternatives(translated[flag.end() : end]))
        translated = f"{translated[: flag.start()]}(?{flag[1]}:{parts}){translated[end:]}"
    return translated


def _first_flag(pattern: str) -> re.Match[str] | None:
    """A flag that does not stand at the beginning, and not inside a class, where it is none."""
    groups = {at for at, mark, _ in _walk(pattern, 0) if mark == "("}
    return next((m for m in _MIDDLE_FLAG.finditer(pattern) if m.start() > 0 and m.start() in groups), None)


def _classes(pattern: str) -> str:
    """Named classes written out; a bracket inside a class gets its backslash."""
    for name, characters in _POSIX.items():
        pattern = pattern.replace(f"[:{name}:]", characters)
    out, inside = [], False
    for token in re.findall(r"\\.|.", pattern, re.DOTALL):
        out.append("\\[" if inside and token == "[" else token)
        inside = (token == "[" or inside) and token != "]"
    return "".join(out)


def _walk(pattern: str, start: int) -> Iterator[tuple[int, str, int]]:
    """(place, character, depth of groups) from `start` on, without escapes and classes."""
    depth, inside = 0, False
    for token in re.finditer(r"\\.|.", pattern[start:], re.DOTALL):
        mark = token.group()
        inside = (mark == "[" or inside) and mark != "]"
        if not inside and len(mark) == 1:
            depth += (mark == "(") - (mark == ")")
            yield start + token.start(), mark, depth


def _group_end(pattern: str, start: int) -> int:
    return next((at for at, _, depth in _walk(pattern, start) if depth < 0), len(pattern))


def _alternatives(pattern: str) -> list[str]:
    cuts = [at for at, mark, depth in _walk(pattern, 0) if mark == "|" and depth == 0]
    edges = [-1, *cuts, len(pattern)]
    return [pattern[a + 1 : b] for a, b in pairwise(edges)]


def find_by_rules(text: str, rules: Sequence[SecretRule]) -> list[SecretSpan]:
    """What the rules find, without overlaps; an earlier rule names a place that several find."""
    found: list[SecretSpan] = []
    lower = text.lower()
    for rule in rules:
        found += [f for f in rule.find(text, lower) if not any(o.start < f.end and f.start < o.end for o in found)]
    return sorted(found)
