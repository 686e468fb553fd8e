"""The Python of a sandbox's own programs, for images that have none: the sandbox image's, with its C library.

Many images of other people's tasks are a bare `ubuntu:24.04`. What is brought lies below /opt/tiphys, is started by
its own loader, and so needs nothing of the image but a shell; the image's programs do not see it. An image that has
Python 3.9 or newer keeps its own.
"""

import io
import re
import tarfile
from contextlib import suppress
from typing import Any

import docker.errors

from core.domain.errors import Unavailable
from core.sandbox.engine import Client, passing_container, translated
from core.sandbox.streams import LAUNCHER

OLDEST = 9
PLACES = ("/usr/local/bin/python3", "/usr/bin/python3")
FOLDER = LAUNCHER.rpartition("/")[0]
_START = (f"#!/bin/sh\nat={FOLDER}/python\nif [ -x $at/loader ]; then\n"
          "    exec $at/loader --library-path $at/lib --argv0 $at/bin/python3 $at/bin/python3 \"$@\"\nfi\n"
          "exec python3 \"$@\"\n")
_NAMED = re.compile(r"python3\.(\d+)\Z")
_GATHER = r"""
import os, pathlib, re, shutil, subprocess, sys, sysconfig
target = pathlib.Path("/python")
skipped = shutil.ignore_patterns("test", "idlelib", "lib2to3", "ensurepip", "distutils", "pydoc_data", "tkinter",
                                 "turtledemo", "*-packages", "config-*", "__pycache__", "unittest")
stdlib = pathlib.Path(sysconfig.get_path("stdlib"))
shutil.copytree(stdlib, target / "lib" / stdlib.name, ignore=skipped)
(target / "bin").mkdir()
program = target / "bin/python3"
shutil.copy(os.path.realpath(sys.executable), program)
for file in (program, *(target / "lib").glob("*/lib-dynload/*.so")):
    for line in subprocess.run(["ldd", file], capture_output=True, text=True).stdout.splitlines():
        if found := re.match(r"\s*(?:(\S+) => )?(/\S+) \(0x", line):
            shutil.copy(os.path.realpath(found[2]), target / "lib" / found[1] if found[1] else target / "loader")
subprocess.run([target / "loader", "--library-path", target / "lib", "--argv0", program, program, "-I", "-c",
                "import asyncio, tarfile, json, tempfile, selectors, zlib, hashlib, socket, pty"], check=True)
"""
"""The last line has what the daemon needs compiled, as nobody may write there later."""


def launcher() -> tuple[tarfile.TarInfo, bytes]:
    """The file that starts it, of every image that was made fit to be a sandbox."""
    info = tarfile.TarInfo(LAUNCHER[1:])
    info.size, info.mode = len(_START), 0o755
    return info, _START.encode()


def lacks_python(container: Any) -> bool:
    """Whether a container's image has no Python that the daemon could run with. Blocking."""
    return not any(_is_new_enough(container, place) for place in PLACES)


def _is_new_enough(container: Any, place: str) -> bool:
    with suppress(docker.errors.NotFound):
        pieces, _ = container.get_archive(place)
        with tarfile.open(fileobj=io.BytesIO(b"".join(pieces))) as tar:
            member = tar.next()
            found = _NAMED.search(member.linkname) if member is not None else None
            return found is not None and int(found[1]) >= OLDEST
    return False


def gather_python(engine: Client, base: str, tag: str) -> None:
    """Make the image that holds it, of one that has a Python of Debian's. Blocking. Raises Unavailable."""
    with passing_container(engine, base, ["-I", "-c", _GATHER], entrypoint=["python3"], user="0:0",
                           network_mode="none", cap_drop=["ALL"], mem_limit=512 << 20) as made:
        translated(made.start)
        if translated(lambda: made.wait(timeout=300))["StatusCode"]:
            words = bytes(translated(made.logs))[-300:].decode("utf-8", "replace").strip()
            raise Unavailable("no_image", f"A Python for images without one could not be made: {words}")
        translated(lambda: made.commit(*tag.split(":")))
