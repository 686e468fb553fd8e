"""What a carrier works with: the hosts, the agent's side, and what the runner remembers between actions."""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from core.actions.changes import FileWatch
from core.actions.follow import TerminalFollower
from core.actions.jobs import JobBook
from core.actions.result import ActionFailed
from core.actions.sink import ActionSink
from core.domain.task import AgentSettings, ModelSettings
from core.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from core.llm.media import MediaModel


class Page(msgspec.Struct, kw_only=True):
    """The web page that is open: its lines, links, and where the reader and the search stand."""

    url: str = ""
    lines: list[str] = []
    links: list[tuple[str, str, int]] = []
    line: int = 1
    matches: list[int] = []
    match: int = -1


class Bench:
    """State shared by all actions of one session; `step` and `call_id` are those of the running action."""

    def __init__(self, hosts: Mapping[str, Sandbox], sink: ActionSink, settings: AgentSettings) -> None:
        self.hosts = hosts
        self.sink = sink
        self.settings = settings
        self.step = 0
        self.call_id = ""
        self.follower = TerminalFollower(hosts, sink)
        self.jobs = JobBook(hosts)
        self.files = FileWatch(hosts, sink)
        self.open_files: dict[str, tuple[str, int]] = {}
        self.cleared: dict[str, int] = {}
        self.page = Page()
        self.media = _open_media(settings.media) if settings.media is not None else None
        self.foreground: tuple[str, str, str] | None = None
        """Host, terminal and job of the command that the running action waits for."""

    def host(self, name: str) -> tuple[str, Sandbox]:
        """A host by name, the first one for "". Raises ActionFailed `no_host`."""
        if not self.hosts:
            raise ActionFailed("no_host", "This session has no host.")
        if not name:
            return next(iter(self.hosts.items()))
        if name in self.hosts:
            return name, self.hosts[name]
        known = ", ".join(self.hosts)
        close = difflib.get_close_matches(name, self.hosts, 1)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise ActionFailed("no_host", f"There is no host {name!r}. The hosts are: {known}.{hint}")

    def path(self, sandbox: Sandbox, path: str) -> str:
        """An absolute, plain path inside a sandbox; relative ones lie in the workspace."""
        if "\0" in path:
            raise ActionFailed("bad_path", "A path has no NUL in it.")
        return posixpath.normpath(posixpath.join(sandbox.workspace, path))


def _open_media(settings: ModelSettings) -> MediaModel:
    from core.llm.media import MediaModel  # its library takes a second to load, and few sessions ask of pictures

    return MediaModel(settings)
