"""Images that the engine's own builder makes of a vetted Dockerfile and its files."""

import secrets
import shutil
import socket
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any

import docker.errors

from core.domain.errors import InvalidInput, NotFound, Unavailable
from core.sandbox.engine import OWN, Client, open_engine, translated
from core.sandbox.image import build_image, find_image, is_made, pulled, short_digest
from core.sandbox.network import ensure_egress, ensure_network, proxy_environment
from core.sandbox.placement import EngineAddress

REPOSITORY = "tiphys-task"
MEMORY = 4 << 30
"""Bytes that one step of a build may take."""

LONGEST_S = 3600.0
"""How long a build may take in all, in seconds; how long it may say nothing, its caller decides."""

MOST_PRINTED = 256 << 20
"""Bytes that a build may print."""

LOOK_S = 2.0
LEAST_FREE = 2 << 30
"""Bytes that a build leaves on the engine's disk, where that is this machine's."""


def build_task_image(name: str, bases: Sequence[str], context: Path, tag: str, *, reach: tuple[str, ...],
                     timeout: float, longest: float = LONGEST_S, at: EngineAddress = OWN) -> str:
    """The reference of an image built of a tar, whose `Dockerfile` is vetted, unless it is there already, made of the
    bases that the engine has now. Blocking.

    `name` is how the Dockerfile is called in sentences; its commands reach what `reach` names, through a proxy, and
    nothing else; it may say nothing for `timeout` and take `longest` seconds. Raises NotFound (unknown_image) for a
    base that neither the engine nor a registry has, InvalidInput (bad_dockerfile) for one with triggers, Unavailable
    (image_not_built) with the builder's last words.
    """
    newest = f"{REPOSITORY}:{tag}"
    with closing(open_engine(at, timeout=max(10, int(timeout)))) as engine:
        if not all(find_image(engine, base) for base in bases) and is_made(engine, newest):
            return newest  # a base that was removed since cannot have changed
        ids = [_require_base(engine, name, base) for base in bases]
        reference = f"{REPOSITORY}:{short_digest(tag, *ids)}"
        if not is_made(engine, reference):
            with _way_out(engine, tag, reach) as options:
                _build(engine, name, context, reference, options, longest)
            translated(lambda: engine.images.get(reference).tag(newest))
    return reference


def _require_base(engine: Client, name: str, base: str) -> str:
    try:
        found = find_image(engine, base) or pulled(engine, base)
    except NotFound as error:
        raise NotFound("unknown_image", f"{name} builds upon the image {base}, which is not on this computer and which "
                       "no registry gives it. Load it (docker load) or build one of that name, and start again.",
                       image=base) from error
    if triggers := (found.attrs.get("Config") or {}).get("OnBuild"):  # an ADD of theirs is fetched by the engine
        raise InvalidInput("bad_dockerfile", f"{name} builds upon the image {base}, which asks for more (ONBUILD "
                           f"{str(triggers[0])[:200]}) than was read here: name an image without such triggers.")
    return str(found.id)


@contextmanager
def _way_out(engine: Client, tag: str, reach: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """What a build is told of its network: none, or one of its own with a proxy as hosts have it."""
    if not reach:
        yield {"network_mode": "none"}
        return
    network, labels = f"tiphys-build-{tag}-{secrets.token_hex(4)}", {"tiphys.build": tag}
    egress = f"{network}-egress"  # of this build alone: another one of the same image may begin and end meanwhile
    _drop_left(engine, "tiphys.build", 2 * LONGEST_S)
    try:
        ensure_network(engine, network, labels)
        ensure_egress(engine, egress, network, build_image(engine), reach, labels)
        yield {"network_mode": network, "buildargs": proxy_environment()}
    finally:
        with suppress(docker.errors.NotFound):
            engine.containers.get(egress).remove(force=True)
        _drop_network(engine, network)


def _drop_network(engine: Client, name: str) -> None:
    """Remove a build's network. Of a build that was hung up on the engine still ends the last container, which may join
    until then; what is left after some seconds goes with a later build's."""
    for _ in range(50):
        try:
            left = engine.networks.get(name)
            for container in left.attrs["Containers"]:
                with suppress(docker.errors.APIError):
                    left.disconnect(container, force=True)
            left.remove()
        except docker.errors.NotFound:
            return
        except docker.errors.APIError:
            time.sleep(0.1)


def _drop_left(engine: Client, label: str, seconds: float) -> None:
    """Remove the ways out of builds whose program was killed: none builds for so long."""
    old = datetime.now(UTC) - timedelta(seconds=seconds)
    chosen = {"label": label}
    for found in (*engine.containers.list(all=True, ignore_removed=True, filters=chosen),
                  *engine.networks.list(filters=chosen)):
        if datetime.fromisoformat(found.attrs["Created"][:19]).replace(tzinfo=UTC) < old:
            with suppress(docker.errors.APIError):
                found.remove(**({"force": True} if "Image" in found.attrs else {}))


def _build(engine: Client, name: str, context: Path, reference: str, options: dict[str, Any], longest: float) -> None:
    builder = _Builder(engine, longest)
    with context.open("rb") as tar, builder.watched():
        try:
            last = builder.follow(translated(lambda: engine.api.build(
                fileobj=tar, custom_context=True, tag=reference, rm=True, forcerm=True, decode=True,
                container_limits={"memory": MEMORY, "memswap": MEMORY}, **options)))
        except Unavailable:
            if not builder.ended:
                raise
            last = ""
    if problem := builder.ended or last:
        raise Unavailable("image_not_built", f"{name} cannot be built: {problem}")


class _Builder:
    """One build at an engine, which is ended by hanging up on it: where it takes too long, says too much or leaves too
    little of the disk."""

    def __init__(self, engine: Client, longest: float) -> None:
        self.ended, self._longest = "", longest
        self._engine, self._printed, self._over = engine, 0, Event()
        self._root = Path(str(engine.info().get("DockerRootDir") or "/"))
        self._answers: list[Any] = []
        engine.api.hooks["response"].append(lambda answer, *_, **__: self._answers.append(answer))

    def follow(self, lines: Generator[dict[str, Any], None, None]) -> str:
        """Read what it says to its end; its last words where it failed, else ""."""
        words = ""
        while (line := translated(lambda: next(lines, None))) is not None:
            words = f"{words}{line.get('stream') or ''}"[-500:]
            self._printed += len(str(line))
            if "error" in line:
                return f"{words.strip()} ({' '.join(str(line['error']).split())[-300:]})"
        return ""

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Meanwhile nothing goes too far."""
        watcher = Thread(target=self._watch, args=(time.monotonic() + self._longest,), name="build", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            self._over.set()
            watcher.join()
            for answer in self._answers:
                answer.close()  # of one that told an error the rest is never read

    def _watch(self, end: float) -> None:
        while not (self._over.wait(LOOK_S) or self.ended):
            if time.monotonic() > end:
                self._end(f"it does not end within {self._longest:g} s.")
            elif self._printed > MOST_PRINTED:
                self._end(f"it prints more than {MOST_PRINTED >> 20} MiB.")
            elif self._root.is_dir() and shutil.disk_usage(self._root).free < LEAST_FREE:
                self._end(f"less than {LEAST_FREE >> 30} GiB are left on the engine's disk.")

    def _end(self, why: str) -> None:
        if self._answers:
            self.ended = why
            stream = self._engine.api._get_raw_response_socket(self._answers[-1])
            getattr(stream, "_sock", stream).shutdown(socket.SHUT_RDWR)
