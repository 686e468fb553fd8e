"""A step's answer in the tokens that its policy sampled, each on a ground that says how probable it was."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import pairwise, zip_longest
from math import exp

from PySide6.QtCore import QLocale

from app.desk.fetches import Fetch
from app.desk.in_sight import InSight
from app.kit import quantities
from app.kit.i18n import translate
from app.kit.long_text import NEW_LINE, Part
from app.kit.safe_text import one_line, visible
from core.domain.sampled import Sampled


class SampledBlob:
    """The tokens of the step that is looked at; `changed` is called when they came, or cannot come."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self.name = ""
        self._data = b""
        self._is_absent = False
        self._fetch: Fetch | None = None

    def look_at(self, name: str) -> None:
        """Another step is looked at, whose payload has this name; "" for none."""
        if self._fetch is not None:
            self._fetch.cancel()
        self.name, self._data, self._is_absent, self._fetch = name, b"", False, None

    def read(self, sight: InSight) -> bytes:
        """The payload; b"" while it is not here, and then it is asked for."""
        if self.name and not self._data and self._fetch is None:
            self._fetch = sight.holder(self.name).body(self.name, self._take, self._miss)
        return self._data

    def words(self) -> str:
        """What stands below the text while no token is chosen."""
        if not self.name:
            return translate("SampledParts", "This step has no sampled tokens.")
        if self._is_absent:
            return translate("SampledParts", "The server does not hold this step's sampled tokens.")
        if not self._data:
            return translate("SampledParts", "The sampled tokens are fetched from the server…")
        return translate("SampledParts", "Point at a token, or move the text cursor to it.")

    def _take(self, data: bytes) -> None:
        is_late = self._fetch is not None
        self._data = data
        if is_late:
            self._changed()

    def _miss(self) -> None:
        self._is_absent = True
        self._changed()


CHANCES = (0.01, 0.1, 0.5, 0.9)
"""Where one ground ends and the next begins."""

SHADES = ("chance_slight", "chance_rare", "chance_open", "chance_likely", "")
"""The grounds, from the least probable tokens to those that were all but certain."""


def sampled_parts(sampled: Sampled) -> list[Part]:
    """A heading, who sampled how, the grounds in words, and the answer. Tokens without a text stand as ‹ID›."""
    ids, logprobs = sampled.ids, sampled.logprobs
    title = translate("SampledParts", "Sampled tokens: {n}").format(n=quantities.number(len(ids)))
    policy = policy_words(sampled)
    parts = [Part(text=title + "\n", style="heading"), Part(text=policy + "\n", style="meta"), *_legend()]
    if ids and not sampled.texts:
        words = translate("SampledParts", "The policy gave no texts of its tokens: these are their ids.")
        parts.append(Part(text=words + "\n", style="meta"))
    for id, logprob, text in zip_longest(ids, logprobs, sampled.texts, fillvalue=""):
        parts.append(_token(int(id), float(logprob), str(text), policy))
    return [*parts, Part(text="\n\n", style="mono")]


def policy_words(sampled: Sampled) -> str:
    """Policy, version, temperature and top_p in one line."""
    sentence = translate("SampledParts", "{policy}, version {version} · temperature {heat}")
    words = sentence.format(policy=one_line(sampled.policy, 80), version=quantities.number(sampled.version),
                            heat=f"{sampled.temperature:g}")
    return words if sampled.top_p >= 1 else f"{words} · top_p {sampled.top_p:g}"


def chance(logprob: float) -> str:
    """A log-probability as a share: 87.3 %."""
    share = 100 * min(1.0, exp(logprob))
    return f"{QLocale().toString(share, 'f', 1) if share >= 0.1 else '< ' + QLocale().toString(0.1, 'f', 1)} %"


def _token(id: int, logprob: float, text: str, policy: str) -> Part:
    shade = SHADES[bisect_right(CHANCES, exp(logprob))]
    shown = text.replace("\n", f"{NEW_LINE}\n") or f"‹{id}›"
    sentence = translate("SampledParts", "“{text}” · token {id} · {chance} (log {log}) · {policy}")
    hint = sentence.format(text=visible(text or shown).replace("\n", NEW_LINE)[:60], id=id, policy=policy,
                           chance=chance(logprob), log=QLocale().toString(logprob, "f", 3))
    return Part(text=shown, style="doubted" if shade == SHADES[0] else "mono", shade=shade, hint=hint, escapes=True)


def _legend() -> Iterator[Part]:
    """What the grounds mean, on themselves."""
    bounds = [f"{100 * one:g}" for one in CHANCES]
    words = (f"< {bounds[0]} %", *(f"{a}–{b} %" for a, b in pairwise(bounds)), f"≥ {bounds[-1]} %")
    yield Part(text=translate("SampledParts", "Probability:") + "  ", style="meta")
    for word, shade in zip(words, SHADES, strict=True):
        yield Part(text=f" {word} ", style="doubted" if shade == SHADES[0] else "mono", shade=shade)
        yield Part(text="  ", style="mono")
    yield Part(text="\n\n", style="mono")
