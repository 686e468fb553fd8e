"""The server's own certificate: made once, kept in the home folder, trusted by its fingerprint."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from core.client.certificate import fingerprint
from core.store.home import Home, write_private

VALID_DAYS = 3650
"""Clients compare the fingerprint, not the date."""


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
