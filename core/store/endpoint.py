"""Where the server of a home listens, as it wrote itself: how programs of this computer find it after a restart."""

import os
from collections.abc import Sequence

import msgspec

from core.domain.version import version
from core.store.home import Home, read_small, write_private
from core.store.lock import holder, is_held


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """What `home.endpoint` holds while a server runs: its address on this computer, its process, the
    addresses under which programs elsewhere may reach it, and its version, which those before 0.1.0 did not tell."""

    url: str
    pid: int
    addresses: tuple[str, ...] = ()
    version: str = ""


def read_endpoint(home: Home) -> Endpoint | None:
    """Where the server of a home folder listens, as it last said; None when it never did."""
    return read_small(home.endpoint, Endpoint, None)


def serving(home: Home) -> Endpoint | None:
    """Where the server listens that holds a home's log now; None where none does, or none listens yet.

    What one said that has ended is no answer: another program may hold the log since.
    """
    endpoint = read_endpoint(home) if is_held(home.server_lock) else None
    return endpoint if endpoint is not None and holder(home.server_lock) in (None, endpoint.pid) else None


def address_now(home: Home, before: str) -> str:
    """Where the server of a home folder listens, as it last said; the address from before when it does not say."""
    endpoint = read_endpoint(home)
    return endpoint.url if endpoint is not None else before


def write_endpoint(home: Home, url: str, addresses: Sequence[str] = ()) -> None:
    """Say where this process listens, in one move."""
    endpoint = Endpoint(url=url, pid=os.getpid(), addresses=tuple(addresses), version=version())
    write_private(home.endpoint, msgspec.json.encode(endpoint))
