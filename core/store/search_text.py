"""Text on its way into the search index and out of it: CJK characters apart, safe queries, plain snippets.

The index's tokenizer takes a run of Chinese for one word; with a space around each character, a phrase of two
characters finds a word of two characters (a trigram index would not: it starts at three).
"""

import re
import unicodedata

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_CJK_ONE = re.compile(f"[{_CJK}]")
_PIECE = re.compile(r'"([^"]*)"|([^\s"]+)')
_TOKEN = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_CONTROL = dict.fromkeys([*range(32), *range(127, 160), 8232, 8233], " ")

MAX_QUERY = 400
"""Characters of a query that are looked at."""
_MAX_PIECES = 24
_LEAD, _LENGTH = 48, 200


def spaced(text: str) -> str:
    """The text as the index takes it."""
    return _CJK_ONE.sub(lambda m: f" {m[0]} ", text.replace("\0", " "))


def pieces(words: str) -> list[list[str]]:
    """What a person searches for, as phrases of tokens: each word, or what stands in double quotes, is one."""
    found = [_TOKEN.findall(folded(_sound(quoted or bare))) for quoted, bare in _PIECE.findall(words[:MAX_QUERY])]
    return [tokens for tokens in found if tokens][:_MAX_PIECES]


def match_query(phrases: list[list[str]]) -> str:
    """An FTS5 query for all phrases; the last token of each may go on ("err" finds "error"). Holds no syntax."""
    return " AND ".join(f'"{" ".join(tokens)}"*' for tokens in phrases)


def head_and_tail(text: str, limit: int) -> str:
    """At most `limit` characters: the beginning and the end of a long text."""
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]}\n…\n{text[-(limit // 2) :]}"


def snippet(text: str, phrases: list[list[str]], exact: str = "") -> tuple[str, tuple[tuple[int, int], ...]]:
    """About 200 plain characters around the first match, and where in them matches stand (start, stop).

    Matches are those of the phrases, or this very text where one is given.
    """
    plain, pattern = (text, re.compile(re.escape(exact), re.IGNORECASE)) if exact else (folded(text), _pattern(phrases))
    first = pattern.search(plain) if pattern else None
    start = max(0, first.start() - _LEAD) if first else 0
    stop = min(len(text), start + _LENGTH)
    lead, tail = "…" if start else "", "…" if stop < len(text) else ""
    found = pattern.finditer(plain, start, stop) if pattern else ()
    spans = tuple((m.start() - start + len(lead), m.end() - start + len(lead)) for m in found)
    return lead + text[start:stop].translate(_CONTROL) + tail, spans


def folded(text: str) -> str:
    """The text without accents, character for character: offsets stay."""
    table = {ord(c): _base(c) for c in set(text) if c > "\x7f"}
    return text.translate(table) if table else text


def _base(char: str) -> str:
    parts = unicodedata.normalize("NFD", char)
    return parts[0] if len(parts) > 1 and all(map(unicodedata.combining, parts[1:])) else char


def _pattern(phrases: list[list[str]]) -> re.Pattern[str] | None:
    if not phrases:
        return None
    return re.compile("|".join(map(_phrase_pattern, phrases)), re.IGNORECASE)


def _phrase_pattern(tokens: list[str]) -> str:
    start = "" if _CJK_ONE.match(tokens[0]) else rf"(?<![^\W_{_CJK}])"
    end = "" if _CJK_ONE.match(tokens[-1]) else rf"[^\W_{_CJK}]*"
    return start + r"[\W_]{0,16}".join(map(re.escape, tokens)) + end


def _sound(text: str) -> str:
    """The text without lone surrogates, which SQLite does not take."""
    return text.encode("utf-8", "replace").decode()
