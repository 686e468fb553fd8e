"""Addresses by which a session might reach this machine or a cloud's metadata through its way out."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from core.sandbox import egress, network
from core.sandbox.egress import NotLetOut, WayOut

NEVER = ("169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "::a9fe:a9fe",
         "::ffff:0:169.254.169.254", "168.63.129.16", "64:ff9b::a83f:8110", "100.100.100.200", "192.0.0.192",
         "fd00:ec2::254", "fe80::1%eth0", "127.1.2.3", "::1", "::", "0.0.0.0", "64:ff9b::7f00:1", "2002:7f00:1::",
         "172.17.0.1", "8.8.4.4", "::ffff:8.8.4.4", "64:ff9b::808:404")


def resolved(monkeypatch: pytest.MonkeyPatch, address: str, names: list[str]) -> tuple[str, int]:
    """What a name is connected to whose owner has it resolve to an address."""
    async def main() -> tuple[str, int]:
        async def getaddrinfo(host: str, port: int, **_: Any) -> list[Any]:
            return [(socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, port))]

        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
        return await WayOut([*names, "!8.8.4.4"]).address("host.example", 443)

    return asyncio.run(main())


@pytest.mark.parametrize("address", NEVER)
@pytest.mark.parametrize("name", ["*", "host.example"])
def test_no_name_leads_to_this_machine_or_to_metadata(monkeypatch: pytest.MonkeyPatch, address: str, name: str) -> None:
    monkeypatch.setattr(egress, "gateways", lambda: {egress.ipaddress.ip_address("172.17.0.1")})
    with pytest.raises(NotLetOut):
        resolved(monkeypatch, address, [name])


def test_what_is_public_or_named_in_full_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    for address in ("8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"):
        assert resolved(monkeypatch, address, ["*"]) == (address, 443)
    assert resolved(monkeypatch, "10.0.0.5", ["host.example"]) == ("10.0.0.5", 443)
    with pytest.raises(NotLetOut):
        resolved(monkeypatch, "10.0.0.5", ["*", "*.example"])


def test_the_machine_knows_its_own_addresses() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.connect(("192.0.2.77", 9))
        assert {one.getsockname()[0], "127.0.0.1"} <= {*network.own_addresses()}
