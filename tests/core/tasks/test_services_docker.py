"""Services of a task in real containers: their programs, what they wait for, their end, and the tests that ask them."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import docker
import pytest
from support.foreign_tasks import HARBOR
from support.sandboxes import HOME, need_engine
from support.tasks import write_folder

from core.domain.errors import LimitReached, Unavailable
from core.domain.ids import new_id
from core.domain.task import Health, Host, Program
from core.sandbox.disk_watch import unless_full
from core.sandbox.engine import open_engine
from core.sandbox.image import build_base
from core.sandbox.installation import home_label
from core.sandbox.placement import HostLinks
from core.sandbox.reaper import unfinished
from core.sandbox.services import Services, open_service
from core.tasks.catalogue import Catalogue
from core.tasks.proof import prove

pytestmark = pytest.mark.docker

STORE = '''
import http.server, os
class Store(http.server.BaseHTTPRequestHandler):
    rows = []
    def do_GET(self):
        self.send_response(200); self.end_headers()
        self.wfile.write(",".join(self.rows).encode() if self.path == "/rows" else os.environ["GREETING"].encode())
    def do_POST(self):
        self.rows.append(self.path[1:]); self.do_GET()
http.server.HTTPServer(("", 80), Store).serve_forever()
'''
ASK = ("python3 -c \"import urllib.request as u; print(u.urlopen(u.Request('http://store/{}', method='{}')).read()"
       ".decode())\"")
COMPOSE = f"""
services:
  main:
    depends_on: {{seed: {{condition: service_completed_successfully}}}}
    environment: {{STORE: "http://store"}}
  store:
    build: ./store
    environment: [GREETING=hello]
    healthcheck: {{test: {json.dumps(ASK.format("", "GET"))}, interval: 200ms, retries: 50}}
  seed:
    image: IMAGE
    entrypoint: ["/bin/sh", "-c"]
    command: [{json.dumps(ASK.format("seeded", "POST"))}]
    depends_on: {{store: {{condition: service_healthy}}}}
"""


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    """An image without a daemon, as a registry would give it; what is built on it goes with it."""
    need_engine()
    tag = f"tiphys-test-services:{new_id()[-8:]}"
    with closing(open_engine()) as engine:
        engine.images.get(build_base(engine)).tag(*tag.split(":"))
        yield tag
        for image in engine.images.list():
            if tag in image.tags or any(one.startswith("tiphys-task:") for one in image.tags):
                with contextlib.suppress(docker.errors.APIError):
                    engine.images.remove(tag if tag in image.tags else image.id, force=tag not in image.tags)


def test_a_task_whose_services_work_is_sound_and_nothing_is_left_of_them(base: str, tmp_path: Path) -> None:
    """The seed was there before the agent, the agent reaches the store, and so do the tests, in their copy."""
    test = f"test \"$({ASK.format('rows', 'GET')})\" = seeded,solved && echo 1 > /logs/verifier/reward.txt || " \
           "echo 0 > /logs/verifier/reward.txt\n"
    write_folder(tmp_path / "tasks/one", {
        **HARBOR, "environment/Dockerfile": f"FROM {base}\nWORKDIR /app\nCOPY text text\n", "tests/test.sh": test,
        "environment/docker-compose.yaml": COMPOSE.replace("IMAGE", base), "environment/store/store.py": STORE,
        "environment/store/Dockerfile": f"FROM {base}\nCOPY store.py /\nCMD [\"python3\", \"/store.py\"]\n",
        "solution/solve.sh": f"test $STORE = http://store\n{ASK.format('solved', 'POST')}\n"})
    catalogue = Catalogue([tmp_path / "tasks"])
    found = {one.check: one for one in prove(catalogue.entries()[0], catalogue, tmp_path, HOME)}
    assert all(one.passed for one in found.values()), found
    ours = {"label": f"tiphys.home={home_label(HOME)}"}
    with closing(open_engine()) as engine:
        assert not [c.name for c in engine.containers.list(all=True, ignore_removed=True, filters=ours)
                    if "-check-" in c.name]
        assert not [n.name for n in engine.networks.list(filters=ours) if "-check-" in n.name]


def service(name: str, base: str, script: str, *, health: Health | None = None, disk_mb: int = 1024, **program: object
            ) -> Host:
    return Host(name=name, image=base, disk_mb=disk_mb, memory_mb=128, program=Program(
        entrypoint=("/bin/sh", "-c"), command=(script,), health=health, **program))  # type: ignore[arg-type]


def beside(tmp_path: Path, session: str, *hosts: Host) -> Services:
    return Services(open_service(session, one, tmp_path, home=HOME, links=HostLinks(has_peers=True)) for one in hosts)


@pytest.mark.parametrize(("script", "health", "words"), [
    ("echo no such table; exit 3", None, "ended with exit code 3 (no such table)"),
    ("echo waiting; sleep 100", Health(command=("false",), every_s=0.2, retries=2), "its health check failed"),
])
def test_a_service_that_does_not_come_up_says_why(base: str, tmp_path: Path, script: str, health: Health | None,
                                                  words: str) -> None:
    services = beside(tmp_path, new_id(), service("db", base, script, health=health))

    async def life() -> None:
        try:
            await services.start()
            await services.sandboxes["db"].reached("completed")
        finally:
            await services.remove()

    with pytest.raises(Unavailable, match="service db of the task does not run") as caught:
        asyncio.run(life())
    assert caught.value.code == "service_failed" and words in caught.value.sentence


def test_a_service_is_bounded_and_ended_and_comes_back_with_its_files(base: str, tmp_path: Path) -> None:
    session = new_id()
    script = "echo x >> /state; id -u > /who; cat /proc/self/status | grep CapEff >> /who; sleep 1000"
    services = beside(tmp_path, session, service("db", base, script, disk_mb=8))
    box = services.sandboxes["db"]

    async def _read(path: str, words: int) -> str:
        """A file of its container, once it has so many words."""
        with closing(open_engine()) as engine:
            for _ in range(300):
                inside = engine.containers.get(box.name)  # type: ignore[attr-defined]
                ran = await asyncio.to_thread(inside.exec_run, ["cat", path])
                if len(ran.output.split()) >= words:
                    break
                await asyncio.sleep(0.1)
            return ran.output.decode()

    async def life() -> None:
        try:
            await services.start()
            user, _, rights = (await _read("/who", 3)).split()
            assert (user, int(rights, 16)) == ("0", 0xFB)  # seven rights of root's, and no others
            await box.stop()
            assert await unfinished(HOME, [session]) == []
            await services.start()
            assert (await _read("/state", 2)).split() == ["x", "x"]
            await _filled(box)
        finally:
            await services.remove()

    async def _filled(box) -> None:  # type: ignore[no-untyped-def]
        with closing(open_engine()) as engine:
            fill = ["dd", "if=/dev/zero", "of=/big", "bs=1M", "count=7"], ["cp", "/big", "/bigger"]
            for command in fill:
                await asyncio.to_thread(engine.containers.get(box.name).exec_run, command)
        with pytest.raises(LimitReached, match="Host db holds"):
            await unless_full(asyncio.sleep(60), [box])

    asyncio.run(life())
