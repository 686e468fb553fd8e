"""`tiphys account invite`: what is invited to can be joined, and what cannot be done says what can."""

from __future__ import annotations

import pytest

from core.store.endpoint import write_endpoint
from core.store.home import Home

PIN = "#sha256=" + "ab" * 32


@pytest.fixture
def served(home) -> None:
    """A home whose server says where it listens."""
    write_endpoint(Home(home), f"wss://127.0.0.1:7801{PIN}", [f"wss://lab.example:7801{PIN}"])


@pytest.mark.parametrize(("given", "server"), [
    ("", f"wss://lab.example:7801{PIN}"), ("wss://lab.example:7801/", f"wss://lab.example:7801{PIN}"),
    ("wss://localhost:7801", f"wss://localhost:7801{PIN}"), ("wss://proxy.example", "wss://proxy.example"),
    ("wss://localhost:9000", "wss://localhost:9000")])
def test_an_address_of_the_server_itself_brings_its_fingerprint(tiphys, served, given, server) -> None:
    ran = tiphys("account", "invite", "anna", *(["--address", given] if given else []), "--json")
    assert ran.one["server"] == server
    assert ("reached from this computer alone" in ran.err) == ("localhost" in given)
    assert ("holds no fingerprint" in ran.err) == (given == "wss://proxy.example")


def test_another_invitation_before_the_first_was_opened_says_how(tiphys, served) -> None:
    tiphys("account", "invite", "anna")
    ran = tiphys("account", "invite", "anna", "--again")
    assert ran.status == 2 and "without --again anna gets a new one" in ran.err
    assert "reached from" not in ran.err, "nothing is said of an invitation that is not there"
    ran = tiphys("account", "invite", "nobody", "--again")
    assert ran.status == 2 and "There is no account nobody. [no_account]" in ran.err
