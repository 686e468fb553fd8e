"""What each action is and does, once for everybody: the agent that carries it out, heads of steps, rules.

`core.actions` adds the arguments and who carries the action out. These are here because readers of foreign formats and
rules speak of the same actions and carry none out. Whoever needs the names of some actions derives them (`names_of`).
"""

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
    closes a terminal; it does no work on the task. `kind`, `title` and `where` are what a table of tools says
    (`domain/tools.py`): what the action is for, and which arguments tell what was done.
    """

    name: str
    family: Family
    effect: Effect
    shows: Shows = ""
    reports_jobs: bool = False
    is_inward: bool = False
    is_housekeeping: bool = False
    kind: str = "tool"
    title: tuple[str, ...] = ()
    where: tuple[str, ...] = ()

    @property
    def is_parallel(self) -> bool:
        """Whether it changes nothing, neither on the hosts nor of what the agent has open, so that several of them in
        one answer are carried out together."""
        return self.effect in ("looks", "waits") and not self.shows.endswith("file") and self.family in (
            "command", "file", "search", "control") and self.name != "clear_session_buffer"


ACTION_KINDS: dict[str, ActionKind] = {kind.name: kind for kind in (
    ActionKind("create_session", "command", "changes", is_housekeeping=True, kind="input", title=("session_id",)),
    ActionKind("list_sessions", "command", "waits", kind="wait"),
    ActionKind("run_command", "command", "changes", kind="shell", title=("command",)),
    ActionKind("input_in_session", "command", "changes", kind="input", title=("input_text",), where=("session_id",)),
    ActionKind("get_session_output", "command", "waits", reports_jobs=True, kind="wait", title=("session_id",)),
    ActionKind("get_session_recent_output", "command", "waits", reports_jobs=True, kind="wait", title=("session_id",)),
    ActionKind("get_session_status", "command", "waits", reports_jobs=True, kind="wait", title=("session_id",)),
    ActionKind("check_session_idle", "command", "waits", reports_jobs=True, kind="wait", title=("session_id",)),
    ActionKind("clear_session_buffer", "command", "looks", kind="input", title=("session_id",)),
    ActionKind("close_session", "command", "ends", is_housekeeping=True, kind="input", title=("session_id",)),
    ActionKind("close_all_sessions", "command", "ends", kind="input"),
    ActionKind("kill_session_processes", "command", "ends", kind="input", title=("session_id",)),
    ActionKind("open_file", "file", "looks", shows="file", kind="read", title=("path",)),
    ActionKind("file_goto_line", "file", "looks", shows="open file", kind="read", title=("line_number",)),
    ActionKind("file_scroll_down", "file", "looks", shows="open file", kind="read"),
    ActionKind("file_scroll_up", "file", "looks", shows="open file", kind="read"),
    ActionKind("create_file", "file", "changes", kind="write", title=("filename",)),
    ActionKind("edit_file", "file", "changes", kind="edit", title=("path",)),
    ActionKind("search_dir", "file", "looks", shows="names",
               kind="search", title=("search_term",), where=("dir_path",)),
    ActionKind("search_file", "file", "looks", shows="file",
               kind="search", title=("search_term",), where=("file_path",)),
    ActionKind("find_file", "file", "looks", shows="names", kind="list", title=("file_name",), where=("dir_path",)),
    ActionKind("list_files", "file", "looks", shows="names", kind="list", title=("path",)),
    ActionKind("get_file_info", "file", "looks", shows="names", kind="list", title=("path",)),
    ActionKind("parse_pdf", "parse", "changes", kind="read", title=("file_path",)),
    ActionKind("parse_docx", "parse", "changes", kind="read", title=("file_path",)),
    ActionKind("parse_latex", "parse", "changes", kind="read", title=("file_path",)),
    ActionKind("parse_pptx", "parse", "changes", kind="read", title=("file_path",)),
    ActionKind("parse_audio", "parse", "changes", kind="read", title=("file_path",)),
    ActionKind("parse_image", "parse", "changes", kind="read", title=("file_path",)),
    ActionKind("parse_video", "parse", "changes", kind="read", title=("file_path",)),
    ActionKind("web_search", "search", "looks", kind="web_search", title=("query",)),
    ActionKind("web_browse", "browse", "looks", kind="web_page", title=("url",)),
    ActionKind("web_page_goto_line", "browse", "looks", kind="web_page", title=("line_number",)),
    ActionKind("web_page_scroll_down", "browse", "looks", kind="web_page"),
    ActionKind("web_page_scroll_up", "browse", "looks", kind="web_page"),
    ActionKind("web_page_search", "browse", "looks", kind="web_page", title=("keyword",)),
    ActionKind("web_page_search_next", "browse", "looks", kind="web_page"),
    ActionKind("web_page_get_links", "browse", "looks", kind="web_page"),
    ActionKind("think", "control", "looks", is_inward=True, kind="thought", title=("thought",)),
    ActionKind("sleep", "control", "waits", reports_jobs=True, kind="wait", title=("sleep_time",)),
    ActionKind("eval", "control", "changes", is_housekeeping=True, kind="submit"),
    ActionKind("finish", "control", "ends", is_housekeeping=True, is_inward=True,
               kind="submit", title=("result", "message")),
    ActionKind("view_hint", "control", "looks", kind="message"),
    ActionKind("null", "control", "looks", kind="thought"),
)}


def names_of(is_meant: Callable[[ActionKind], bool]) -> frozenset[str]:
    """The names of the actions that are meant."""
    return frozenset(kind.name for kind in ACTION_KINDS.values() if is_meant(kind))


WAITING = names_of(lambda kind: kind.effect == "waits")
QUIET = names_of(lambda kind: kind.effect in ("looks", "waits"))
"""Actions that change nothing."""
