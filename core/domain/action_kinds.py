"""What each action is and does, once for everybody: the agent that carries it out, heads of steps, rules.

`core.actions` adds the arguments and who carries the action out. These are here because readers of foreign formats and
rules speak of the same actions and carry none out. Whoever needs the names of some actions derives them (`names_of`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

Family = Literal["command", "file", "parse", "search", "browse", "control", "other"]

Effect = Literal["looks", "waits", "changes", "ends"]
"""`looks` changes nothing; `waits` passes time, or looks whether something is over; `changes` may leave the hosts
otherwise than they were; `ends` ends programs (family command), or the run (family control)."""

Shows = Literal["", "names", "file", "open file"]
"""What a look at files shows: their names, the text of the file that it names, or of the file that is open."""


class ActionKind(msgspec.Struct, frozen=True):
    """One action that a call may name.

    `reports_jobs`: its observation may carry the end of another action's job. `is_inward`: nothing outside the journal
    knows of it, so after a crash it is simply done. `is_housekeeping`: it is part of the run itself, or only opens or
    closes a terminal; it does no work on the task.
    """

    name: str
    family: Family
    effect: Effect
    shows: Shows = ""
    reports_jobs: bool = False
    is_inward: bool = False
    is_housekeeping: bool = False


ACTION_KINDS: dict[str, ActionKind] = {kind.name: kind for kind in (
    ActionKind("create_session", "command", "changes", is_housekeeping=True),
    ActionKind("list_sessions", "command", "waits"),
    ActionKind("run_command", "command", "changes"),
    ActionKind("input_in_session", "command", "changes"),
    ActionKind("get_session_output", "command", "waits", reports_jobs=True),
    ActionKind("get_session_recent_output", "command", "waits", reports_jobs=True),
    ActionKind("get_session_status", "command", "waits", reports_jobs=True),
    ActionKind("check_session_idle", "command", "waits", reports_jobs=True),
    ActionKind("clear_session_buffer", "command", "looks"),
    ActionKind("close_session", "command", "ends", is_housekeeping=True),
    ActionKind("close_all_sessions", "command", "ends"),
    ActionKind("kill_session_processes", "command", "ends"),
    ActionKind("open_file", "file", "looks", shows="file"),
    ActionKind("file_goto_line", "file", "looks", shows="open file"),
    ActionKind("file_scroll_down", "file", "looks", shows="open file"),
    ActionKind("file_scroll_up", "file", "looks", shows="open file"),
    ActionKind("create_file", "file", "changes"),
    ActionKind("edit_file", "file", "changes"),
    ActionKind("search_dir", "file", "looks", shows="names"),
    ActionKind("search_file", "file", "looks", shows="file"),
    ActionKind("find_file", "file", "looks", shows="names"),
    ActionKind("list_files", "file", "looks", shows="names"),
    ActionKind("get_file_info", "file", "looks", shows="names"),
    ActionKind("parse_pdf", "parse", "changes"),
    ActionKind("parse_docx", "parse", "changes"),
    ActionKind("parse_latex", "parse", "changes"),
    ActionKind("parse_audio", "parse", "changes"),
    ActionKind("parse_image", "parse", "changes"),
    ActionKind("parse_video", "parse", "changes"),
    ActionKind("parse_pptx", "parse", "changes"),
    ActionKind("web_search", "search", "looks"),
    ActionKind("web_browse", "browse", "looks"),
    ActionKind("web_page_goto_line", "browse", "looks"),
    ActionKind("web_page_scroll_down", "browse", "looks"),
    ActionKind("web_page_scroll_up", "browse", "looks"),
    ActionKind("web_page_search", "browse", "looks"),
    ActionKind("web_page_search_next", "browse", "looks"),
    ActionKind("web_page_get_links", "browse", "looks"),
    ActionKind("think", "control", "looks", is_inward=True),
    ActionKind("sleep", "control", "waits", reports_jobs=True),
    ActionKind("eval", "control", "changes", is_housekeeping=True),
    ActionKind("finish", "control", "ends", is_housekeeping=True, is_inward=True),
    ActionKind("view_hint", "control", "looks"),
    ActionKind("null", "control", "looks"),
)}


def names_of(is_meant: Callable[[ActionKind], bool]) -> frozenset[str]:
    """The names of the actions that are meant."""
    return frozenset(kind.name for kind in ACTION_KINDS.values() if is_meant(kind))


WAITING = names_of(lambda kind: kind.effect == "waits")
QUIET = names_of(lambda kind: kind.effect in ("looks", "waits"))
"""Actions that change nothing."""
