"""Which version of the program an administrator offers: a folder or an https address, signed with a key of theirs.

`packaging/update_feed.py` writes it. Nothing is fetched but these two small files, and nothing is ever installed from
here: what is known is said, and people or their administrator decide.
"""

import base64
import http.client
from pathlib import Path

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from core.client.issuer import LONGEST, checked_place, fetch
from core.domain.errors import Denied, InvalidInput, Unavailable
from core.domain.version import named, numbers
from core.store.home import read_small, write_private

NAMES = ("latest.json", "latest.json.sig")


class Offered(msgspec.Struct, frozen=True, kw_only=True):
    """What the feed says: a version of a program, the SHA-256 of its packages by their names, and when it was signed,
    in seconds since 1970 (0 by an older release)."""

    program: str
    version: str
    files: dict[str, str] = {}
    signed_at: int = 0


def newer(place: str, key: str, seen: Path) -> Offered | None:
    """The version at a place, where it is newer than this program's; waits for disk or network. `seen` is the file that
    says when the newest feed was signed that was believed here: an older one is put there again by somebody.

    Raises InvalidInput (bad_feed) for a place, key or text that is none, Denied (feed_signature, feed_set_back),
    Unavailable (feed_away).
    """
    text, signature = (_read(place, name) for name in NAMES)
    _verify(text, signature, key)
    try:
        offered = msgspec.json.decode(text, type=Offered)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("bad_feed", f"{place} holds no feed of updates: {error}", place=place) from error
    _go_on(offered, key, seen)
    theirs, ours = numbers(f"{offered.program} {offered.version}"), numbers(named("tiphys"))
    return offered if offered.program == "tiphys" and ours and theirs > ours else None


def _go_on(offered: Offered, key: str, seen: Path) -> None:
    """Feeds of one key never go back in time. Raises Denied, Unavailable where `seen` cannot be written."""
    newest: dict[str, int] = read_small(seen, dict[str, int], {})
    if offered.signed_at < newest.get(key, 0):
        raise Denied("feed_set_back", "The feed of updates is older than the one that was there before: what it says "
                     "is not believed.")
    if offered.signed_at > newest.get(key, 0):
        try:
            write_private(seen, msgspec.json.encode({**newest, key: offered.signed_at}))
        except OSError as error:
            raise Unavailable("feed_away", f"{seen} cannot be written: {error}", place=str(seen)) from error


def _read(place: str, name: str) -> bytes:
    try:
        if "://" in place:
            return fetch(checked_place(f"{place.rstrip('/')}/{name}", "The feed of updates"))
        with (Path(place) / name).open("rb") as file:
            return file.read(LONGEST)
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise Unavailable("feed_away", f"{name} cannot be read at {place}: {error}", place=place) from error


def _verify(text: bytes, signature: bytes, key: str) -> None:
    try:
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key, validate=True))
    except ValueError as error:
        raise InvalidInput("bad_feed", "The key of the feed of updates is none: 32 bytes in base64 are expected.",
                           place="key") from error
    try:
        public.verify(base64.b64decode(signature), text)
    except (InvalidSignature, ValueError) as error:
        raise Denied("feed_signature", "The feed of updates is not signed with the key that the administrator named: "
                     "what it says is not believed.") from error
