"""The words for a session's state, why it is in it, what needs a look, of which program it is, and for its id."""

from __future__ import annotations

from app.kit.i18n import translate
from app.kit.safe_text import one_line
from core.domain.session import SessionRow
from core.formats.tools import program_of

ASKS = "asks_for_leave"
"""Why a session is paused whose agent wants a person's yes or no."""


def row_words(row: SessionRow) -> tuple[str, str, str]:
    """Sign, word and colour of how a session stands: also who acts in it, what it asks, whether it can be read."""
    if row.held_by and row.state != "paused" and not row.unreadable:
        acts = translate("Sessions", "{person} acts")
        return "●", acts.format(person=one_line(row.held_by, 32)), "person"
    return state_words("unreadable" if row.unreadable else ASKS if row.reason == ASKS else row.state)


def state_words(state: str) -> tuple[str, str, str]:
    """Sign, word and colour of a state, as the log names it; one that asks for leave is paused by nobody."""
    return {
        ASKS: ("◌", translate("Sessions", "asks for leave"), "attention"),
        "queued": ("○", translate("Sessions", "queued"), "muted"),
        "running": ("●", translate("Sessions", "running"), "live"),
        "paused": ("‖", translate("Sessions", "paused"), "attention"),
        "waiting": ("◌", translate("Sessions", "waiting"), "attention"),
        "finished": ("✓", translate("Sessions", "finished"), "muted"),
        "unreadable": ("✗", translate("Sessions", "unreadable"), "error"),
        "failed": ("✗", translate("Sessions", "failed"), "error"),
        "stopped": ("■", translate("Sessions", "stopped"), "muted"),
    }.get(state, ("?", state, "muted"))


def reason_words(reason: str) -> str:
    """Why a session is in its state; what another program gave as the reason in its own words."""
    by_person = translate("Reasons", "by a person")
    known = {
        "stopped_by_person": by_person, "paused_by_person": by_person,
        "end_not_recorded": translate("Reasons", "its file tells no end"),
        "file_grows": translate("Reasons", "its file is being written"),
        "runner_died": translate("Reasons", "its runner died"),
        "agent_died": translate("Reasons", "the agent's program ended"),
        "caller_ended": translate("Reasons", "the session that called it ended"),
        "limit_steps": translate("Reasons", "its steps are used up"),
        "limit_wall": translate("Reasons", "its time is used up"),
        "limit_tokens": translate("Reasons", "its tokens are used up"),
        "limit_cost": translate("Reasons", "its money is used up"),
        "limit_evaluations": translate("Reasons", "its evaluations are used up"),
        "endpoint": translate("Reasons", "the model does not answer"),
        "guidance": translate("Reasons", "for advice"),
        "host": translate("Reasons", "for a host that is away"),
        "waits_for_host": translate("Reasons", "for a free host"),
        ASKS: translate("Reasons", "it asks for leave")}
    return known.get(reason) or one_line(reason.replace("_", " "), 80)


URGENCY = ("waiting", "error_burst", "loop", "stall", "budget", "finished")
"""Kinds of attention; what waits for a person comes first."""


def attention_word(kind: str) -> str:
    """The word for what needs attention."""
    return {
        "error_burst": translate("Sessions", "many errors"),
        "loop": translate("Sessions", "repeats itself"),
        "stall": translate("Sessions", "no progress"),
        "waiting": translate("Sessions", "waits for you"),
        "budget": translate("Sessions", "budget nearly used"),
        "finished": translate("Sessions", "not dealt with yet"),
    }.get(kind, one_line(kind, 24))


def origin_name(origin: str) -> str:
    """What the head of a run and its row in a list say of where it is from; "" for a session of ours."""
    return "" if origin == "live" else program_of(origin) or one_line(origin, 24)


LONGEST, END = 12, 8
"""Characters of an id that stands there whole, and those that are left of a longer one."""


def short_id(session: str) -> str:
    """The id without its server, cut in front where it is long: such ids are digits of a hash."""
    own = session.partition("@")[0]
    return own if len(own) <= LONGEST else own[-END:]
