"""What the sessions of tests leave with a Docker engine: their volumes, as a session's files outlive its containers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import docker
import docker.errors

from core.sandbox.installation import FILE, home_label

from .sandboxes import HOME


def drop_volumes(folder: Path) -> None:
    """Remove those of the installations below a folder, and of the tests that have none."""
    try:
        engine = docker.from_env(timeout=60)
    except docker.errors.DockerException:
        return
    with closing(engine):
        for label in _labels(folder):
            for volume in engine.volumes.list(filters={"label": f"tiphys.home={label}"}):
                with suppress(docker.errors.APIError):  # one that a container still uses
                    volume.remove()


def _labels(folder: Path) -> Iterator[str]:
    yield home_label(HOME)
    for number in folder.rglob(FILE):
        yield home_label(str(number.parent))
