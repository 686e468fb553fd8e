"""Our archives: a round trip byte for byte, and what hostile or damaged ones are not allowed to do."""

import io
import json
import stat
import zipfile
from pathlib import Path

import pytest
from support.imported import trajectory

from core.domain.errors import InvalidInput, ProtocolMismatch
from core.formats import archive, registry
from core.formats.readers import archive as archive_reader

FILES = Path(__file__).parent / "files"


@pytest.fixture
def session():
    return next(registry.read(FILES / "with_query.traj"))


@pytest.fixture
def written(session, tmp_path):
    path = tmp_path / "run.tiphys"
    archive.write(path, session.session, session.title, session.bodies, session.blobs.__getitem__)
    return path


def members(path):
    with zipfile.ZipFile(path) as file:
        return {i.filename: file.read(i) for i in file.infolist()}


def rewrite(path, parts, change=None):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in parts.items():
            info = zipfile.ZipInfo(name)
            if change:
                change(info)
            file.writestr(info, data)


def test_an_archive_gives_back_every_byte(session, written) -> None:
    (read,) = registry.read(written)
    assert read.session == session.session
    assert read.bodies == session.bodies
    assert {n: read.blobs[n] for n in read.blobs} == {n: session.blobs[n] for n in read.blobs}
    assert len(trajectory(read).steps) == read.steps == 2
    assert read.warnings == ()


def test_the_same_session_gives_the_same_bytes(session, written, tmp_path) -> None:
    copy = tmp_path / "again.tiphys"
    archive.write(copy, session.session, session.title, session.bodies, session.blobs.__getitem__)
    assert copy.read_bytes() == written.read_bytes()


def test_a_failed_write_leaves_the_old_file(session, written) -> None:
    before = written.read_bytes()
    with pytest.raises(KeyError):
        archive.write(written, session.session, "", session.bodies, {}.__getitem__)
    assert written.read_bytes() == before
    assert [p.name for p in written.parent.iterdir()] == [written.name]


@pytest.mark.parametrize("name", ["../../outside", "/etc/passwd", "blobs/../tiphys.json", "blobs\\x", "C:x", "extra"])
def test_strange_members_refuse_the_archive(written, name) -> None:
    rewrite(written, {**members(written), name: b"x"})
    with pytest.raises(InvalidInput, match="does not belong") as error:
        list(registry.read(written))
    assert error.value.code == "bad_archive"


def test_links_refuse_the_archive(written) -> None:
    def link(info):
        if info.filename.startswith("blobs/"):
            info.external_attr = (stat.S_IFLNK | 0o777) << 16

    rewrite(written, members(written), link)
    with pytest.raises(InvalidInput, match="does not belong"):
        list(registry.read(written))


def test_a_log_that_does_not_begin_with_its_session_is_refused(written) -> None:
    parts = members(written)
    first, second, *rest = parts["events.jsonl"].splitlines(keepends=True)
    rewrite(written, {**parts, "events.jsonl": b"".join([second, first, *rest])})
    with pytest.raises(InvalidInput, match="does not create a session"):
        list(registry.read(written))


def test_events_that_are_missing_at_the_end_are_named(written) -> None:
    parts = members(written)
    lines = parts["events.jsonl"].splitlines(keepends=True)
    rewrite(written, {**parts, "events.jsonl": b"".join(lines[:-1])})
    (read,) = registry.read(written)
    assert read.warnings == (f"Only {len(lines) - 1} of {len(lines)} events are in the archive.",)


def test_doubled_members_refuse_the_archive(written) -> None:
    with zipfile.ZipFile(written, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("events.jsonl", b"")
    with pytest.raises(InvalidInput, match="twice"):
        list(registry.read(written))


def test_a_bomb_is_refused_before_it_is_unpacked(written, monkeypatch) -> None:
    monkeypatch.setattr(archive_reader, "MAX_BLOB", 100_000)
    parts = members(written)
    name = next(n for n in parts if n.startswith("blobs/"))
    rewrite(written, {**parts, name: bytes(200_000)})
    with pytest.raises(InvalidInput, match="200,000 bytes"):
        list(registry.read(written))


def test_a_member_that_lies_about_its_size_is_refused(written) -> None:
    parts = members(written)
    events = parts["events.jsonl"]
    rewrite(written, parts)
    data = bytearray(written.read_bytes())
    for at in _all(data, len(events).to_bytes(4, "little")):
        data[at : at + 4] = (10).to_bytes(4, "little")
    written.write_bytes(data)
    with pytest.raises(InvalidInput) as error:
        list(registry.read(written))
    assert error.value.code == "bad_archive"


def test_a_forged_payload_ends_the_log_before_it(session, written) -> None:
    parts = members(written)
    body = trajectory(session).steps[1].body
    rewrite(written, {**parts, f"blobs/{body}": b'{"number": 2}'})
    (read,) = registry.read(written)
    assert read.steps == 1
    assert "does not match its name" in read.warnings[0]
    assert set(read.blobs) < set(session.blobs)


def test_a_missing_payload_ends_the_log_before_it(session, written) -> None:
    parts = members(written)
    del parts[f"blobs/{trajectory(session).steps[0].body}"]
    rewrite(written, parts)
    (read,) = registry.read(written)
    assert (read.steps, len(read.bodies)) == (0, 1)


def test_an_archive_that_lost_its_end_is_refused(written) -> None:
    written.write_bytes(written.read_bytes()[:-40])
    with pytest.raises(InvalidInput) as error:
        list(registry.read(written))
    assert error.value.code == "bad_archive"


def test_a_newer_version_is_refused_by_name(written) -> None:
    parts = members(written)
    manifest = json.loads(parts["tiphys.json"])
    rewrite(written, {**parts, "tiphys.json": json.dumps({**manifest, "version": 99}).encode()})
    with pytest.raises(ProtocolMismatch, match="version 99"):
        list(registry.read(written))


@pytest.mark.parametrize("name", ["../x", "", "a/b", "x" * 200])
def test_a_session_must_have_a_plain_name(written, name) -> None:
    parts = members(written)
    manifest = json.loads(parts["tiphys.json"])
    rewrite(written, {**parts, "tiphys.json": json.dumps({**manifest, "session": name}).encode()})
    with pytest.raises(InvalidInput, match="names no session"):
        list(registry.read(written))


def test_another_zip_file_is_no_archive(tmp_path) -> None:
    path = tmp_path / "x.tiphys"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("hello", "x")
    path.write_bytes(buffer.getvalue())
    with pytest.raises(InvalidInput) as error:
        registry.recognise(path)
    assert error.value.code == "unknown_format"


def _all(data, part):
    at = data.find(part)
    while at >= 0:
        yield at
        at = data.find(part, at + 1)
