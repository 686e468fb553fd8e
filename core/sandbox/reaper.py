"""Finds and deletes the containers and volumes of sessions that are no more."""

from __future__ import annotations

import contextlib
from collections.abc import Collection

import docker.errors

from core.sandbox.docker import home_label
from core.sandbox.engine import Client, in_thread, open_engine


async def reap(home: str, keep: Collection[str]) -> list[str]:
    """Delete what the installation `home` made for sessions other than `keep`; gives the containers' names.

    Raises Unavailable where no engine can be reached.
    """
    return await in_thread(_reap, home_label(home), frozenset(keep))


def _reap(label: str, keep: frozenset[str]) -> list[str]:
    engine: Client = open_engine()
    try:
        chosen = {"label": f"tiphys.home={label}"}
        orphans = [c for c in engine.containers.list(all=True, filters=chosen) if not _belongs(c.labels, keep)]
        for container in orphans:
            with contextlib.suppress(docker.errors.NotFound):
                container.remove(force=True)
        for volume in engine.volumes.list(filters=chosen):
            if not _belongs(volume.attrs.get("Labels") or {}, keep):
                with contextlib.suppress(docker.errors.NotFound):
                    volume.remove(force=True)
        return sorted(c.name for c in orphans)
    finally:
        engine.close()


def _belongs(labels: dict[str, str], keep: frozenset[str]) -> bool:
    """Whether something belongs to a kept session, or is a helper of one (its id, a dash and more)."""
    session = labels.get("tiphys.session", "")
    return session in keep or any(session.startswith(f"{one}-") for one in keep)
