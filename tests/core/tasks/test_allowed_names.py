"""Names of a lab's own network that its operator lets whatever has a network reach."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.domain.errors import InvalidInput, NotFound
from core.domain.task import Host
from core.sandbox.egress import WayOut
from core.sandbox.placement import ways_out
from core.tasks.allowances import Allowances


def test_an_operators_names_are_reached_beside_public_ones_and_can_be_taken_back(tmp_path: Path) -> None:
    allowances = Allowances(tmp_path / "allowed")
    assert allowances.names() == ()
    allowances.allow_name("Mirror.lab:8080")
    allowances.allow_name("pypi.lab")
    allowances.allow_key("KEY", "https://a.lab/v1")
    names = allowances.names()
    assert names == ("mirror.lab:8080", "pypi.lab")
    way = WayOut([*ways_out(Host(name="a", network=True), names)])
    assert way.admits("mirror.lab", 8080) == (True, True), "named in full, so its address may be private"
    assert way.admits("pypi.lab", 443) == (True, True)
    assert way.admits("other.lab", 443) == (True, False)
    assert ways_out(Host(name="a", reach=("one.lab",)), names) == ("one.lab",), "a task that names what it reaches"
    assert ways_out(Host(name="a"), names) == ()
    assert allowances.revoke("pypi.lab") == 1
    assert allowances.names() == ("mirror.lab:8080",)
    with pytest.raises(NotFound):
        allowances.revoke("pypi.lab")


@pytest.mark.parametrize("name", ["*", "*.lab", "http://mirror.lab", "", "a b", "mirror.lab:123456", "-" * 64])
def test_what_is_no_name_in_full_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput):
        Allowances(tmp_path / "allowed").allow_name(name)
