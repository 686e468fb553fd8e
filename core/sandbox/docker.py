"""A host in a Docker container: non-root, no capabilities, read-only but for two volumes and bounded tmpfs.

The root file system is read-only, so whatever a task changes lies in /workspace and /home/agent. These are
volumes: a writable layer would need a writable root. A commit does not hold volumes, so a snapshot reads their files
from inside, and only those that changed (`core.agents.saved_files`).

The daemon is the container's main process and talks over a socket on a volume of its own: a tmpfs of a fixed size,
so that nothing fills this machine's disk beside what is measured. Where that cannot be entered from here (the engine
is on another machine, or we are not root) an exec of its `bridge` takes its place.
"""

import asyncio
import contextlib
import logging
import os
import re
import time
from pathlib import Path
from typing import Any

import docker.errors

from core.aio import TaskScope
from core.domain.blob import blob_hash
from core.domain.errors import NotFound, ReportableError, Unavailable
from core.domain.task import Host
from core.sandbox import network
from core.sandbox.bridge import open_bridge
from core.sandbox.container import SHARED, SOCKET, WRITABLE, folders, limits, networking
from core.sandbox.daemon_link import Streams
from core.sandbox.daemon_socket import BOOT, connect_socket
from core.sandbox.engine import Client, in_thread, is_local, open_engine, way_to
from core.sandbox.image import INSTALLED, build_image
from core.sandbox.installation import home_label, is_unnumbered
from core.sandbox.placement import HERE, HostLinks, HostPlace
from core.sandbox.sandbox import Sandbox
from core.sandbox.streams import LAUNCHER

SOCKET_VOLUME = "socket"
MEASURED_S = 30.0
"""How long the engine may be at measuring its volumes for somebody else."""
SOCKET_BYTES, SOCKET_INODES = 1 << 20, 64
"""All that a container can write beside its socket: a tmpfs, which is memory, holds no more."""

_log = logging.getLogger("sandbox")


