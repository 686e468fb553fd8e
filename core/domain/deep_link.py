"""Deep links: `tiphys://session/ID?step=N&panel=NAME&server=URL&…` names a place, for mails, notes and bookmarks."""

from urllib.parse import parse_qs, quote, urlencode, urlsplit

import msgspec

from core.domain.errors import InvalidInput
from core.domain.ids import is_id

SCHEME = "tiphys"
_OWN = ("step", "panel", "server")
MAX_VIEW, MAX_VALUE = 16, 300


class DeepLink(msgspec.Struct, frozen=True):
    """A session, a step of it (None: its end), the panel that is in front ("": as it is), the address of its server
    ("": the reader's own), and what the list of steps shows: filters and words, by name."""

    session: str
    step: int | None = None
    panel: str = ""
    server: str = ""
    view: dict[str, str] = {}

    def __str__(self) -> str:
        query = {"step": str(self.step)} if self.step is not None else {}
        query |= {name: value for name, value in (("panel", self.panel), ("server", self.server)) if value}
        query |= {name: value for name, value in self.view.items() if name not in _OWN and value}
        tail = f"?{urlencode(query)}" if query else ""
        return f"{SCHEME}://session/{quote(self.session, safe='')}{tail}"


def is_link(text: str) -> bool:
    """Whether a text claims to be a deep link."""
    return text.strip().lower().startswith(f"{SCHEME}:")


def parse_link(text: str) -> DeepLink:
    """Read a deep link; what it does not know of the query is taken as what the list shows. Raises InvalidInput
    (bad_link)."""
    wrong = InvalidInput("bad_link", f"{text[:200]!r} is no link to a session.", link=text[:200])
    try:
        parts = urlsplit(text.strip())
        query = parse_qs(parts.query, max_num_fields=MAX_VIEW + 4)
    except ValueError as error:
        raise wrong from error
    values = {name: found[0] for name, found in query.items()}
    session, step = parts.path.strip("/"), values.get("step", "")
    if parts.scheme.lower() != SCHEME or parts.netloc.lower() != "session" or not is_id(session):
        raise wrong
    if step and not (step.isascii() and step.isdigit() and len(step) <= 9):
        raise wrong
    panel = values.get("panel", "")
    return DeepLink(session, int(step) if step else None, panel if is_id(panel) else "", _server(values), _view(values))


def _server(values: dict[str, str]) -> str:
    server = values.get("server", "")
    plain = server.isprintable() and " " not in server and len(server) <= MAX_VALUE
    return server if plain and server.startswith(("ws://", "wss://")) else ""


def _view(values: dict[str, str]) -> dict[str, str]:
    fits = [(name, value) for name, value in values.items()
            if name not in _OWN and is_id(name) and len(value) <= MAX_VALUE and value.isprintable()]
    return dict(fits[:MAX_VIEW])
