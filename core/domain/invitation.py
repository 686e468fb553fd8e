"""Invitations as people pass them on: `tiphys://join?server=ADDRESS&name=NAME&token=ONCE`, or a file of that line."""

from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec

from core.domain.errors import InvalidInput

SUFFIX = ".tiphys-invitation"
"""What the name of an invitation's file ends with."""

LONGEST = 2_000


class Invitation(msgspec.Struct, frozen=True, kw_only=True):
    """The server's address (with its certificate's fingerprint where no authority vouches for it), whose account it
    is, and the token that makes it, once."""

    server: str
    name: str
    token: str

    def __str__(self) -> str:
        return "tiphys://join?" + urlencode({"server": self.server, "name": self.name, "token": self.token})


def is_invitation(text: str) -> bool:
    """Whether a text claims to be an invitation's link."""
    return text.strip().lower().startswith("tiphys://join")


def parse_invitation(text: str) -> Invitation:
    """Read an invitation's link. Raises InvalidInput (bad_invitation)."""
    wrong = InvalidInput("bad_invitation", "This is no invitation to a Tiphys server, or a part of it is missing.")
    text = text.strip()
    if not is_invitation(text) or len(text) > LONGEST or not text.isascii() or not text.isprintable():
        raise wrong
    try:
        query = parse_qs(urlsplit(text).query, strict_parsing=True, max_num_fields=16)
    except ValueError as error:
        raise wrong from error
    server, name, token = (query.get(key, [""])[0] for key in ("server", "name", "token"))
    if not server.startswith(("ws://", "wss://")) or not name or not token or not (server + name + token).isprintable():
        raise wrong
    return Invitation(server=server, name=name, token=token)
