"""Terminals of both kinds of sandbox: exit codes, any command, many at once, re-attaching, gaps."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from support.sandboxes import HOME, Box, command

from core.domain.errors import Conflict, InvalidInput, NotFound
from core.sandbox.sandbox import Sandbox


@pytest.mark.parametrize(("text", "code", "printed"), [
    ("echo hi", 0, "hi\r\n"),
    ("false", 1, ""),
    ("(exit 7)", 7, ""),
    ("kill -9 $BASHPID; true", 0, None),
    ("sh -c 'kill -9 $$'", 137, None),
    ("python3 -c 'raise SystemExit(3)'", 3, ""),
    ("cat <<'EOF'\n$x \"'\n\ttab\nEOF\nexit_=5\n(exit $exit_)", 5, "$x \"'\r\n\ttab\r\n"),
    ("for i in 1 2\ndo\n  echo $i\ndone", 0, "1\r\n2\r\n"),
    ("echo 'not closed", 2, None),
    ("cat <<EOF\nnever closed", 0, None),
    ("if true; then", 2, None),
    ("nonsense-program", 127, None),
    ("return 9", 9, ""),
    ("set -e; true; set +e; false", 1, ""),
    ("set -u; echo $nope; set +u", 1, None),
    ("PROMPT_COMMAND=; unset PROMPT_COMMAND; PS1='> '; (exit 4)", 4, ""),
    ("printf '\\033]7717;0123456789abcdef;end;x;0;/\\007'; (exit 6)", 6, None),
    ("exec 3>&1 >/dev/null; echo hidden; exec >&3; (exit 8)", 8, ""),
    ("echo ünïcödé 漢字 $'\\x01'", 0, "ünïcödé 漢字 \x01\r\n"),
])
def test_every_command_ends_with_its_own_exit_code(either: Box, text: str, code: int, printed: str | None) -> None:
    async def work(sandbox: Sandbox) -> None:
        job, output = await command(sandbox, text)
        assert job.ended
        if "BASHPID" not in text:
            assert job.exit_code == code
        if printed is not None:
            assert output == printed
        after, output = await command(sandbox, "echo still here")
        assert (after.exit_code, output) == (0, "still here\r\n")

    either.use(work)


def test_the_shell_keeps_its_state_between_commands(either: Box) -> None:
    async def work(sandbox: Sandbox) -> None:
        await command(sandbox, "mkdir -p deep && cd deep && x=5; declare y=6; f() { return 3; }; false", "s")
        _, output = await command(sandbox, 'echo $? $x $y ${PWD##*/}; f', "s")
        assert output == "1 5 6 deep\r\n"
        assert (await command(sandbox, "f", "s"))[0].exit_code == 3
        info = next(t for t in await sandbox.terminals.list() if t.name == "s")
        assert info.cwd.endswith("/deep")

    either.use(work)


def test_interrupt_ends_the_command_and_what_stands_behind_it(either: Box) -> None:
    async def work(sandbox: Sandbox) -> None:
        terminals = sandbox.terminals
        await terminals.open("i")
        await terminals.command("i", "int", "echo begun; sleep 60; echo never")
        async for chunk in terminals.subscribe("i"):
            if b"begun\r\n" in chunk.data:
                break
        with pytest.raises(Conflict, match="busy"):
            await terminals.command("i", "int2", "echo no")
        await terminals.interrupt("i")
        job = await terminals.wait_job("int", 5)
        assert job.exit_code == 130
        assert b"never\r" not in (await terminals.read("i", job.start, job.end)).data
        assert (await command(sandbox, "true", "i"))[0].exit_code == 0

    either.use(work)


def test_a_shell_that_ends_is_started_anew_and_its_stream_goes_on(either: Box) -> None:
    async def work(sandbox: Sandbox) -> None:
        job, _ = await command(sandbox, "exit 5", "e")
        assert job.exit_code == 5
        before = next(t for t in await sandbox.terminals.list() if t.name == "e")
        assert (before.alive, before.exit_code) == (False, 5)
        after, output = await command(sandbox, "echo again", "e")
        assert output == "again\r\n"
        assert after.start >= before.total
        await sandbox.terminals.close("e")
        reborn, _ = await command(sandbox, "true", "e")
        assert reborn.start >= after.end

    either.use(work)


def test_what_nobody_remembers_goes_on_at_the_offset_that_the_caller_knows(either: Box) -> None:
    async def work(sandbox: Sandbox) -> None:
        info = await sandbox.terminals.open("known-before", offset=5000)
        assert info.total >= 5000

    either.use(work)


def test_fifty_terminals_work_side_by_side(either: Box) -> None:
    async def work(sandbox: Sandbox) -> None:
        meet = "mkdir -p met; : > met/{n}; until [ $(ls met | wc -l) = 50 ]; do sleep .2; done"  # none ends alone
        work = meet + "; echo from {n}; (exit {n})"
        done = await asyncio.gather(*(command(sandbox, work.format(n=n), f"n{n}", timeout=120) for n in range(50)))
        assert [(j.exit_code, o) for j, o in done] == [(n, f"from {n}\r\n") for n in range(50)]
        assert len({t.pid for t in await sandbox.terminals.list() if t.name.startswith("n")}) == 50
        for n in range(50):
            await sandbox.terminals.close(f"n{n}")

    either.use(work)


CLIENT = """
import asyncio, sys
from pathlib import Path
from core.domain.task import Host
from core.sandbox.kinds import open_sandbox

