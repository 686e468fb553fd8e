"""The image: made once, fast when present, fit for any base; and what is said where none can be made."""

from __future__ import annotations

import asyncio
import contextlib
import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import docker
import pytest
from support.sandboxes import box, command, need_engine

from core.domain.errors import Unavailable
from core.domain.task import Host
from core.sandbox import built_image, image, packages, unused_images
from core.sandbox.sandbox import Sandbox
from core.sandbox.unused_images import prune_images

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def engine() -> Iterator[Any]:
    need_engine()
    client = docker.from_env()
    yield client
    client.close()


def test_the_image_is_made_once_and_then_found(engine: Any) -> None:
    first = image.build_image(engine)
    made = engine.images.get(first).attrs["Created"]
    assert image.build_image(engine) == first
    assert engine.images.get(first).attrs["Created"] == made
    assert engine.images.get(first).labels["tiphys.source"] == image.source_digest()
    assert image.fit(engine, first) == first


def test_any_base_becomes_fit_whatever_its_own_command_is(engine: Any, tmp_path: Path) -> None:
    base = image.build_base(engine)
    made = engine.containers.create(base, ["true"])
    try:
        made.commit("tiphys-test-base", "odd", changes='ENTRYPOINT ["/bin/false"]\nLABEL odd=1')
    finally:
        made.remove()
    fit = image.fit(engine, "tiphys-test-base:odd")
    try:
        assert fit != "tiphys-test-base:odd"

        async def work(sandbox: Sandbox) -> None:
            assert (await command(sandbox, "echo fit"))[1] == "fit\r\n"

        with box("docker", tmp_path, Host(name="odd", image="tiphys-test-base:odd")) as made:
            made.use(work)
    finally:
        engine.images.remove(fit, force=True)
        engine.images.remove("tiphys-test-base:odd", force=True)


def test_where_nothing_works_the_sentence_says_what_to_install(engine: Any) -> None:
    with pytest.raises(Unavailable, match="apt-get install python3 procps"):
        image._build(engine, "tiphys-test-none:1", ["python3", "procps"])


def test_the_packages_of_this_machine_are_closed_under_dependency() -> None:
    installed = packages.Installed()
    if installed.missing():
        pytest.skip(f"not a Debian machine with {installed.missing()}")
    chosen = installed.closure()
    assert {"bash", "libc6", "python3.11"} & set(chosen) >= {"bash", "libc6"}
    files = packages.files_of(chosen)
    assert "/usr/bin/bash" in files and len(files) == len(set(files))
    assert not [f for f in files if f.startswith(("/home", "/root", "/tmp", "/var", "/usr/share/doc"))]


def test_the_root_holds_nothing_of_this_machine_but_packages(tmp_path: Any) -> None:
    import tarfile

    if packages.Installed().missing():
        pytest.skip("not a Debian machine")
    packages.write_root(tmp_path / "root.tar")
    with tarfile.open(tmp_path / "root.tar") as tar:
        names = tar.getnames()
        passwd = tar.extractfile("etc/passwd")
        assert passwd is not None and b"agent:x:1000" in io.BytesIO(passwd.read()).read()
    assert len(names) == len(set(names))
    assert not [n for n in names if n in ("etc/shadow", "etc/hostname") or n.startswith("etc/ssh")]


def test_images_that_nothing_needs_go_and_what_was_asked_for_again_stays(engine: Any) -> None:
    base, made = image.build_base(engine), []
    try:
        for name, repository, changes in (("old", built_image.REPOSITORY, ""), ("used", built_image.REPOSITORY, ""),
                                          ("evaluation-x", image.REPOSITORY, ""),
                                          ("other-version", image.REPOSITORY, 'LABEL tiphys.source="of-before"')):
            container = engine.containers.create(base, ["true", name])
            container.commit(repository, f"{name}-test", changes=changes or "LABEL plain=1")
            container.remove()
            made.append(f"{repository}:{name}-test")
        holding = engine.containers.create(made[1], ["true"])
        at = datetime.now(UTC)
        assert image.is_made(engine, made[0]) and not image.is_made(engine, f"{built_image.REPOSITORY}:none-test")
        found = {one.name: one for one in asyncio.run(prune_images(unused=timedelta(), removes=False))}
        assert set(made) - {made[1]} <= set(found) and made[1] not in found, "a container is made of it"
        assert found[made[0]].used >= at - timedelta(seconds=1), "that it was asked for is noted"
        assert not {one.name for one in asyncio.run(prune_images())} & set(made), "they are young"
        assert unused_images._removed(engine, made[0]) and image.find_image(engine, made[0]) is None
        assert unused_images._is_obsolete(engine.images.get(made[3]), made[3])
        assert not unused_images._is_obsolete(engine.images.get(made[1]), made[1])
        holding.remove()
    finally:
        for name in made:
            with contextlib.suppress(docker.errors.DockerException):
                engine.images.remove(name, force=True)
