"""What sessions leave in the engine: containers of ended ones are stopped, all of those that are no more deleted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from contextlib import closing

import docker.errors

from core.sandbox.docker import home_label
from core.sandbox.engine import in_thread, open_engine


async def reap(home: str, keep: Collection[str]) -> list[str]:
    """Delete what the installation `home` made for sessions other than `keep`; gives the containers' names.

    Raises Unavailable where no engine can be reached.
    """
    wanted = frozenset(keep)
    return await in_thread(_delete, home_label(home), lambda labels: not _belongs(labels, wanted))


async def remove(home: str, sessions: Collection[str], others: Collection[str]) -> list[str]:
    """Delete containers and volumes that the installation `home` made for `sessions`, and that are none of `others`
    (whose ids may begin alike); gives the containers' names. Raises Unavailable where no engine can be reached.
    """
    gone, stay = frozenset(sessions), frozenset(others) - frozenset(sessions)
    return await in_thread(_delete, home_label(home),
                           lambda labels: _belongs(labels, gone) and not _belongs(labels, stay))


async def count(home: str, session: str) -> int:
    """How many containers the installation `home` has of a session. Raises Unavailable."""
    return await in_thread(_count, home_label(home), frozenset({session}))


def _count(label: str, sessions: frozenset[str]) -> int:
    with closing(open_engine()) as engine:
        found = engine.containers.list(all=True, filters={"label": f"tiphys.home={label}"})
        return sum(_belongs(c.labels, sessions) for c in found)


async def running(home: str, sessions: Collection[str]) -> list[str]:
    """Which of these sessions have containers of the installation `home` that run. Raises Unavailable."""
    return await in_thread(_running, home_label(home), sessions)


def _running(label: str, sessions: Collection[str]) -> list[str]:
    with closing(open_engine()) as engine:
        containers = engine.containers.list(filters={"label": f"tiphys.home={label}", "status": "running"})
        return [s for s in sessions if any(_belongs(c.labels, frozenset({s})) for c in containers)]


async def stop(home: str, over: Collection[str]) -> list[str]:
    """Stop the running containers that the installation `home` made for the sessions `over`; gives their names.

    Files stay, as such a session may be resumed. Raises Unavailable where no engine can be reached.
    """
    return await in_thread(_stop, home_label(home), frozenset(over))


def _stop(label: str, over: frozenset[str]) -> list[str]:
    with closing(open_engine()) as engine:
        chosen = {"label": f"tiphys.home={label}", "status": "running"}
        left = [c for c in engine.containers.list(filters=chosen) if _belongs(c.labels, over)]
        for container in left:
            with contextlib.suppress(docker.errors.NotFound):
                container.stop(timeout=2)
        return sorted(c.name for c in left)


def _delete(label: str, is_chosen: Callable[[dict[str, str]], bool]) -> list[str]:
    with closing(open_engine()) as engine:
        chosen = {"label": f"tiphys.home={label}"}
        orphans = [c for c in engine.containers.list(all=True, filters=chosen) if is_chosen(c.labels)]
        for container in orphans:
            with contextlib.suppress(docker.errors.NotFound):
                container.remove(force=True)
        for volume in engine.volumes.list(filters=chosen):
            if is_chosen(volume.attrs.get("Labels") or {}):
                with contextlib.suppress(docker.errors.NotFound):
                    volume.remove(force=True)
        for network in engine.networks.list(filters=chosen):
            if is_chosen(network.attrs.get("Labels") or {}):
                with contextlib.suppress(docker.errors.NotFound):
                    network.remove()
        return sorted(c.name for c in orphans)


def _belongs(labels: dict[str, str], sessions: frozenset[str]) -> bool:
    """Whether something belongs to one of these sessions, or is a helper of one (its id, a dash and more)."""
    session = labels.get("tiphys.session", "")
    return session in sessions or any(session.startswith(f"{one}-") for one in sessions)
