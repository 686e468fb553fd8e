"""The evaluator in a fresh container: without network, apart from everything, and gone afterwards."""

from __future__ import annotations

import asyncio
from pathlib import Path

import docker
import pytest
from support.sandboxes import HOME, need_engine
from support.tasks import given_of

from core.domain.ids import new_id
from core.domain.task import Evaluator, Host, Task
from core.sandbox.kinds import open_sandbox
from core.tasks.evaluation import evaluate

SCRIPT = """
import json, os, pathlib, socket, sys
try:
    socket.create_connection(("1.1.1.1", 53), 2)
    net = True
except OSError:
    net = False
names = sorted(str(p) for top in sys.argv[1:] for p in pathlib.Path(top).rglob("*") if p.is_file())
parts = {"network": float(net), "root": float(os.getuid() == 0)}
print(json.dumps({"total": 50, "parts": parts, "message": " ".join(names)}))
"""


@pytest.mark.docker
def test_a_container_of_its_own(tmp_path: Path) -> None:
    need_engine()
    session = new_id()
    given = given_of(tmp_path, SCRIPT, {"out/a": b"1"}, {"truth": b"2"})
    task = Task(id="t", title="T", description="d", evaluator=Evaluator(timeout_s=30))

    def fresh() -> object:
        return open_sandbox("docker", session, Host(name="evaluator"), tmp_path, home=HOME)

    outcome = asyncio.run(evaluate(given, task, fresh))  # type: ignore[arg-type]
    assert not outcome.failed, outcome.message
    assert outcome.parts == {"network": 0.0, "root": 0.0}
    assert outcome.message == "references/truth submission/out/a"
    client = docker.from_env()
    try:
        assert client.containers.list(all=True, filters={"label": f"tiphys.session={session}"}) == []
    finally:
        client.close()