class DockerSandbox(Sandbox):
    """A host of a session as a container that is named after that session and host, and is its installation's alone."""

    confined = True

    def __init__(self, session: str, host: Host, folder: Path, image: str = "", *, home: str = "",
                 bridge: bool | None = None, placement: HostPlace = HERE, links: HostLinks = HostLinks()) -> None:
        """`bridge` chooses the way in (None: the socket itself where the engine is local and we may)."""
        super().__init__(host, "/workspace")
        self.placement, self.links = placement, links
        self.folders = dict(WRITABLE) | ({"shared": SHARED} if links.shared_folder else {})
        self.session = session
        self.image = image or host.image
        self.labels = {"tiphys.session": session, "tiphys.host": host.name, "tiphys.home": home_label(home)}
        self._is_unnumbered = is_unnumbered(home)
        self.name = self._named(host.name)
        self._folder: Path | None = None
        self._bridge = not is_local(placement.address) if bridge is None else bridge
        self._engine_client: Client = None
        self._way = ""
        self._bridges = TaskScope(f"bridges {self.name}")

    async def start(self) -> None:
        """See Sandbox. The first start of an installation makes the image."""
        await in_thread(self._ensure)
        error: ReportableError | None = None
        for tried in range(250):
            try:
                await self.terminals.list()
                return
            except Unavailable as problem:
                error = problem
            await asyncio.sleep(0.1)
            if tried % 30 == 29:  # a daemon that lost its socket ends by itself, and its container with it
                await in_thread(self._ensure)
        state, output = await in_thread(lambda: self._container().status), await in_thread(self._last_output)
        raise Unavailable("sandbox_start", f"Sandbox {self.host.name} did not start ({state}): {output or error}")

    async def close(self) -> None:
        await super().close()
        await self._bridges.close()
        self._bridges = TaskScope(f"bridges {self.name}")
        client, self._engine_client = self._engine_client, None
        if client is not None:
            await in_thread(client.close)

    async def stop(self) -> None:
        with contextlib.suppress(NotFound):
            await in_thread(self._end)
        await self.close()

    async def remove(self) -> None:
        own = [self._volume(which) for which in (*WRITABLE, SOCKET_VOLUME)]
        await in_thread(lambda: remove_container(self._engine(), self.name, own))
        await in_thread(self._leave_session)
        await self.close()

    def _end(self) -> None:
        """Volumes stay; the rest is made anew by the next start."""
        container = self._container()
        container.stop(timeout=2)
        network.let_go(self._engine(), container)
        if self._network() and not self.links.joins:
            network.close_network(self._engine(), self._network(), self._of_session("egress"))

    async def disk_used(self) -> int:
        """See Sandbox. The engine measures its volumes."""
        volumes = await in_thread(lambda: volume_sizes(self._engine()))
        return sum(volumes.get(volume, 0) for volume in self._volumes().values())

    async def _connect(self) -> Streams:
        if not self._bridge:
            try:
                return await connect_socket(await in_thread(self._socket_folder))
            except (OSError, NotFound) as error:
                _log.debug("the socket of %s cannot be entered from here: %s", self.name, error)
        command = [LAUNCHER, "-I", "-B", "-c", BOOT, INSTALLED, "bridge", SOCKET]
        try:
            return await open_bridge(self.placement.address, await in_thread(self._engine), self.name, command,
                                     self._bridges)
        except NotFound as error:
            raise ConnectionRefusedError(str(error)) from error

    def _socket_folder(self) -> Path:
        """Where the engine has the socket's volume on its machine."""
        if self._folder is None:
            self._folder = Path(self._engine().volumes.get(self._volume(SOCKET_VOLUME)).attrs["Mountpoint"])
        return self._folder

    def _engine(self) -> Client:
        """A client by the way that there is now. Blocking."""
        way = way_to(self.placement.address)
        if self._engine_client is not None and way != self._way:
            self._engine_client.close()
            self._engine_client = None
        if self._engine_client is None:
            self._engine_client, self._way = open_engine(self.placement.address), way
        return self._engine_client

    def _container(self) -> Any:
        return self._engine().containers.get(self.name)

    def _last_output(self) -> str:
        return bytes(self._container().logs(tail=5)).decode("utf-8", "replace").strip()[-500:]

    def _volume(self, which: str) -> str:
        return f"{self.name}-{which}"

    def _ensure(self) -> None:
        """Have the container run: the one that is there, or a new one."""
        self._ensure_network()
        try:
            container = self._container()
        except docker.errors.NotFound:
            container = self._create()
        if self._network():
            network.join_network(self._engine(), self._network(), container, self.host.name)
        if container.status == "paused":
            container.unpause()
        elif container.status != "running":
            _log.info("Starting container %s (%s)", self.name, container.status)
            container.start()

    def _create(self) -> Any:
        engine = self._engine()
        image = self._fit(engine)
        self.is_new = not self._has_volume(engine)
        for volume in self._volumes().values():
            engine.volumes.create(volume, labels=self.labels)
        shape = {"user": f"{user_id()}:{user_id()}"} | self._shape(float(engine.info().get("NCPU") or self.host.cpus))
        user, _, group = shape["user"].partition(":")
        engine.volumes.create(self._volume(SOCKET_VOLUME), driver="local", labels=self.labels, driver_opts={
            "type": "tmpfs", "device": "tmpfs", "o": f"size={SOCKET_BYTES},nr_inodes={SOCKET_INODES},mode=0700,"
            f"uid={user},gid={group},nosuid,nodev,noexec"})
        command = ["-I", "-B", "-c", BOOT, INSTALLED, "serve", SOCKET, "/run/ptyd", self.workspace]
        # The entry point is named, so that the image's own does not count.
        return self._named_in_network(engine.containers.create(
            image, command, entrypoint=[LAUNCHER], name=self.name, labels=self.labels,
            hostname=_plain(self.host.name)[:60], working_dir=self.workspace, detach=True,
            **shape, **networking(self._network(), self._variables())))

    def _named_in_network(self, made: Any) -> Any:
        """The new container, which is known in the session's network by the name that the agent is told."""
        if self._network():
            joined = self._engine().networks.get(self._network())
            joined.disconnect(made)
            joined.connect(made, aliases=[self.host.name])
        return made

    def _described(self) -> dict[str, Any]:
        """What the engine says of the container, with how much it has written."""
        api = self._engine().api
        found: dict[str, Any] = api._result(
            api._get(api._url("/containers/{0}/json", self.name), params={"size": True}), json=True)
        return found

    def _variables(self) -> dict[str, str]:
        """What all of its programs are told."""
        return (network.proxy_environment(self.links.peers) if self._reaches_out() else {}) | self.host.environment

    def _has_volume(self, engine: Client) -> bool:
        with contextlib.suppress(docker.errors.NotFound):
            engine.volumes.get(self._volume("workspace"))
            return True
        return False

    def _fit(self, engine: Client) -> str:
        """The image that the container is made of."""
        return build_image(engine, self.image)

    def _shape(self, cpus: float) -> dict[str, Any]:
        """Its limits and folders."""
        return {**limits(self.host, cpus, self.placement.gpus),
                **folders(self.host, self._volumes(), self._volume(SOCKET_VOLUME), self.links)}

    def _volumes(self) -> dict[str, str]:
        """Where its volumes appear, and their names; the shared one is the session's."""
        own = {target: self._volume(which) for which, target in WRITABLE.items()}
        return own | ({SHARED: self._of_session("shared")} if self.links.shared_folder else {})

    def _reaches_out(self) -> bool:
        return self.host.network or bool(self.host.reach)

    def _network(self) -> str:
        """The session's network where the host is on it, else ""."""
        return self._of_session("network") if self.links.has_peers or self._reaches_out() else ""

    def _leave_session(self) -> None:
        """With its last host goes what the session's hosts have in common on this engine. A guest has nothing of it."""
        if self.links.joins:
            return
        engine, egress = self._engine(), self._of_session("egress")
        chosen = {"label": [f"tiphys.session={self.session}", f"tiphys.home={self.labels['tiphys.home']}"]}
        left = engine.containers.list(all=True, ignore_removed=True, filters=chosen)
        if {container.name for container in left} <= {egress}:
            remove_container(engine, egress, [self._of_session("shared")])
            with contextlib.suppress(docker.errors.NotFound):
                engine.networks.get(self._of_session("network")).remove()

    def _of_session(self, what: str) -> str:
        return self._named(f"-{what}", self.links.joins)

    def _named(self, part: str, session: str = "") -> str:
        """A name on the engine that no other installation, session or part has, however these are called."""
        session = session or self.session
        if self._is_unnumbered:
            return _plain(f"tiphys-{session}-{part}")
        whole = blob_hash("\0".join((self.labels["tiphys.home"], session, part)).encode())[:16]
        return _plain(f"tiphys-{whole}-{session}-{part}")

    def _ensure_network(self) -> None:
        """The session's network and way out, as far as this host is on them."""
        if not self._network():
            return
        engine = self._engine()
        network.ensure_network(engine, self._network(), self.labels)
        if self._reaches_out():
            network.ensure_egress(engine, self._of_session("egress"), self._network(), build_image(engine),
                                  self.links.reach, self.labels)


def user_id() -> int:
    """Whom a sandbox's programs run as: never root."""
    return os.getuid() or 1000


def volume_sizes(engine: Client) -> dict[str, int]:
    """How many bytes each volume takes, by name (Engine API 1.42, `GET /system/df`). Blocking."""
    api, until = engine.api, time.monotonic() + MEASURED_S
    while True:
        try:
            answer = api._result(api._get(api._url("/system/df"), params={"type": "volume"}), json=True)
            break
        except docker.errors.APIError as error:  # the engine measures for one at a time
            if "already running" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.2)
    return {v["Name"]: max(0, int((v.get("UsageData") or {}).get("Size", 0))) for v in answer.get("Volumes") or []}


def remove_container(engine: Client, name: str, volumes: list[str]) -> None:
    """Delete a container and volumes, as far as they exist. Blocking."""
    with contextlib.suppress(docker.errors.NotFound):
        engine.containers.get(name).remove(force=True, v=True)  # with the volumes that its image asked for
    for volume in volumes:
        with contextlib.suppress(docker.errors.NotFound):
            engine.volumes.get(volume).remove(force=True)


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "-", text)[:120]
