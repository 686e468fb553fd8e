"""The servers that this person works with: names, addresses and tokens, in one file that nobody else may read."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from PySide6.QtCore import QObject, Signal

from app.desk.session_key import OWN, server_of_url
from core.domain.errors import InvalidInput
from core.store.home import write_private

PORT = 7717
"""Where a server listens that was not told otherwise."""

MAX_NAME = 40


class ServerEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One server. `url` may end with its certificate's fingerprint (`core.client.certificate`); `id` is made from the
    address before that; `connected` is what the reader chose."""

    id: str
    name: str
    url: str
    token: str = ""
    connected: bool = True

    @property
    def address(self) -> str:
        """The address without the fingerprint."""
        return self.url.partition("#")[0]


class Servers(QObject):
    """The list, stored at every change (mode 0600). A file that cannot be read is put aside, not written over."""

    changed = Signal(str)
    """A server (its id) was added, renamed, connected, taken offline or removed."""

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = path
        self.problem = ""
        self._entries: dict[str, ServerEntry] = {e.id: e for e in self._load()}

    @property
    def all(self) -> tuple[ServerEntry, ...]:
        """Every server, in the order in which they were added."""
        return tuple(self._entries.values())

    def get(self, server: str) -> ServerEntry | None:
        """The server of that id."""
        return self._entries.get(server)

    def name_of(self, server: str) -> str:
        """What a server is called; this computer's own has a name too."""
        if server == OWN:
            return self.tr("this computer")
        entry = self._entries.get(server)
        return entry.name if entry is not None else server

    def add(self, address: str, token: str, name: str = "") -> ServerEntry:
        """Take a server in, or give a known one its new token. Raises InvalidInput (bad_address)."""
        url = address_of(address)
        server = server_of_url(url.partition("#")[0])
        known = self._entries.get(server)
        shown_name = name.strip()[:MAX_NAME] or (known.name if known else urlsplit(url).hostname or url)
        entry = ServerEntry(id=server, name=shown_name, url=url, token=token.strip() or (known.token if known else ""))
        self._put(entry)
        return entry

    def rename(self, server: str, name: str) -> None:
        """Call a server otherwise; an empty name changes nothing."""
        if name.strip():
            self._put(msgspec.structs.replace(self._entries[server], name=name.strip()[:MAX_NAME]))

    def set_connected(self, server: str, on: bool) -> None:
        """Work with a server, or without it."""
        if self._entries[server].connected != on:
            self._put(msgspec.structs.replace(self._entries[server], connected=on))

    def remove(self, server: str) -> None:
        """Forget a server and its token."""
        if self._entries.pop(server, None) is not None:
            self._store()
            self.changed.emit(server)

    def _put(self, entry: ServerEntry) -> None:
        self._entries[entry.id] = entry
        self._store()
        self.changed.emit(entry.id)

    def _store(self) -> None:
        write_private(self._path, msgspec.json.format(msgspec.json.encode(self.all), indent=2) + b"\n")

    def _load(self) -> list[ServerEntry]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=list[ServerEntry])
        except FileNotFoundError:
            return []
        except (OSError, msgspec.DecodeError) as error:
            aside = self._path.with_suffix(".damaged")
            if self._path.exists():
                self._path.replace(aside)
            self.problem = f"{self._path.name} cannot be read and was put aside as {aside.name}: {error}"
            return []


def address_of(text: str) -> str:
    """The address that a person meant; a bare name gets the usual port. Raises InvalidInput (bad_address)."""
    address, pin, fingerprint = text.strip().partition("#")
    address = address if "://" in address else f"//{address}"
    wrong = InvalidInput("bad_address", f"{text[:200]!r} is no address of a server.", address=text[:200])
    try:
        parts = urlsplit(address)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError as error:
        raise wrong from error
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme) or ("ws" if _is_here(host) else "wss")
    if scheme not in ("ws", "wss") or not host or parts.username or any(c.isspace() for c in address):
        raise wrong
    name = f"[{host}]" if ":" in host else host
    port = port or (PORT if not parts.scheme else None)
    return f"{scheme}://{name}{f':{port}' if port else ''}{parts.path.rstrip('/')}{pin}{fingerprint}"


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
