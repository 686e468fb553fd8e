"""From a text with known spans to token ids and a mask, exactly.

The ids are those of the whole text wherever an action begins and ends between two tokens of it. Where a token
would straddle that line (a template ends its prompt with a line feed, the action begins with one, and the
tokenizer has a token for two), the text is cut there and the pieces are tokenized apart: so did the server,
which gave the model the prompt's tokens and took the answer's.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec

from core.export.spans import Span
from core.workers.export import ExportRefusal

Pair = tuple[int, int]


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """Ids, their mask (1: loss), their places in the text, and how many cuts were not token boundaries."""

    ids: list[int]
    mask: list[int]
    offsets: list[Pair]
    seams: int = 0


class Tokenizer:
    """A fast tokenizer of transformers with what it takes to cut exactly. `stops` are the stop tokens' texts."""

    def __init__(self, tokenizer: Any, stop_ids: Sequence[int]) -> None:
        self._tokenizer = tokenizer
        added = tokenizer.added_tokens_decoder
        self.control = sorted({t.content for t in added.values() if t.special} | set(tokenizer.all_special_tokens))
        self.stops = [str(tokenizer.convert_ids_to_tokens(i)) for i in stop_ids]
        self._added = set(added)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids, nothing skipped and nothing tidied."""
        text = self._tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return str(text)

    def encode(self, text: str) -> tuple[list[int], list[Pair]]:
        """Ids and places of a text that holds its control tokens already."""
        encoding = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return list(encoding["input_ids"]), [(int(a), int(b)) for a, b in encoding["offset_mapping"]]

    def split(self, text: str, spans: Sequence[Span]) -> tuple[Tokens, list[ExportRefusal]]:
        """The tokens of a text; trained spans that cannot be cut exactly lose their loss and are named."""
        ids, offsets = self.encode(text)
        seams = [c for c in self._cuts(spans) if not self._is_boundary(text, ids, offsets, c)]
        refused: list[ExportRefusal] = []
        if seams:
            pieces = self._pieces(text, seams)
            if self.decode(pieces[0]) == text:
                ids, offsets = pieces
            else:
                spans, refused = self._without(spans, seams)
        mask = mask_of(offsets, [s for s in spans if s.trained])
        refused += [_without_tokens(s) for s in spans if s.holes and not any(mask_of(offsets, [s]))]
        return Tokens(ids=ids, mask=mask, offsets=offsets, seams=len(seams)), refused

    def _cuts(self, spans: Sequence[Span]) -> list[int]:
        return sorted({c for s in spans if s.trained for c in (s.start, s.end)})

    def _is_boundary(self, text: str, ids: list[int], offsets: list[Pair], cut: int) -> bool:
        """Whether the tokens before `cut` are those that the text up to it has alone."""
        at = bisect_left(offsets, cut, key=lambda o: o[0])
        if at and offsets[at - 1][1] > cut:
            return False
        if cut < len(text) and (at == len(ids) or offsets[at][0] != cut):
            return False
        back = at - 1
        while back > 0 and ids[back] not in self._added:  # a control token ends what may influence the split
            back -= 1
        if back < 0:
            return True
        alone, _ = self.encode(text[offsets[back][0] : cut])
        return alone == ids[back:at]

    def _pieces(self, text: str, cuts: Sequence[int]) -> tuple[list[int], list[Pair]]:
        ids: list[int] = []
        offsets: list[Pair] = []
        edges = [0, *cuts, len(text)]
        for start, stop in pairwise(edges):
            piece, places = self.encode(text[start:stop])
            ids += piece
            offsets += [(a + start, b + start) for a, b in places]
        return ids, offsets

    def _without(self, spans: Sequence[Span], seams: Sequence[int]) -> tuple[list[Span], list[ExportRefusal]]:
        lost = [s for s in spans if s.trained and (s.start in seams or s.end in seams)]
        sentence = "The action begins or ends inside a token, and this tokenizer cannot cut there."
        refused = [ExportRefusal(code="inside_a_token", sentence=sentence, message=s.message) for s in lost]
        return [s for s in spans if s not in lost], refused


def mask_of(offsets: Sequence[Pair], spans: Sequence[Span]) -> list[int]:
    """1 for each token that lies in a span and touches none of its holes. Tokens of part of a character share that
    character's place."""
    mask = [0] * len(offsets)
    for span in spans:
        first = bisect_left(offsets, span.start, key=lambda o: o[0])
        last = bisect_left(offsets, span.end, key=lambda o: o[0])
        for at in range(first, last):
            mask[at] = int(not any(a < offsets[at][1] and offsets[at][0] < b for a, b in span.holes))
    return mask


def _without_tokens(span: Span) -> ExportRefusal:
    sentence = "Each token of the actions that are kept also holds part of one that is masked."
    return ExportRefusal(code="inside_a_token", sentence=sentence, message=span.message)
