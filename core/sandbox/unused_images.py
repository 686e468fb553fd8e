"""Images that the program made and nothing needs any more: none is lost, as each is made again of what it was made of.

What a container is made of stays, however old: so do the files of sessions whose state is all of their image's.
"""

from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import docker.errors
import msgspec

from core.sandbox import built_image, image
from core.sandbox.engine import OWN, Client, in_thread, open_engine, translated
from core.sandbox.placement import EngineAddress

UNUSED = timedelta(days=30)
"""So long after it was last asked for an image goes."""

OBSOLETE = timedelta(days=1)
"""So long where no session can ask for it any more: a copy for an evaluation, one that another version made."""

_REPOSITORIES = (image.REPOSITORY, f"{image.REPOSITORY}-base", built_image.REPOSITORY)


class UnusedImage(msgspec.Struct, frozen=True):
    """An image by its name: when it was last asked for, the bytes that it takes with what it shares."""

    name: str
    used: datetime
    bytes: int


async def prune_images(at: EngineAddress = OWN, unused: timedelta = UNUSED, *, removes: bool = True
                       ) -> list[UnusedImage]:
    """Remove from an engine (or only name) what was asked for by nobody for so long. Raises Unavailable."""
    return await in_thread(_prune, at, unused, removes)


def _prune(at: EngineAddress, unused: timedelta, removes: bool) -> list[UnusedImage]:
    now = datetime.now(UTC)
    with closing(open_engine(at)) as engine:
        held = {c["ImageID"] for c in translated(lambda: engine.api.containers(all=True))}
        old = [one for found, one in _own(engine) if found.id not in held
               and now - one.used >= (min(OBSOLETE, unused) if _is_obsolete(found, one.name) else unused)]
        return [one for one in old if not removes or _removed(engine, one.name)]


def _own(engine: Client) -> Iterator[tuple[Any, UnusedImage]]:
    """Every name of an image that the program gave."""
    for repository in _REPOSITORIES:
        for found in translated(lambda name=repository: engine.images.list(name)):
            used = _moment(str(found.attrs.get("Metadata", {}).get("LastTagTime") or found.attrs["Created"]))
            for name in found.tags:
                if name.rpartition(":")[0] == repository:
                    yield found, UnusedImage(name, used, int(found.attrs.get("Size") or 0))


def _is_obsolete(found: Any, name: str) -> bool:
    if name.startswith(f"{image.REPOSITORY}:evaluation-"):
        return True
    made_by = found.labels.get("tiphys.source") or found.labels.get("tiphys.state", "").partition(":")[0]
    return bool(made_by) and made_by != image.source_digest()


def _removed(engine: Client, name: str) -> bool:
    """Whether it is gone; where a container came to need it meanwhile, the engine keeps it."""
    with suppress(docker.errors.APIError):
        engine.images.remove(name)
        return True
    return False


def _moment(text: str) -> datetime:
    """A time as the engine writes it, to the microsecond."""
    return datetime.fromisoformat(text[:19]).replace(tzinfo=UTC)
