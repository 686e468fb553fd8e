"""Images that the engine's own builder makes of a vetted Dockerfile and its files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import docker.errors

from core.domain.errors import InvalidInput, NotFound, Unavailable
from core.sandbox.engine import OWN, Client, open_engine, translated
from core.sandbox.image import build_image, find_image, is_made, pulled
from core.sandbox.network import ensure_egress, ensure_network, proxy_environment
from core.sandbox.placement import EngineAddress

REPOSITORY = "tiphys-task"
MEMORY = 4 << 30
"""Bytes that one step of a build may take."""


def build_task_image(name: str, bases: Sequence[str], context: Path, tag: str, *, reach: tuple[str, ...],
                     timeout: float, at: EngineAddress = OWN) -> str:
    """The reference of an image built of a tar, whose `Dockerfile` is vetted, unless it is there already. Blocking.

    `name` is how the Dockerfile is called in sentences; its commands reach what `reach` names, through a proxy, and
    nothing else. Raises NotFound (unknown_image) for a base that neither the engine nor a registry has, InvalidInput
    (bad_dockerfile) for one with triggers, Unavailable (image_not_built) with the builder's last words.
    """
    reference = f"{REPOSITORY}:{tag}"
    with closing(open_engine(at, timeout=max(10, int(timeout)))) as engine:
        if not is_made(engine, reference):
            for base in bases:
                _require_base(engine, name, base)
            with _way_out(engine, tag, reach) as options:
                _build(engine, name, context, reference, options)
    return reference


def _require_base(engine: Client, name: str, base: str) -> None:
    try:
        found = find_image(engine, base) or pulled(engine, base)
    except NotFound as error:
        raise NotFound("unknown_image", f"{name} builds upon the image {base}, which is not on this computer and which "
                       "no registry gives it. Load it (docker load) or build one of that name, and start again.",
                       image=base) from error
    if triggers := (found.attrs.get("Config") or {}).get("OnBuild"):  # an ADD of theirs is fetched by the engine
        raise InvalidInput("bad_dockerfile", f"{name} builds upon the image {base}, which asks for more (ONBUILD "
                           f"{str(triggers[0])[:200]}) than was read here: name an image without such triggers.")


@contextmanager
def _way_out(engine: Client, tag: str, reach: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """What a build is told of its network: none, or one of its own with a proxy as hosts have it."""
    if not reach:
        yield {"network_mode": "none"}
        return
    network, egress, labels = f"tiphys-build-{tag}", f"tiphys-build-{tag}-egress", {"tiphys.build": tag}
    try:
        ensure_network(engine, network, labels)
        ensure_egress(engine, egress, network, build_image(engine), reach, labels)
        yield {"network_mode": network, "buildargs": proxy_environment()}
    finally:
        with suppress(docker.errors.NotFound):
            engine.containers.get(egress).remove(force=True)
        with suppress(docker.errors.NotFound):
            engine.networks.get(network).remove()


def _build(engine: Client, name: str, context: Path, reference: str, options: dict[str, Any]) -> None:
    last = ""
    with context.open("rb") as tar:
        lines = translated(lambda: engine.api.build(
            fileobj=tar, custom_context=True, tag=reference, rm=True, forcerm=True, decode=True,
            container_limits={"memory": MEMORY, "memswap": MEMORY}, **options))
        with closing(lines):
            while (line := translated(lambda: next(lines, None))) is not None:
                last = str(line.get("stream") or last).strip() or last
                if "error" in line:
                    why = f"{str(line['error'])[:500]} {last[-500:]}"
                    raise Unavailable("image_not_built", f"{name} cannot be built: {why}")
