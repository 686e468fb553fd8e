"""How a connection stands, in words, sign and colour: for the status bar and the list of servers. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from app.kit import quantities
from app.kit.i18n import translate
from core.domain.version import named, numbers

if TYPE_CHECKING:
    from app.desk.link_status import LinkStatus


class ConnectionState(msgspec.Struct, frozen=True):
    """One server's connection as it is shown; `detail` is for the tooltip."""

    text: str
    meaning: str
    detail: str = ""


def version_words(program: str) -> str:
    """That the server is of another version than this program; "" where it is of the same, or does not say."""
    theirs = numbers(program)
    ours = numbers(named("tiphys")) if theirs else ()
    if not theirs or not ours or theirs == ours:
        return ""
    if theirs > ours:
        words = translate("ConnectionState", "The server is newer ({theirs}) than this program "
                          "({ours}): update this program when you can.")
    else:
        words = translate("ConnectionState", "The server is older ({theirs}) than this program "
                          "({ours}); its administrator can update it.")
    return words.format(theirs=".".join(map(str, theirs)), ours=".".join(map(str, ours)))


def own_state_of(link: LinkStatus, *, was_online: bool) -> ConnectionState:
    """The words for this computer's own server, where there is no other: how far away it is tells nobody anything."""
    state = state_of(link)
    if link.state == "online" and not link.sentence:
        text = "● " + translate("ConnectionState", "This computer, up to date")
        return ConnectionState(text, "keep", state.detail)
    if link.state != "denied" and not was_online:
        text = "◌ " + translate("ConnectionState", "This computer, its server starts")
        return ConnectionState(text, "muted", state.detail)
    return state


def state_of(link: LinkStatus, name: str = "") -> ConnectionState:
    """The words for a connection; `name` is the server's, "" where there is but one."""
    since = quantities.clock(link.since, seconds=True)
    if link.state == "online":
        ping = f" {link.latency_ms:.0f} ms" if link.latency_ms is not None else ""
        sign, meaning = "●", "attention" if link.sentence else "keep"
        words = translate("ConnectionState", "connected") + ping
        if link.sentence:
            words += " · " + translate("ConnectionState", "what you sent waits for a newer server")
    elif link.state == "denied":
        sign, meaning = "✗", "error"
        words = translate("ConnectionState", "refused by the server since {time}").format(time=since)
    elif link.state == "off" and name:
        sign, words, meaning = "○", translate("ConnectionState", "offline, as you chose"), "muted"
    else:
        sign, meaning = "◌", "attention"
        words = translate("ConnectionState", "not connected: stale since {time}").format(time=since)
    words_of_version = version_words(link.program)
    text = f"{sign} {name}: {words}" if name.strip() else f"{sign} {words}"
    return ConnectionState(text, meaning, "\n".join(t for t in (link.server, link.sentence, words_of_version) if t))
