"""Where a host of a session runs, and what of the server's machine it reads in place."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from core.domain.bounds import Address, Few, Name
from core.domain.task import Host


class EngineAddress(msgspec.Struct, frozen=True):
    """A Docker engine: "" (as DOCKER_HOST says), unix://PATH, tcp://HOST:PORT or ssh://[USER@]HOST[:PORT].

    `tls` is the folder with ca.pem, cert.pem and key.pem of this client, for tcp://.
    """

    url: Address = ""
    tls: Address = ""


class HostPlace(msgspec.Struct, frozen=True, kw_only=True):
    """The place that a host of a session was given: a member of the pool, and the GPUs that are this host's alone.

    `has_data`: the folders of the server's machine lie there at the same paths.
    """

    place: Name = "local"
    kind: Literal["engine", "machine"] = "engine"
    address: EngineAddress = EngineAddress()
    gpus: Annotated[tuple[Name, ...], Few] = ()
    has_data: bool = True


HERE = HostPlace()


class FolderMount(msgspec.Struct, frozen=True):
    """A folder or file of this machine that a container sees at `target`; nothing is copied."""

    source: Path
    target: str
    is_writable: bool = False


class HostLinks(msgspec.Struct, frozen=True, kw_only=True):
    """What a host has beside its own limits: folders, the session's network and folder, names that it may reach."""

    mounts: tuple[FolderMount, ...] = ()
    has_peers: bool = False
    peers: tuple[str, ...] = ()
    """Their names, which no proxy stands before."""

    joins: str = ""
    """A session whose network this container is put on, as a guest: a copy of a host for its tests."""

    shared_folder: bool = False
    reach: tuple[str, ...] = ()
    """What the session's way out lets through; empty: there is none."""


def ways_out(host: Host, lab_names: tuple[str, ...]) -> tuple[str, ...]:
    """What a host's way out lets through; `lab_names` are those that the operator lets whatever has a network reach,
    also where their addresses are private."""
    return ("*", *lab_names) if host.network else host.reach
