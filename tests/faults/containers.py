"""The containers of a run and the way to their engine, both of which can be killed.

The engine itself is everybody's on a machine, so its death is played: every connection to it is cut, it is out of reach
for a while, and all containers of the run are dead, as they are when an engine without live restore dies.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import random
import re
import tarfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import docker
import docker.errors

from core.aio import TaskScope
from core.sandbox.installation import home_label

REAL = "/var/run/docker.sock"
_REMOVAL = re.compile(rb"^DELETE /\S*containers/([0-9A-Za-z_.-]+)", re.MULTILINE)


async def _pass(_data: bytes) -> None:
    """Nothing is to be done first."""


class Engine:
    """The engine as the parties of a run see it: a socket of their own that leads to the real one."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.socket = folder / "engine.sock"
        self._label = {"label": f"tiphys.home={home_label(str(home))}"}
        self._scope = TaskScope("engine")
        self._writers: set[asyncio.StreamWriter] = set()
        self._is_away = False
        self._acts: dict[str, tuple[str, str]] = {}  # container: its session, and what it carried out

    async def start(self) -> None:
        """Listen."""
        self._client = docker.from_env(timeout=60)
        self._server = await asyncio.start_unix_server(self._accept, str(self.socket))

    async def close(self) -> None:
        """Remove whatever the run made."""
        self._server.close()
        self._cut()
        await self._scope.close()
        await asyncio.to_thread(self._remove)
        self._client.close()

    async def kill_one(self, chance: random.Random) -> bool:
        """Kill a running container; False when none runs."""
        found = await asyncio.to_thread(self._client.containers.list, filters=self._label)
        return bool(found) and await asyncio.to_thread(_kill, chance.choice(found))

    async def die(self, seconds: float) -> int:
        """The engine and all that runs in it die; it is back after so long. Gives how many containers died."""
        self._is_away = True
        self._cut()
        found = await asyncio.to_thread(self._client.containers.list, filters=self._label)
        killed = [await asyncio.to_thread(_kill, one) for one in found]
        await asyncio.sleep(seconds)
        self._is_away = False
        return sum(killed)

    def write_acts(self, prompts: Path, target: Path) -> None:
        """What was really carried out, from the files in the containers, as lines for the judge."""
        asked = [json.loads(line) for line in prompts.read_text().splitlines()]
        steps = {(line["session"], line["call"]): line["step"] for line in asked}
        for one in self._client.containers.list(all=True, filters=self._label):
            self._take_acts(one)
        with target.open("w") as file:
            for session, acts in self._acts.values():
                for call in acts.split():
                    line = {"session": session, "step": steps[session, call], "call": call}
                    file.write(json.dumps(line) + "\n")

    def _take_acts_of(self, name: str) -> None:
        self._take_acts(self._client.containers.get(name))

    def _take_acts(self, container: Any) -> None:
        self._acts[container.id] = container.labels["tiphys.session"], _read(container, "/workspace/acts")

    async def _take_before_removal(self, data: bytes) -> None:
        """A container goes with its session: what it carried out is read before its removal reaches the engine."""
        for found in _REMOVAL.findall(data):
            with contextlib.suppress(docker.errors.NotFound):
                await asyncio.to_thread(self._take_acts_of, found.decode())

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_away:
            writer.transport.abort()
            return
        there_reader, there_writer = await asyncio.open_unix_connection(REAL)
        self._writers |= {writer, there_writer}
        self._scope.spawn(self._pump(reader, there_writer, self._take_before_removal), name="up")
        self._scope.spawn(self._pump(there_reader, writer), name="down")

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter,
        first: Callable[[bytes], Awaitable[None]] = _pass,
    ) -> None:  # fmt: skip
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                await first(data)
                writer.write(data)
                await writer.drain()
        writer.close()
        self._writers.discard(writer)

    def _cut(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    def _remove(self) -> None:
        for container in self._client.containers.list(all=True, filters=self._label):
            container.remove(force=True)
        for volume in self._client.volumes.list(filters=self._label):
            volume.remove(force=True)


def _kill(container: Any) -> bool:
    try:
        container.kill()
    except docker.errors.APIError:  # it was gone already
        return False
    return True


def _read(container: Any, path: str) -> str:
    try:
        chunks, _ = container.get_archive(path)
    except docker.errors.NotFound:
        return ""
    with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as archive:
        file = archive.extractfile(archive.getmembers()[0])
        return file.read().decode() if file else ""
