"""An archive is killed at each of its writes: the file is then the old one or the new one, whole; and a session that is
archived is in the log or in its archive."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest
from support.exported import talking_session, write_log
from support.killed import contents, every_kill

from core.domain.events import SessionStateChanged, blobs_of, decode_event
from core.formats import archive, registry
from core.formats.verified_archive import write_verified
from core.store import blobs, log
from core.store.sqlite import connect

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a child is killed that has all imported")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A log with one session that is over."""
    session = talking_session(5, steps=2)
    session.say(SessionStateChanged(state="finished", reason="finished"))
    return write_log(tmp_path_factory.mktemp("killed") / "server.db", a=session)


@pytest.mark.parametrize("way", ["an archive", "one that was read back"])
def test_an_archive_is_the_old_or_the_new_one_wherever_it_is_killed(made: Path, tmp_path: Path, way: str) -> None:
    """As `tiphys export --to archive` writes it, and `tiphys archive`, retention and the desktop before they delete."""
    target, write_it = tmp_path / "there" / "a.tiphys", archive.write if way == "an archive" else write_verified
    with closing(connect(made, readonly=True)) as conn:
        bodies = [placed.body for placed in log.read_all(conn, "a")]
        payloads = {name: blobs.get(conn, name) for body in bodies for name in blobs_of(decode_event(body).fact)}

    def payload(name: str) -> bytes:
        if name[0] in "07e":
            next(target.parent.iterdir(), None)  # it is killed between two members, too
        return payloads[name]

    def put(events: list[bytes]) -> None:
        target.parent.mkdir(exist_ok=True)
        write_it(target, "a", "A title", events, payload)

    for there in (bodies[:2], []):
        put(bodies)
        new = target.read_bytes()
        if there:
            target.unlink()
            put(there)
        old = target.read_bytes() if there else None

        def judge(number: int, old: bytes | None = old, new: bytes = new) -> None:
            assert contents(target.parent).get(target.name) in (old, new), f"half an archive at touch {number}"
            put(bodies)
            assert contents(target.parent) == {"a.tiphys": new}

        every_kill(target.parent, lambda there=there: put(there) if there else target.parent.mkdir(),
                   lambda: put(bodies), judge)


def test_a_session_that_is_archived_is_in_the_log_or_in_its_archive_wherever_the_command_is_killed(
    made: Path, tmp_path: Path, monkeypatch
) -> None:
    from core.cli.archive import archive as command

    home = tmp_path / "all" / "home"
    monkeypatch.setenv("TIPHYS_HOME", str(home))
    target = home / "archives" / "a.tiphys"

    def before() -> None:
        home.mkdir(parents=True)
        with closing(connect(made)) as conn:
            conn.execute("VACUUM INTO ?", (str(home / "server.db"),))

    def do() -> None:
        command.main(["a", "--yes", "--json"], standalone_mode=False)

    def in_log() -> bool:
        with closing(connect(home / "server.db", readonly=True)) as conn:
            return any(row.session == "a" for row in log.rows(conn))

    def judge(number: int) -> None:
        is_logged = in_log()
        assert is_logged or len(next(iter(registry.read(target))).bodies) == held, f"lost at touch {number}"
        if is_logged:
            do()
        assert not in_log() and {p.name for p in target.parent.iterdir()} == {target.name}

    with closing(connect(made, readonly=True)) as conn:
        held = len(list(log.read_all(conn, "a")))
    every_kill(home.parent, before, do, judge)
