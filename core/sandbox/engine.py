"""Docker engines through the SDK, here and elsewhere: blocking calls in threads, their errors as `Unavailable`."""

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import docker
import docker.constants
import docker.errors
import docker.tls
import requests
from urllib3.exceptions import HTTPError

from core.domain.errors import NotFound, Unavailable
from core.sandbox.placement import EngineAddress
from core.sandbox.tunnel import engine_tunnel

T = TypeVar("T")
Client = Any
"""docker.DockerClient; the SDK has no types."""

OWN = EngineAddress()
"""The engine that DOCKER_HOST names, or the one of this machine."""


def open_engine(at: EngineAddress = OWN, timeout: int = 120) -> Client:
    """A client of an engine, by SSH through a tunnel. Raises Unavailable. Close it."""
    try:
        if not at.url:
            return docker.from_env(timeout=timeout)
        url = way_to(at)
        oldest = docker.constants.MINIMUM_DOCKER_API_VERSION
        client = docker.DockerClient(base_url=url, version=oldest, timeout=timeout, tls=_tls(at.tls) or False)
    except (docker.errors.DockerException, requests.RequestException, OSError) as error:
        raise _unavailable(error) from error
    client.api.trust_env = False  # else a variable's certificates count instead of this engine's (requests)
    try:
        client.api._version = client.api._retrieve_server_version()
    except (docker.errors.DockerException, requests.RequestException, OSError) as error:
        client.close()
        raise _unavailable(error) from error
    return client


def way_to(at: EngineAddress) -> str:
    """Where an engine is reached from here, "" for this machine's own: by SSH a tunnel, which is another one after a
    loss. Blocking. Raises Unavailable."""
    return engine_tunnel(at.url) if at.url.startswith("ssh://") else at.url


def _tls(folder: str) -> Any:
    if not folder:
        return None
    place = Path(folder)
    return docker.tls.TLSConfig(client_cert=(str(place / "cert.pem"), str(place / "key.pem")), verify=True,
                                ca_cert=str(place / "ca.pem"))


async def describe_engine(at: EngineAddress, timeout: int = 20) -> str:
    """What an engine is, in a line. Raises Unavailable where it does not answer."""
    def ask() -> str:
        with contextlib.closing(open_engine(at, timeout)) as client:
            info = client.info()
        return (f"Docker {info.get('ServerVersion', '?')}, {info.get('NCPU', 0)} CPUs, "
                f"{int(info.get('MemTotal', 0)) >> 20:,} MiB")

    return await in_thread(ask)


def is_local(at: EngineAddress = OWN) -> bool:
    """Whether the engine runs on this machine, so that it can mount our folders."""
    return (at.url or os.environ.get("DOCKER_HOST") or "unix://").startswith("unix://")


async def in_thread(call: Callable[..., T], *args: Any) -> T:
    """Make blocking calls to the engine in a thread. Raises Unavailable, or NotFound for a missing thing."""
    return await asyncio.to_thread(translated, call, *args)


def translated(call: Callable[..., T], *args: Any) -> T:
    """Make blocking calls to the engine; its errors become ours."""
    try:
        return call(*args)
    except docker.errors.NotFound as error:
        raise NotFound("not_in_engine", f"The Docker engine does not know it: {error.explanation}.") from error
    except (docker.errors.DockerException, requests.RequestException, HTTPError, OSError) as error:
        raise _unavailable(error) from error  # the SDK reads a stream past requests


@contextlib.contextmanager
def passing_container(engine: Client, base: str, command: list[str], **options: Any) -> Iterator[Any]:
    """A container that is made, and deleted at the end. Blocking. Raises Unavailable, NotFound."""
    container = translated(lambda: engine.containers.create(base, command, **options))
    try:
        yield container
    finally:
        translated(lambda: container.remove(force=True))


def _unavailable(error: Exception) -> Unavailable:
    text = str(getattr(error, "explanation", None) or error)[:500]
    return Unavailable("no_engine", f"The Docker engine cannot do it now: {text}.", why=text)


def drop_image(name: str, at: EngineAddress = OWN) -> None:
    """Delete an image that nothing needs any more. Blocking; in the worst case it stays."""
    with contextlib.suppress(docker.errors.DockerException, Unavailable), contextlib.closing(open_engine(at)) as engine:
        engine.images.remove(name, force=True)
