"""The feed by which desktops hear of a newer version: latest.json, and its signature by a key of whoever releases.

    python packaging/update_feed.py new-key FILE              make a key; prints what desktops are to know of it
    python packaging/update_feed.py sign DIST VERSION FILE    write DIST/latest.json and DIST/latest.json.sig

Put both files and the packages where `[updates] feed` of /etc/tiphys/desktop.toml leads. Needs cryptography.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
import time
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PACKAGES = (".deb", ".run", ".whl")


def new_key(path: Path) -> str:
    """Make a private key that nobody else may read; gives the public one as desktops are told it."""
    key = Ed25519PrivateKey.generate()
    text = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                             serialization.NoEncryption())
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(text)
    return public(key)


def public(key: Ed25519PrivateKey) -> str:
    """The public key in one line."""
    return base64.b64encode(key.public_key().public_bytes_raw()).decode()


def sign(dist: Path, version: str, path: Path) -> str:
    """Write the feed of a folder of packages; gives the public key. Raises SystemExit for what is no such key."""
    key = serialization.load_pem_private_key(path.read_bytes(), None)
    if not isinstance(key, Ed25519PrivateKey):
        raise SystemExit(f"{path} holds no Ed25519 key: update_feed.py new-key FILE makes one.")
    files = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(dist.iterdir()) if p.suffix in PACKAGES}
    said = {"program": "tiphys", "version": version, "signed_at": int(time.time()), "files": files}
    text = json.dumps(said, indent=2).encode() + b"\n"
    (dist / "latest.json").write_bytes(text)
    (dist / "latest.json.sig").write_text(base64.b64encode(key.sign(text)).decode() + "\n")
    return public(key)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["new-key", file]:
            sys.stdout.write(new_key(Path(file)) + "\n")
        case ["sign", folder, number, file]:
            sys.stdout.write(sign(Path(folder), number, Path(file)) + "\n")
        case _:
            raise SystemExit(__doc__)
