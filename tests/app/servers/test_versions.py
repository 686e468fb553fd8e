"""A server of another version: the list of servers says which of the two is older, and what to do."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest
from support.desktops import window
from support.eventually import eventually
from support.server_process import ServerProcess

from app.desk.link_status import LinkStatus
from app.servers import connection_state
from app.servers.connection_state import state_of
from app.servers.local_server import LocalServer
from core.domain.version import named, numbers, version
from core.store.endpoint import read_endpoint


@pytest.mark.parametrize(("program", "meant"), [
    ("tiphys 1.4.0", (1, 4, 0)), ("tiphys", ()),
    ("", ()), ("tiphys 2", ()), ("tiphys 1.x", ()), ("tiphys 1.", ()), ("tiphys ²", ()), ("a b 0.10", (0, 10))])
def test_the_version_at_the_end_of_a_name(program, meant):
    assert numbers(program) == meant


@pytest.mark.parametrize(("theirs", "word"), [("tiphys 9.0.0", "newer (9.0.0)"), ("tiphys 0.0.1", "older (0.0.1)"),
                                              ("tiphys 1.2.0", ""), ("tiphys", "")])
def test_the_one_that_is_older_is_named(qapp, monkeypatch, theirs, word):
    monkeypatch.setattr(connection_state, "named", lambda program: f"{program} 1.2.0")
    detail = state_of(LinkStatus("online", datetime.now(UTC), "wss://lab", program=theirs)).detail
    assert (word in detail) if word else detail == "wss://lab"


async def test_the_desktop_learns_the_servers_version(qapp, tmp_path):
    with ServerProcess(tmp_path / "lab") as lab:
        async with window(tmp_path / "desk") as made:
            entry = made.place.servers.add(lab.url, lab.token)
            await eventually(lambda: made.servers.desk(entry.id).link.program == named("tiphys"))


@pytest.mark.parametrize("addresses", [(), ("wss://lab.example:7717",)])
async def test_an_older_server_of_this_computer_makes_room_for_ones_own_and_one_for_others_stays(
    qapp, tmp_path, addresses,
):
    with ServerProcess(tmp_path / "desk") as older:
        before = read_endpoint(older.home)
        told = msgspec.structs.replace(before, version="0.0.1", addresses=addresses)
        older.home.endpoint.write_bytes(msgspec.json.encode(told))
        async with window(tmp_path / "desk") as made:
            LocalServer.serve_here(made.connection)  # which `window` leaves out
            await eventually(lambda: made.place.desks.local.link.state == "online")
            now = read_endpoint(older.home)
            assert (now.pid == before.pid) is bool(addresses)
            assert now.version == ("0.0.1" if addresses else version())
            assert (older.home.path / "server.db").exists()
