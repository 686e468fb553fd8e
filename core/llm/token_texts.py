"""What each token of an answer adds to its text, for people who look at it. Training never reads it."""

from codecs import getincrementaldecoder
from collections.abc import Callable, Sequence
from typing import Any

Decode = Callable[[Sequence[int]], str]
NOT_WHOLE = "\ufffd"
"""What stands for bytes that are no whole character yet."""


def texts_of_ids(decode: Decode, ids: Sequence[int], known: dict[int, str]) -> list[str]:
    """The texts of tokens, which make the whole answer when joined; [] where this tokenizer cannot be split so.

    `known` keeps texts of single tokens, so that most answers need one call of the tokenizer.
    """
    whole = decode(ids)
    for one in ids:
        if one not in known:
            known[one] = decode([one])
    alone = [known[one] for one in ids]
    if NOT_WHOLE not in whole and "".join(alone) == whole:
        return alone
    grown = _grown(decode, ids)
    return grown if "".join(grown) == whole else []


def _grown(decode: Decode, ids: Sequence[int]) -> list[str]:
    """What the text gains with each token, decoded behind the last whole one, as some tokens read otherwise alone."""
    texts: list[str] = []
    start = ready = 0
    for stop in range(1, len(ids) + 1):
        before, now = decode(ids[start:ready]), decode(ids[start:stop])
        if now.endswith(NOT_WHOLE) and stop < len(ids):
            texts.append("")
            continue
        texts.append(now[len(before) :])
        start, ready = ready, stop
    return texts


def texts_of_entries(entries: Sequence[Any]) -> list[str]:
    """The texts of an endpoint's entries of log-probabilities: their `bytes`, else their `token`; [] where it says
    neither of them all."""
    reader = getincrementaldecoder("utf-8")("replace")
    texts = []
    for one in entries:
        data, token = getattr(one, "bytes", None), getattr(one, "token", None)
        if isinstance(data, list) and all(type(b) is int and 0 <= b < 256 for b in data):
            texts.append(reader.decode(bytes(data)))
        elif isinstance(token, str) and not token.startswith("token_id:"):
            texts.append(token.encode("utf-8", "replace").decode("utf-8"))
        else:
            return []
    return texts
