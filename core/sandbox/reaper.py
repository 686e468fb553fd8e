"""What sessions leave in the engine: containers of ended ones are stopped, all of those that are no more deleted."""

import contextlib
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from typing import Any, TypeVar

import docker.errors

from core.domain.errors import Unavailable
from core.sandbox.engine import OWN, Client, in_thread, open_engine
from core.sandbox.installation import home_label
from core.sandbox.network import let_go
from core.sandbox.placement import EngineAddress

Engines = Sequence[EngineAddress]
T = TypeVar("T")


async def reap(home: str, keep: Collection[str], engines: Engines = (OWN,)) -> list[str]:
    """Delete what the installation `home` made for sessions other than `keep`; gives the containers' names.

    Raises Unavailable where no engine can be reached.
    """
    wanted = frozenset(keep)
    return await _on_all(engines, lambda one: _delete(one, home_label(home), lambda had: not _belongs(had, wanted)))


async def remove(home: str, sessions: Collection[str], others: Collection[str], engines: Engines = (OWN,)) -> list[str]:
    """Delete containers and volumes that the installation `home` made for `sessions`, and that are none of `others`
    (whose ids may begin alike); gives the containers' names. Raises Unavailable where no engine can be reached.
    """
    gone, stay = frozenset(sessions), frozenset(others) - frozenset(sessions)
    return await _on_all(engines, lambda one: _delete(
        one, home_label(home), lambda had: _belongs(had, gone) and not _belongs(had, stay)))


async def count(home: str, session: str, engines: Engines = (OWN,)) -> int:
    """How many hosts of a session have files on engines of the installation `home`. Raises Unavailable."""
    def hosts(engine: Client) -> list[str]:
        chosen = {"label": f"tiphys.home={home_label(home)}"}
        labels = [c.labels for c in engine.containers.list(all=True, ignore_removed=True, filters=chosen)]
        labels += [v.attrs.get("Labels") or {} for v in engine.volumes.list(filters=chosen)]
        return [had.get("tiphys.host", "") for had in labels if _belongs(had, frozenset([session]))]

    return len(set(await _on_all(engines, hosts)))


async def unfinished(home: str, sessions: Collection[str], engines: Engines = (OWN,)) -> list[str]:
    """Which of these sessions have containers of the installation `home` that run, or networks. Raises Unavailable."""
    def held(engine: Client) -> list[str]:
        labels = [c.labels for c in _found(engine, home, sessions, {"status": "running"})]
        labels += [n.attrs.get("Labels") or {} for n in _networks(engine, home, sessions)]
        return [s for s in sessions if any(_belongs(had, frozenset([s])) for had in labels)]

    return sorted(set(await _on_all(engines, held)))


async def stop(home: str, over: Collection[str], engines: Engines = (OWN,)) -> list[str]:
    """Stop the running containers that the installation `home` made for the sessions `over`; gives their names.

    Files stay, as such a session may be resumed; networks go. Raises Unavailable where no engine can be reached.
    """
    def stop_on(engine: Client) -> list[str]:
        left = _found(engine, home, over, {"status": "running"})
        for container in left:
            with contextlib.suppress(docker.errors.NotFound):
                container.stop(timeout=2)
        for container in _found(engine, home, over, {}):
            let_go(engine, container)
        networks = _networks(engine, home, over)
        _remove_networks(networks)
        return [c.name for c in left] or [n.name for n in networks]

    return await _on_all(engines, stop_on)


async def _on_all(engines: Engines, work: Callable[[Client], list[T]]) -> list[T]:
    """What the work gives on each engine, all together. Raises Unavailable after it was done wherever it could be."""
    found: list[T] = []
    problem: Unavailable | None = None
    for at in dict.fromkeys(engines):
        try:
            found += await in_thread(_with_engine, at, work)
        except Unavailable as error:
            problem = error
    if problem is not None:
        raise problem
    return sorted(found, key=str)


def _with_engine(at: EngineAddress, work: Callable[[Client], list[T]]) -> list[T]:
    with closing(open_engine(at)) as engine:
        return work(engine)


def _found(engine: Client, home: str, sessions: Collection[str], more: dict[str, str]) -> list[Any]:
    """The containers of sessions."""
    chosen = {"label": f"tiphys.home={home_label(home)}", **more}
    found = engine.containers.list(all=True, ignore_removed=True, filters=chosen)
    return [c for c in found if _belongs(c.labels, frozenset(sessions))]


def _networks(engine: Client, home: str, sessions: Collection[str]) -> list[Any]:
    """The networks of sessions."""
    found = engine.networks.list(filters={"label": f"tiphys.home={home_label(home)}"})
    return [n for n in found if _belongs(n.attrs.get("Labels") or {}, frozenset(sessions))]


def _remove_networks(networks: Sequence[Any]) -> None:
    for network in networks:
        with contextlib.suppress(docker.errors.NotFound):
            network.remove()


def _delete(engine: Client, label: str, is_chosen: Callable[[dict[str, str]], bool]) -> list[str]:
    chosen = {"label": f"tiphys.home={label}"}
    orphans = [c for c in engine.containers.list(all=True, ignore_removed=True, filters=chosen) if is_chosen(c.labels)]
    for container in orphans:
        with contextlib.suppress(docker.errors.NotFound):
            container.remove(force=True, v=True)
    for volume in engine.volumes.list(filters=chosen):
        if is_chosen(volume.attrs.get("Labels") or {}):
            with contextlib.suppress(docker.errors.NotFound):
                volume.remove(force=True)
    _remove_networks([n for n in engine.networks.list(filters=chosen) if is_chosen(n.attrs.get("Labels") or {})])
    return sorted(c.name for c in orphans)


def _belongs(labels: dict[str, str], sessions: frozenset[str]) -> bool:
    """Whether something belongs to one of these sessions, or is a helper of one (its id, a dash and more)."""
    session = labels.get("tiphys.session", "")
    return session in sessions or any(session.startswith(f"{one}-") for one in sessions)
