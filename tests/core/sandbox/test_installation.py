"""What tells the sandboxes of installations apart that use one engine or machine."""

from __future__ import annotations

import asyncio
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.engines import ssh_server

from core.domain.blob import blob_hash
from core.domain.task import Host
from core.sandbox.docker import DockerSandbox
from core.sandbox.installation import FILE, home_label
from core.sandbox.machine import MachineSandbox
from core.sandbox.placement import EngineAddress, HostPlace
from core.server.ownership import hold
from core.store.home import Home


def test_an_installation_has_one_label_and_shares_it_with_no_other(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with ThreadPoolExecutor(8) as pool:
        labels = set(pool.map(home_label, [str(home)] * 32))
    assert len(labels) == 1 and [path.name for path in home.iterdir()] == [FILE], "all draw the same number"
    shutil.copytree(home, tmp_path / "copy")
    assert home_label(str(tmp_path / "copy")) not in labels, "a copy's server would reap what is the first one's"
    (home / FILE).unlink()
    assert home_label(str(home)) not in labels, "another computer with its home at this path"


def test_an_installation_that_is_older_than_numbers_finds_what_it_made(tmp_path: Path) -> None:
    old, new = Home(tmp_path / "old"), Home(tmp_path / "new")
    old.server_db.touch()
    names = []
    for home in (old, new):
        for _ in range(2):  # the second start has a log in both
            hold(home).release()
            home.server_db.touch()
        names.append(DockerSandbox("s1", Host(name="main"), tmp_path, home=str(home.path)).name)
    assert names[0] == "tiphys-s1-main" and home_label(str(old.path)) == blob_hash(str(old.path).encode())[:16]
    assert names[1] != names[0] and names[1].startswith("tiphys-") and names[1].endswith("-s1-main")


@pytest.mark.parametrize(("one", "other"), [
    (("a-b", "c"), ("a", "b-c")), (("a", "x y"), ("a", "x-y")), (("s", "-egress"), ("s-", "egress")),
    (("a" * 100, "h" * 40 + "1"), ("a" * 100, "h" * 40 + "2")),
])
def test_no_two_hosts_have_one_name_on_an_engine(one: tuple[str, str], other: tuple[str, str], tmp_path: Path) -> None:
    names = {DockerSandbox(session, Host(name=host), tmp_path, home="h").name for session, host in (one, other)}
    assert len(names) == 2 and all(len(name) <= 120 for name in names)


def test_equal_sessions_of_two_installations_share_nothing_on_a_plain_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ssh_server(tmp_path / "ssh", monkeypatch) as url:
        place = HostPlace(place="lab1", kind="machine", address=EngineAddress(url))
        session = f"s-{tmp_path.name}"
        one, two = (MachineSandbox(session, Host(name="main", machine="lab1"), place, home=home) for home in "ab")

        async def life() -> None:
            for made in (one, two):
                await made.start()
                assert (await made.run(["sh", "-c", "ls; touch file"], cwd=made.workspace)).output == b""
            await two.remove()
            assert (await one.run(["ls"], cwd=one.workspace)).output == b"file\n"
            await one.remove()

        asyncio.run(life())
        assert not (Path.home() / ".tiphys-hosts" / session).exists()
