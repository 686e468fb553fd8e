"""The server's certificate and key: read at the start, and again when the files change or somebody says so.

A renewed certificate is for whoever connects from then on; connections that stand go on with the one they know.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable
from pathlib import Path

from core.domain.errors import InvalidInput
from core.server.certificate import expires_at, fingerprint_of

_log = logging.getLogger("wire")

LOOK_S = 10.0
"""How often the files are looked at."""

_Stamp = tuple[tuple[int, int, int], ...]


class CertificateFiles:
    """PEM files of certificate and key, and the TLS context that shows them.

    Raises InvalidInput (bad_certificate) where they cannot be used at the start; files that cannot be used when they
    change are logged, and the ones of before stay in use.
    """

    def __init__(self, certificate: str | Path, key: str | Path = "") -> None:
        self._certificate, self._key = str(certificate), str(key)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.on_changed: list[Callable[[], None]] = []
        """Called when another certificate is shown from now on."""
        self._stamp = self._look()
        self._load()

    def _load(self) -> None:
        try:
            # First in another context: a key of another certificate would spoil the one that is in use.
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self._certificate, self._key or None)
            self.context.load_cert_chain(self._certificate, self._key or None)
            self.pin = fingerprint_of(self._certificate)
            self.until = expires_at(self._certificate)
        except (OSError, ValueError) as error:
            raise InvalidInput("bad_certificate", f"The certificate cannot be used: {error}") from error

    def reload(self) -> bool:
        """Read the files again; whether another certificate is shown from now on."""
        before, self._stamp = self.pin, self._look()
        try:
            self._load()
        except InvalidInput as error:
            _log.error("%s The one of before stays in use.", error.sentence)
            return False
        if self.pin != before:
            _log.info("the certificate was renewed: its fingerprint is sha256=%s", self.pin)
            for call in self.on_changed:
                call()
        return self.pin != before

    async def watch(self) -> None:
        """Read the files again whenever they change, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_S)
            if self._look() != self._stamp:
                self.reload()

    def _look(self) -> _Stamp:
        found = []
        for path in filter(None, (self._certificate, self._key)):
            try:
                stat = Path(path).stat()
            except OSError:  # it is being replaced
                continue
            found.append((stat.st_ino, stat.st_mtime_ns, stat.st_size))
        return tuple(found)
