"""An agent's host that hands over more than it was asked for: a verifier of its own gets what its task names alone."""

from __future__ import annotations

import asyncio
import io
import tarfile
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest

from core.domain.errors import InvalidInput
from core.domain.ids import new_id
from core.domain.task import Evaluator, Host
from core.sandbox.local import LocalSandbox
from core.sandbox.values import Progress
from core.tasks.artifacts import handed_over


class Lying(LocalSandbox):
    """A host whose programs are the agent's: it gives this file, whatever is asked for."""

    gives = ""

    async def pack(self, names: Sequence[str], base: str = "", *, progress: Progress | None = None
                   ) -> AsyncGenerator[bytes, None]:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            info = tarfile.TarInfo(self.gives)
            info.size = 4
            tar.addfile(info, io.BytesIO(b"evil"))
        yield out.getvalue()


def given(folder: Path, gives: str) -> list[tuple[str, bytes]]:
    """What is handed over of one that lies, asked for its file `out`."""
    async def scenario() -> list[tuple[str, bytes]]:
        host = Lying(f"lie-{new_id()}", Host(name="main"), folder)
        await host.start()
        try:
            await host.write_file("out", b"mine")
            host.gives = gives.replace("HERE", host.workspace.strip("/"))
            evaluator = Evaluator(submission=(f"{host.workspace}/out", "/never/there"))
            async with handed_over(host, evaluator, folder) as artifacts:
                return [(name, path.read_bytes()) for name, path in artifacts.files]
        finally:
            await host.stop()

    return asyncio.run(scenario())


@pytest.mark.parametrize("gives", ["tests/test.sh", "logs/verifier/reward.txt", "HERE/outside", "HERE/out/../other",
                                   "../../etc/passwd", "/etc/passwd"])
def test_what_was_not_asked_for_is_not_handed_over(tmp_path: Path, gives: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        given(tmp_path, gives)
    assert refused.value.code == "bad_tar"


def test_what_was_asked_for_is_the_agents_own_word(tmp_path: Path) -> None:
    ((name, data),) = given(tmp_path, "HERE/out")
    assert name.endswith("workspace/out") and data == b"evil"
