"""The sandbox image, made where no registry can be reached, and any image made fit to be a sandbox.

An image is fit when the terminal daemon lies in it and its /workspace and /home/agent may be written by
whoever the container runs as. `fit` adds that to any image with bash as one layer, small where the image has a
Python, so the base (from packages of this machine, from mmdebstrap, or built from the Dockerfile) is only a base.
"""

import functools
import hashlib
import io
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import docker.errors

from core.domain.errors import NotFound, Unavailable
from core.sandbox import packages
from core.sandbox.engine import Client, passing_container, translated
from core.sandbox.own_python import FOLDER, gather_python, lacks_python, launcher

REPOSITORY = "tiphys-sandbox"
INSTALLED = "/opt/tiphys"
RECIPE = "4"
"""Changes when the way of making images does, so that old ones are not taken for new ones."""
DOCKERFILE = Path(__file__).parents[2] / "resources" / "sandbox" / "Dockerfile"
_SOURCE = Path(__file__).parent / "ptyd"
_ENVIRONMENT = ("ENV PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 HOME=/home/agent USER=agent",
                "WORKDIR /workspace")


def build_image(engine: Client, base: str = "") -> str:
    """The reference of a fit image over `base`, or over the default base; made if it is not there yet.

    Blocking; some seconds the first time, then milliseconds. Raises Unavailable with what to install or do.
    """
    return fit(engine, base or build_base(engine))


def fit(engine: Client, base: str) -> str:
    """An image with the daemon in it. Raises NotFound when the engine has no such base and cannot pull it."""
    found = find_image(engine, base) or pulled(engine, base)
    tag = f"{REPOSITORY}:{short_digest(found.id, source_digest())}"
    if found.labels.get("tiphys.source") == source_digest():
        return base
    if is_made(engine, tag):
        return tag
    with passing_container(engine, base, ["true"]) as container:
        translated(lambda: container.put_archive("/", daemon_layer()))
        bring_own_python(engine, container)
        changes = "\n".join((*_ENVIRONMENT, f'LABEL tiphys.source="{source_digest()}"'))
        translated(lambda: container.commit(REPOSITORY, tag.partition(":")[2], changes=changes))
    return tag


def bring_own_python(engine: Client, container: Any) -> None:
    """Give a container of whatever image a Python for the daemon, where it has none. Blocking."""
    if not lacks_python(container):
        return
    tag = f"{REPOSITORY}-python:{source_digest()}"
    if not is_made(engine, tag):
        gather_python(engine, build_base(engine), tag)
    with passing_container(engine, tag, ["true"]) as source:
        pieces, _ = translated(lambda: source.get_archive("/python"))
        translated(lambda: container.put_archive(FOLDER, pieces))


def build_base(engine: Client) -> str:
    """The default base: from this machine's packages, else mmdebstrap, else `docker build` from a registry."""
    tag = f"{REPOSITORY}-base:{short_digest(RECIPE, *packages.REQUIRED, *packages.WELCOME)}"
    if is_made(engine, tag):
        return tag
    missing = packages.Installed().missing()
    with tempfile.TemporaryDirectory(prefix="tiphys-image-") as folder:
        root = Path(folder) / "root.tar"
        if not missing:
            packages.write_root(root)
        elif shutil.which("mmdebstrap"):
            _mmdebstrap(root)
        else:
            return _build(engine, tag, missing)
        translated(lambda: engine.api.import_image_from_file(str(root), *tag.split(":"), changes=list(_ENVIRONMENT)))
    return tag


def pulled(engine: Client, name: str) -> Any:
    """An image from its registry. Raises NotFound (unknown_image)."""
    repository, _, tag = name.rpartition(":") if ":" in name.rpartition("/")[2] else (name, "", "latest")
    try:
        return translated(lambda: engine.images.pull(repository, tag))
    except (NotFound, Unavailable) as error:
        raise NotFound("unknown_image", f"The Docker engine has no image {name} and cannot pull it: {error}",
                       image=name) from error


def _mmdebstrap(root: Path) -> None:
    wanted = ",".join((*packages.REQUIRED, "git", "ca-certificates", "diffutils", "mawk", "poppler-utils"))
    command = ["mmdebstrap", "--variant=minbase", f"--include={wanted}", "stable", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise Unavailable("no_image", f"mmdebstrap could not make the sandbox image: {done.stderr[-400:].strip()}")


def _build(engine: Client, tag: str, missing: list[str]) -> str:
    try:
        text = io.BytesIO(DOCKERFILE.read_bytes())
        translated(lambda: engine.images.build(fileobj=text, tag=tag, rm=True))
    except (OSError, Unavailable, NotFound) as error:
        raise Unavailable(
            "no_image",
            "There is no sandbox image and none can be made here. Install the missing packages "
            f"(apt-get install {' '.join(missing)}), or mmdebstrap, or let Docker reach a registry, "
            f"or name an image of your own in the task. (docker build: {error})",
        ) from error
    return tag


def daemon_layer() -> bytes:
    """The daemon, the two folders that an agent may write, and the places of tmpfs.

    These exist with their modes because runc gives a tmpfs the mode of the folder below it, if there is one:
    a folder that the first start made would close the tmpfs to the agent at the second.
    """
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, mode, owner in (("opt", 0o755, 0), ("opt/tiphys", 0o755, 0), ("opt/tiphys/ptyd", 0o755, 0),
                                  ("workspace", 0o1777, 1000), ("home", 0o755, 0), ("home/agent", 0o1777, 1000),
                                  ("shared", 0o1777, 1000),
                                  ("tmp", 0o1777, 0), ("run/ptyd", 0o1777, 0), ("run/tiphys", 0o1777, 0)):
            info = tarfile.TarInfo(name)
            info.type, info.mode, info.uid, info.gid = tarfile.DIRTYPE, mode, owner, owner
            tar.addfile(info)
        for path in sorted(_SOURCE.glob("*.py")):
            data = path.read_bytes()
            info = tarfile.TarInfo(f"opt/tiphys/ptyd/{path.name}")
            info.size, info.mode = len(data), 0o644
            tar.addfile(info, io.BytesIO(data))
        info, data = launcher()
        tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


@functools.cache
def source_digest() -> str:
    """What the daemon's source and the recipe are, in 12 digits."""
    texts = (path.read_text() for path in sorted(_SOURCE.glob("*.py")))
    return short_digest(RECIPE, launcher()[1].decode(), *_ENVIRONMENT, *texts)


def short_digest(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=6).hexdigest()


def is_made(engine: Client, tag: str) -> bool:
    """Whether an image of ours is there already; that it was asked for is noted by naming it again."""
    found = find_image(engine, tag)
    if found is not None:
        translated(lambda: found.tag(tag))
    return found is not None


def find_image(engine: Client, name: str) -> Any:
    """The engine's image of that name, or None. Raises Unavailable."""
    try:
        return engine.images.get(name)
    except docker.errors.ImageNotFound:
        return None
    except docker.errors.DockerException as error:
        raise Unavailable("no_engine", f"The Docker engine cannot be reached: {error}.") from error
