"""A server process is killed again and again while a client commands it: nothing is lost, doubled or reordered."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

from support.wire import log_of, running_client, until

from core.domain.events import GuidanceQueued, SessionCreated, decode_event
from core.domain.task import Task
from core.protocol.operations import CreateSession, Guide
from core.store.endpoint import read_endpoint
from core.store.home import Home

SERVE = """
import sys
from core.server.serve import ServeSettings, run
from core.store.home import Home
run(ServeSettings(home=Home(sys.argv[1]), private=True, supervise=False), lambda server: print(server.url, flush=True))
"""


async def start(home: Path) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVE, str(home), stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2])
    assert process.stdout is not None
    assert (await asyncio.wait_for(process.stdout.readline(), 20)).startswith(b"ws://127.0.0.1:")
    return process


def test_a_server_that_is_killed_between_commands_loses_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    kills = 4

    async def scenario() -> None:
        process = await start(home)
        endpoint = read_endpoint(Home(home))
        assert endpoint is not None
        token = Home(home).admin_token.read_text()
        async with running_client(tmp_path / "copy.db", endpoint.url, token, "s") as client:
            await client.send("s", CreateSession(task=Task(id="t", title="T", description="d")))
            for round_ in range(kills):
                for n in range(20):
                    await client.send("s", Guide(guidance=f"g{round_ * 20 + n}", text="x"))
                await until(lambda r=round_: client.replica.head("s") > r * 20 + 1 + r)  # in the middle of the batch
                os.kill(process.pid, signal.SIGKILL)
                await process.wait()
                process = await start(home)
                client.hurry()
            await until(lambda: not client.replica.waiting() and client.replica.head("s") == 1 + kills * 20)
        process.terminate()
        with contextlib.suppress(ProcessLookupError):
            assert await asyncio.wait_for(process.wait(), 60) == 0

    asyncio.run(scenario())
    facts = [decode_event(b).fact for b in log_of(home / "server.db", "s")]
    assert isinstance(facts[0], SessionCreated)
    assert [f.guidance for f in facts[1:] if isinstance(f, GuidanceQueued)] == [f"g{n}" for n in range(kills * 20)]
    assert log_of(tmp_path / "copy.db", "s") == log_of(home / "server.db", "s")
