"""Hits of several searches as one list, and how each is written: this computer's indexes and other servers' logs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QLocale

from app.desk.session_key import key_of
from app.kit import quantities
from app.kit.entries import TwoLines
from app.kit.i18n import translate
from app.kit.safe_text import one_line
from core.domain.hit import Hit
from core.domain.ids import is_id

_MAX_REF = 200
"""Servers cut longer references."""

_MAX_SNIPPET = 1_000
_MAX_NUMBER = 2**31 - 1

_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


class ServerReply(msgspec.Struct, frozen=True, kw_only=True):
    """What came of asking a server: `state` is asking, answered, or the code of why there is no answer."""

    state: str = "asking"
    hits: tuple[Hit, ...] = ()
    more: bool = False
    behind: int = 0


def sound(hits: Sequence[Hit], server: str, limit: int) -> tuple[Hit, ...]:
    """A server's hits under the window's names of the sessions, without what no honest server says."""
    return tuple(_cut(hit, server) for hit in hits[:limit] if is_id(hit.session) and 0 < hit.seq <= _MAX_NUMBER
                 and (hit.step is None or 0 < hit.step <= _MAX_NUMBER))


def _cut(hit: Hit, server: str) -> Hit:
    snippet = hit.snippet[:_MAX_SNIPPET]
    matches = tuple((a, b) for a, b in hit.matches[:_MAX_SNIPPET] if 0 <= a < b <= len(snippet))
    return msgspec.structs.replace(hit, session=key_of(hit.session, server), ref=hit.ref[:_MAX_REF], snippet=snippet,
                                   matches=matches)


class Merged:
    """Hits in the order in which they came; a place that several searches found stands in it once.

    The title of a step whose body is not here gives its row to what a server found in the body.
    """

    def __init__(self) -> None:
        self.hits: list[Hit] = []
        self._known: set[tuple[object, ...]] = set()
        self._titles: dict[tuple[str, int], int] = {}
        self._whole: set[tuple[str, int]] = set()

    def add(self, hits: Sequence[Hit]) -> None:
        """Take in what a search found."""
        times: Counter[tuple[object, ...]] = Counter()
        for hit in hits:
            place = (hit.session, hit.seq, hit.where, hit.ref[:_MAX_REF])
            times[place] += 1
            if (name := (*place, times[place])) not in self._known:
                self._known.add(name)
                self._put(hit, (hit.session, hit.seq))

    def _put(self, hit: Hit, event: tuple[str, int]) -> None:
        if hit.where == "title":
            if event not in self._whole:
                self._titles[event] = len(self.hits)
                self.hits.append(hit)
            return
        self._whole.add(event)
        row = self._titles.pop(event, None)
        if row is None:
            self.hits.append(hit)
        else:
            self.hits[row] = hit


def lines(hit: Hit, title: str, server: str) -> TwoLines:
    """How a hit is drawn; `server` is the name of the session's server, "" where that is this computer."""
    where = where_word(hit.where)
    if hit.step is not None:
        where = translate("Find", "step {n}").format(n=quantities.number(hit.step)) + " · " + where
    if server:
        where = f"@ {one_line(server, 24)} · {where}"
    # one hidden character becomes one visible sign: the places of the matches stay
    return TwoLines(title=one_line(title or hit.session.partition("@")[0], 80), below=_HIDDEN.sub("␣", hit.snippet),
                    right=where, spans=hit.matches)


def where_word(where: str) -> str:
    """The word for the place of a hit."""
    return {
        "title": translate("Find", "title"),
        "thought": translate("Find", "thought"),
        "action": translate("Find", "action"),
        "output": translate("Find", "output"),
        "summary": translate("Find", "summary"),
        "guidance": translate("Find", "guidance"),
        "note": translate("Find", "remark"),
    }.get(where, where)


def servers_in_words(replies: Sequence[tuple[str, ServerReply]]) -> str:
    """Which servers (by name) are still asked, did not answer and why, or have not read all of their logs yet."""
    named: dict[str, list[str]] = {}
    for name, reply in replies:
        if reply.state != "answered":
            named.setdefault(reply.state, []).append(one_line(name, 24))
    sentences = [_why(state).format(servers=QLocale().createSeparatedList(names)) for state, names in named.items()]
    for name, reply in replies:
        if reply.more and not reply.hits:
            partly = translate("Find", "{server} looked for parts of words in its newest texts only.")
            sentences.append(partly.format(server=one_line(name, 24)))
        if reply.behind:
            reads = translate("Find", "{server} has yet to read {n} of its events.")
            sentences.append(reads.format(server=one_line(name, 24), n=quantities.number(reply.behind)))
    return " ".join(sentences)


def _why(state: str) -> str:
    return {
        "asking": translate("Find", "Asking {servers}…"),
        "server_away": translate("Find", "{servers}: not connected."),
        "server_too_old": translate("Find", "{servers}: an older program, which cannot be searched."),
        "missing_scope": translate("Find", "{servers}: your token may not search there."),
        "search_too_long": translate("Find", "{servers}: the search took too long."),
    }.get(state, translate("Find", "{servers}: no answer."))
