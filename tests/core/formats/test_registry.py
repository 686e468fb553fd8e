"""Recognition by content, folders, and files that are none of ours."""

import os
import shutil
from pathlib import Path

import pytest

from core.domain.errors import InvalidInput
from core.formats import registry
from core.formats.source import Source

FILES = Path(__file__).parent / "files"


@pytest.mark.parametrize(("folder", "name", "known"), [
    ("files", "with_query.traj", "swe-agent"), ("files", "chat.jsonl", "openai-chat"),
    ("archives", "session.tiphys", "archive")])
@pytest.mark.parametrize("disguise", ["a.tiphys", "b.traj", "c.jsonl", "d", "e.pdf"])
def test_the_name_does_not_matter(tmp_path, folder, name, known, disguise) -> None:
    copy = shutil.copy(FILES.parent / folder / name, tmp_path / disguise)
    assert registry.recognise(Path(copy)).name == known


@pytest.mark.parametrize("data", [
    b"", b" \n", b"{", b"[", b"{}", b"[]", b"null", b"\xff\xfe{", b"PK\x03\x04", b"[" * 100_000,
    b'{"messages": ' * 5000, b'{"trajectory": []}', b'{"history": [1]}',
], ids=range(13))
def test_nothing_crashes_recognition(tmp_path, data) -> None:
    path = tmp_path / "x"
    path.write_bytes(data)
    with pytest.raises(InvalidInput):
        list(registry.read(path))


def test_folders_are_walked_in_order_without_links_and_hidden_entries(tmp_path) -> None:
    for name in ("b/two.traj", "a/one.traj", ".hidden/x.traj", ".y.traj"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "secret").write_text("x")
    (tmp_path / "link").symlink_to(outside)
    (tmp_path / "link.traj").symlink_to(outside / "secret")
    os.mkfifo(tmp_path / "pipe")
    assert [p.relative_to(tmp_path).as_posix() for p in registry.files(tmp_path)] == ["a/one.traj", "b/two.traj"]


def test_what_is_no_file_is_refused(tmp_path) -> None:
    for path in (tmp_path / "missing", Path("/dev/null")):
        with pytest.raises(InvalidInput) as error:
            registry.recognise(path)
        assert error.value.code == "not_a_file"


@pytest.mark.parametrize("name", ["chat.jsonl", "claude.jsonl", "codex.jsonl", "sdk.jsonl", "openhands_output.jsonl"])
def test_files_of_lines_are_never_read_whole(name) -> None:
    path = FILES / name if (FILES / name).exists() else FILES.parent / "foreign" / name
    source = Source(path)
    assert sum(s.steps for s in registry.read(source)) > 0
    assert not {"data", "json"} & source.__dict__.keys()
