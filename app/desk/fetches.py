"""Payloads that were asked for: what is looked at now goes first, what nobody looks at any more is not fetched."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.kit.background import BackgroundWork

if TYPE_CHECKING:
    from core.client.client import Client
    from core.client.replica import Replica

AT_ONCE = 512 * 1024
"""Payloads up to so many bytes are unpacked where they are asked for: 2 ms."""


class Fetch:
    """A body that was asked for; `cancel` drops the answer, and the asking where nobody else waits for it."""

    def __init__(self, hash: str, callback: Callable[[bytes], None], absent: Callable[[], None] | None = None) -> None:
        self.hash = hash
        self._callback: Callable[[bytes], None] | None = callback
        self._absent = absent
        self.left: Callable[[str], None] | None = None
        """Called with the hash when this is cancelled before its answer."""

    @property
    def is_open(self) -> bool:
        """Whether an answer is still wanted."""
        return self._callback is not None

    def cancel(self) -> None:
        """The reader has moved on."""
        callback, self._callback = self._callback, None
        if callback is not None and self.left is not None:
            self.left(self.hash)

    def answer(self, data: bytes) -> None:
        """Give the body, once."""
        callback, self._callback = self._callback, None
        if callback is not None:
            callback(data)

    def fail(self) -> None:
        """Say that the server does not hold it."""
        if self._callback is not None and self._absent is not None:
            self._absent()
        self._callback = None


class Fetches:
    """The open fetches of one server."""

    def __init__(self, replica: Replica, parent: QObject) -> None:
        self._replica, self._parent = replica, parent
        self._client: Client | None = None
        self._wanted: dict[str, list[Fetch]] = {}

    def attach(self, client: Client | None) -> None:
        """Ask this client from now on, also for what is wanted already; None: nobody can be asked."""
        self._client = client
        if client is not None and self._wanted:
            client.want(list(self._wanted))

    def ask(self, hash: str, callback: Callable[[bytes], None], absent: Callable[[], None] | None) -> Fetch:
        """Answer at once where the payload is here, else ask for it before all others."""
        fetch = Fetch(hash, callback, absent)
        if self._replica.size(hash) > AT_ONCE:
            self._unpack(fetch)
            return fetch
        data = self._replica.body(hash)
        if data is not None:
            fetch.answer(data)
            return fetch
        fetch.left = self._left
        self._wanted.setdefault(hash, []).append(fetch)
        if self._client is not None:
            self._client.want([hash], first=True)
        return fetch

    def _unpack(self, fetch: Fetch) -> None:
        """Unpack a large payload in a thread: 30 MB take 100 ms."""
        work = BackgroundWork(self._parent)
        work.done.connect(partial(_give, fetch, work))
        work.start(self._replica.body_elsewhere, fetch.hash)

    def came(self, hash: str) -> None:
        """A payload is here: answer whoever waits for it."""
        waiting = self._wanted.pop(hash, [])
        if waiting and self._replica.size(hash) > AT_ONCE:
            for fetch in waiting:
                self._unpack(fetch)
            return
        data = self._replica.body(hash) if any(fetch.is_open for fetch in waiting) else None
        if data is None:
            return
        for fetch in waiting:
            fetch.answer(data)

    def absent(self, hash: str) -> None:
        """The server does not hold a payload: tell whoever waits for it."""
        for fetch in self._wanted.pop(hash, []):
            fetch.fail()

    def _left(self, hash: str) -> None:
        if not any(fetch.is_open for fetch in self._wanted.get(hash, [])):
            self._wanted.pop(hash, None)
            if self._client is not None:
                self._client.unwant([hash])


def _give(fetch: Fetch, work: BackgroundWork, data: bytes | None) -> None:
    work.deleteLater()
    if data is not None:
        fetch.answer(data)
    else:
        fetch.fail()
