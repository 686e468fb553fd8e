"""Telling people elsewhere (chat, mail, push) once when a session wants a look. Apprise delivers, to ninety services.

The addresses, one a line, stand in `notify.txt` of the home folder (0600), since most of them hold a secret; they are
read again at each message and never logged. Syntax: https://github.com/caronc/apprise/wiki
"""

import asyncio
import logging
from pathlib import Path

from core import program
from core.aio import TaskScope
from core.domain.deep_link import DeepLink
from core.domain.errors import NotFound
from core.domain.session import SessionRow
from core.server.hub import Hub
from core.store import log

_log = logging.getLogger("session")

LONGEST = 200
WORDS = {
    "error_burst": "several steps failed in a row", "loop": "the same actions repeat", "stall": "nothing moves on",
    "waiting": "the agent waits for a person", "budget": "a limit is nearly reached",
    "finished": "the session has ended", "failed": "the session has failed",
}
"""What is the matter, by kind of attention; and the one state that nobody expects."""


class AttentionNotifier:
    """Follows the rows of sessions; says what became new in `attention` since the server started."""

    def __init__(self, hub: Hub, path: Path, scope: TaskScope) -> None:
        self._hub, self._path, self._scope = hub, path, scope
        self._announced = {row.session: matters(row) for row in log.rows(hub.reader)}
        hub.on_changed.append(self._changed)

    def _changed(self, session: str) -> None:
        try:
            row = log.row(self._hub.reader, session)
        except NotFound:  # a command was refused, for there is no such session; or it was deleted
            self._announced.pop(session, None)
            return
        new = matters(row) - self._announced.get(session, frozenset())
        self._announced[session] = matters(row)
        if new and row.origin == "live" and self._path.is_file():
            self._scope.spawn(asyncio.to_thread(send, self._path, *message_of(row, sorted(new))), name="notify")


def matters(row: SessionRow) -> frozenset[str]:
    """What is the matter with a session now: keys of WORDS."""
    return frozenset([*row.attention, *(["failed"] if row.state == "failed" else [])])


def message_of(row: SessionRow, kinds: list[str]) -> tuple[str, str]:
    """Title and text: which session, what is the matter, and the link that opens it."""
    name = " ".join((row.title or row.task or row.session).split())[:LONGEST]
    words = "; ".join(WORDS[kind] for kind in kinds)
    return f"Tiphys: {name}", f"{words} (step {row.steps}).\n{DeepLink(row.session, row.steps or None)}"


def send(path: Path, title: str, text: str) -> None:
    """Send to every address of a file; what does not work is logged, without its address."""
    try:
        import apprise
    except ImportError:
        _log.error("%s asks for notifications, which need the package apprise: %s", path.name,
                   program.install_line("apprise"))
        return
    logging.getLogger("apprise").setLevel(logging.CRITICAL + 1)  # it names addresses
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    for number, address in enumerate(lines, 1):
        if not address or address.startswith("#"):
            continue
        service = apprise.Apprise()
        if not (service.add(address) and service.notify(body=text, title=title, body_format=apprise.NotifyFormat.TEXT)):
            _log.error("the address in line %d of %s did not take a notification", number, path.name)
