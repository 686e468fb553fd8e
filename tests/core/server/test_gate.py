"""Who knocks with wrong tokens is slowed down, each address by itself, and a crowd of addresses takes no memory."""

from __future__ import annotations

import contextlib
from pathlib import Path

from core.server import gate
from core.server.gate import FAILURES_AT_ONCE, FAILURES_PER_S, Gate
from core.store.schema import open_log


def test_addresses_are_forgotten_when_too_many_knock(tmp_path: Path) -> None:
    with contextlib.closing(open_log(tmp_path / "server.db")) as conn:
        made = Gate(conn)

        def is_knocking(address: str) -> bool:
            return gate._is_too_often(made._failures, address, FAILURES_PER_S, FAILURES_AT_ONCE)

        for _ in range(int(FAILURES_AT_ONCE)):
            assert not is_knocking("10.0.0.1")
        assert is_knocking("10.0.0.1")
        assert not is_knocking("10.0.0.2"), "a neighbour is not slowed down"
        for number in range(gate._ADDRESSES + 50):
            is_knocking(f"10.1.{number // 256}.{number % 256}")
        assert len(made._failures) == gate._ADDRESSES
        assert "10.0.0.1" not in made._failures
