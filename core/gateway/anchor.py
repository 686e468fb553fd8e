"""Where guidance stands in an agent's requests: behind the item that it once followed, however that is told again.

The agent never sees the text, so each of its requests lacks it; the gateway puts it back at the same place. The place
is known by the prefix before it, and where that has changed (signatures dropped, a folder listed anew) by the ids of
the calls that the item answers.
"""

from collections.abc import Iterable, Sequence

import msgspec

from core.gateway.dialect import Dialect, decode_raw


class GuidancePlace(msgspec.Struct, frozen=True, kw_only=True):
    """One place of one guidance: behind the item that `link` names, or that answers all of `calls`."""

    guidance: str
    text: str
    link: bytes
    calls: tuple[str, ...] = ()
    step: int = 0


def place_behind(guidance: str, text: str, step: int, dialect: Dialect, items: Sequence[bytes], chain: Sequence[bytes]
                 ) -> GuidancePlace:
    """The place behind the last item of a request."""
    calls = tuple(o.call for o in dialect.outcomes(decode_raw(items[-1])))
    return GuidancePlace(guidance=guidance, text=text, step=step, link=chain[-1], calls=calls)


def places_in(anchors: Iterable[GuidancePlace], dialect: Dialect, items: Sequence[bytes], chain: Sequence[bytes]
              ) -> dict[int, list[GuidancePlace]]:
    """Behind which items guidance stands in a request, by index; each guidance once, its newest place first."""
    found: dict[int, list[GuidancePlace]] = {}
    done: set[str] = set()
    newest_first = sorted(anchors, key=lambda anchor: anchor.step)[::-1]
    for anchor in newest_first:
        at = None if anchor.guidance in done else chain.index(anchor.link) if anchor.link in chain else (
            _answering(anchor.calls, dialect, items) if anchor.calls else None)
        if at is not None:
            done.add(anchor.guidance)
            found.setdefault(at, []).insert(0, anchor)
    return found


def _answering(calls: Sequence[str], dialect: Dialect, items: Sequence[bytes]) -> int | None:
    """The last of the items that together answer the calls; None where one of them is not there."""
    at, left = None, {*calls}
    for index, item in enumerate(items):
        if any(call.encode() in item for call in left):
            answered = {o.call for o in dialect.outcomes(decode_raw(item))} & left
            if answered:
                at, left = index, left - answered
    return None if left else at