async def main():
    kind, session, folder, home = sys.argv[1:]
    sandbox = open_sandbox(kind, session, Host(name="main"), Path(folder), home=home)
    await sandbox.start()
    await sandbox.terminals.open("k")
    await sandbox.terminals.command("k", "count", "for i in $(seq 1 400); do echo line $i; sleep 0.005; done; (exit 3)")
    async for chunk in sandbox.terminals.subscribe("k"):
        if b"line 20" in chunk.data:
            print(chunk.end, flush=True)
            await asyncio.sleep(60)

asyncio.run(main())
"""


def test_nothing_is_lost_when_the_client_is_killed(either: Box, tmp_path: Path) -> None:
    script = tmp_path / "client.py"
    script.write_text(textwrap.dedent(CLIENT))
    args = [sys.executable, str(script), either.kind, either.session, str(either.folder), HOME]
    repository = str(Path(__file__).parents[3])
    with subprocess.Popen(args, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": repository}) as client:
        assert client.stdout is not None
        reached = int(client.stdout.readline())
        client.send_signal(signal.SIGKILL)

    async def work(sandbox: Sandbox) -> None:
        rest = bytearray()
        async for chunk in sandbox.terminals.subscribe("k", reached):
            assert chunk.lost == 0 and chunk.offset == reached + len(rest)
            rest += chunk.data
            if b";end;count;3;" in rest:
                break
        whole = (await sandbox.terminals.read("k", 0, reached)).data + rest
        numbers = [int(n) for n in re.findall(rb"line (\d+)\r\n", whole)]
        assert numbers == list(range(1, 401))
        assert (await sandbox.terminals.wait_job("count", 1)).exit_code == 3

    either.use(work)


def test_a_flood_is_bounded_and_its_gap_is_told(either: Box) -> None:
    async def work(sandbox: Sandbox) -> None:
        job, _ = await command(sandbox, "head -c 30000000 /dev/zero | tr '\\0' x; (exit 2)", "flood", 60)
        assert job.exit_code == 2
        size = job.end - job.start
        assert size == 30_000_000
        chunk = await sandbox.terminals.read("flood", job.start, job.end)
        assert chunk.lost > 0
        assert chunk.offset == job.start + chunk.lost
        tail = await sandbox.terminals.read("flood", job.end - 10, job.end)
        assert (tail.lost, tail.data) == (0, b"x" * 10)
        async for first in sandbox.terminals.subscribe("flood", 0):
            assert first.lost == first.offset > 0
            break
        await sandbox.terminals.close("flood")

    either.use(work)


def test_programs_can_be_answered_and_killed(either: Box) -> None:
    async def work(sandbox: Sandbox) -> None:
        terminals = sandbox.terminals
        await terminals.open("ask")
        await terminals.command("ask", "ask-1", "read -p 'name? ' x; echo \"<$x>\"")
        async for chunk in terminals.subscribe("ask"):
            if b"name? " in chunk.data.rpartition(b"start;ask-1")[2]:
                break
        await terminals.write("ask", b"bob\n")
        job = await terminals.wait_job("ask-1", 5)
        assert b"<bob>" in (await terminals.read("ask", job.start, job.end)).data
        await terminals.command("ask", "ask-2", "sleep 50 & sleep 51")
        while {p.command for p in await terminals.processes("ask")} != {"sleep 50", "sleep 51"}:
            await asyncio.sleep(0.02)
        assert len(await terminals.kill("ask")) == 2
        assert (await terminals.wait_job("ask-2", 5)).exit_code == 143

    either.use(work)


def test_wrong_names_are_refused_by_kind(either: Box) -> None:
    async def work(sandbox: Sandbox) -> None:
        with pytest.raises(InvalidInput):
            await sandbox.terminals.open("../x")
        with pytest.raises(NotFound):
            await sandbox.terminals.write("nobody", b"x")
        with pytest.raises(InvalidInput):
            await sandbox.terminals.command("t", "a/b", "true")
        with pytest.raises(NotFound):
            await sandbox.terminals.wait_job("no-such", 1)

    either.use(work)
