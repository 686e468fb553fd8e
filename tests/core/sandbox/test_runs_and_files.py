"""One-off commands and files, in both kinds of sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.sandboxes import Box, box

from core.domain.errors import InvalidInput, LimitReached, NotFound, ReportableError
from core.sandbox.kinds import SandboxKind
from core.sandbox.sandbox import Sandbox


def test_one_off_commands_have_limits_of_time_and_output(either: Box) -> None:
    async def work(sandbox: Sandbox) -> None:
        ran = await sandbox.run(["cat"], input=b"x" * 300_000)
        assert (ran.exit_code, len(ran.output), ran.truncated, ran.timed_out) == (0, 300_000, False, False)
        ran = await sandbox.run(["sh", "-c", "echo a; echo b >&2; exit 4"])
        assert (ran.exit_code, ran.output) == (4, b"a\nb\n")
        ran = await sandbox.run(["yes"], timeout=2, limit=8)
        assert (ran.timed_out, ran.truncated, ran.output) == (True, True, b"y\ny\ny\ny\n")
        assert (await sandbox.run(["no-such-program"])).exit_code == 127
        ran = await sandbox.run(["pwd"])
        assert ran.output.decode().strip() == sandbox.workspace

    either.use(work)


def test_a_left_over_child_neither_holds_nor_outlives_a_run(either: Box) -> None:
    async def work(sandbox: Sandbox) -> None:
        ran = await sandbox.run(["sh", "-c", "sleep 333 & echo started"], timeout=60)
        assert (ran.exit_code, ran.timed_out, ran.output) == (0, False, b"started\n")
        assert b"sleep 333" not in (await sandbox.run(["sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"])).output

    either.use(work)


def test_files_are_written_read_and_listed(either: Box) -> None:
    async def work(sandbox: Sandbox) -> None:
        big = bytes(range(256)) * 12_000
        path = f"{sandbox.workspace}/a/b/big.bin"
        await sandbox.write_file(path, big)
        assert await sandbox.read_file(path) == big
        await sandbox.write_file(path, b"short")
        assert await sandbox.read_file(path) == b"short"
        assert (await sandbox.stat(path)).size == 5
        assert [(e.path, e.kind) for e in await sandbox.list(f"{sandbox.workspace}/a")] == \
            [(f"{sandbox.workspace}/a/b", "dir")]
        await sandbox.write_file(path, b"")
        assert await sandbox.read_file(path) == b""

    either.use(work)


def test_what_is_no_readable_file_is_refused_at_once(either: Box) -> None:
    async def work(sandbox: Sandbox) -> None:
        with pytest.raises(NotFound):
            await sandbox.read_file(f"{sandbox.workspace}/nothing")
        with pytest.raises(ReportableError):
            await sandbox.read_file(sandbox.workspace)
        await sandbox.run(["mkfifo", "pipe"])
        with pytest.raises(InvalidInput):
            await sandbox.read_file(f"{sandbox.workspace}/pipe")
        with pytest.raises(InvalidInput):
            await sandbox.read_file("/dev/zero", 100)
        await sandbox.write_file(f"{sandbox.workspace}/ten", b"0123456789")
        with pytest.raises(LimitReached):
            await sandbox.read_file(f"{sandbox.workspace}/ten", 9)

    either.use(work)


@pytest.mark.parametrize("kind", [pytest.param("docker", marks=pytest.mark.docker), "local"])
def test_a_daemon_that_lost_its_socket_gives_way_to_a_new_one(kind: SandboxKind, tmp_path: Path) -> None:
    """What runs in there could delete the socket: the sandbox must be startable again."""
    async def work(sandbox: Sandbox) -> None:
        await sandbox.terminals.open("old")
        await sandbox.write_file(f"{sandbox.workspace}/kept", b"x")
        if kind == "docker":
            await sandbox.run(["sh", "-c", "rm -f /run/tiphys/*"])
        else:
            next(tmp_path.rglob("s")).unlink()
        await sandbox.close()
        await sandbox.start()
        assert await sandbox.terminals.list() == []
        assert await sandbox.read_file(f"{sandbox.workspace}/kept") == b"x"

    with box(kind, tmp_path) as made:
        made.use(work)


def test_a_sandbox_starts_right_after_it_was_stopped(tmp_path: Path) -> None:
    """Not on the daemon that is just going."""
    async def work(sandbox: Sandbox) -> None:
        for n in range(3):
            await sandbox.stop()
            await sandbox.start()
            ran = await sandbox.run(["sh", "-c", f"sleep 0.2; echo {n}"])  # longer than the old daemon needs to go
            assert ran.output == b"%d\n" % n

    with box("local", tmp_path) as made:
        made.use(work)


def test_names_that_are_not_utf8_break_nothing(either: Box) -> None:
    async def work(sandbox: Sandbox) -> None:
        await sandbox.changed()
        await sandbox.run(["python3", "-c", "import os; os.mkdir('odd'); open(b'odd/x\\xff\\xfe', 'w').write('1')"])
        assert [e.path for e in await sandbox.list(f"{sandbox.workspace}/odd")] == [f"{sandbox.workspace}/odd/x??"]
        assert [c.path.rpartition("/")[2] for c in await sandbox.changed()] == ["x??"]

    either.use(work)


def test_changes_under_the_workspace_are_seen_once(either: Box) -> None:
    async def work(sandbox: Sandbox) -> None:
        await sandbox.changed()
        script = "mkdir -p w/.git && echo 1 > w/new && echo 2 > w/.git/x && echo 3 > w/gone"
        await sandbox.run(["sh", "-c", script])
        seen = {c.path.removeprefix(sandbox.workspace): (c.new, c.gone) for c in await sandbox.changed()}
        assert seen == {"/w/new": (True, False), "/w/gone": (True, False)}
        assert await sandbox.changed() == []
        await sandbox.run(["sh", "-c", "echo more >> w/new; rm w/gone"])
        seen = {c.path.removeprefix(sandbox.workspace): (c.new, c.gone) for c in await sandbox.changed()}
        assert seen == {"/w/new": (False, False), "/w/gone": (False, True)}

    either.use(work)
