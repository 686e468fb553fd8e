"""The server's certificate: one of its own, made once in the home folder and trusted by its fingerprint, or anybody's.

The files are read at the start, and again when they change or somebody says so. A renewed certificate is for whoever
connects from then on; connections that stand go on with the one they know.
"""

import asyncio
import ipaddress
import logging
import ssl
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from core.client.certificate import fingerprint
from core.domain.errors import InvalidInput
from core.store.home import Home, write_private

_log = logging.getLogger("wire")

VALID_DAYS = 3650
"""Clients compare the fingerprint, not the date."""

LOOK_S = 10.0
"""How often the files are looked at."""

_Stamp = tuple[tuple[int, int, int], ...]


def own_certificate(home: Home, names: Iterable[str]) -> tuple[Path, Path]:
    """The PEM files of certificate and key of a home folder; made where they are missing, for these host names."""
    certificate, key = home.path / "server.crt", home.path / "server.key"
    if not (certificate.is_file() and key.is_file()):
        secret = ec.generate_private_key(ec.SECP256R1())
        write_private(key, secret.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                                serialization.NoEncryption()))
        write_private(certificate, _signed(secret, names).public_bytes(serialization.Encoding.PEM))
    return certificate, key


def fingerprint_of(path: str | Path) -> str:
    """The fingerprint of the first certificate of a PEM file. Raises OSError, ValueError."""
    return fingerprint(ssl.PEM_cert_to_DER_cert(_first(path)))


def expires_at(path: str | Path) -> float:
    """When the first certificate of a PEM file expires, in seconds since 1970. Raises OSError, ValueError."""
    return x509.load_pem_x509_certificate(_first(path).encode()).not_valid_after_utc.timestamp()


def _first(path: str | Path) -> str:
    text = Path(path).read_text(encoding="ascii")
    begin, end = text.index("-----BEGIN CERTIFICATE-----"), text.index("-----END CERTIFICATE-----")
    return text[begin:end] + "-----END CERTIFICATE-----\n"


def _signed(secret: ec.EllipticCurvePrivateKey, names: Iterable[str]) -> x509.Certificate:
    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Tiphys server")])
    now = datetime.now(UTC)
    subjects = dict.fromkeys(["localhost", "127.0.0.1", "::1", *(n for n in names if n not in ("0.0.0.0", "::"))])
    return (
        x509.CertificateBuilder()
        .subject_name(who).issuer_name(who).public_key(secret.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=VALID_DAYS))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([_name(n) for n in subjects]), critical=False)
        .sign(secret, hashes.SHA256())
    )


def _name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


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
