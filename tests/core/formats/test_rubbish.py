"""Files that are no session, or a damaged one: each gives what can be read of it, or the plain reason."""

import gzip
import json
import random
import shutil
import sqlite3
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from core.domain.errors import InvalidInput
from core.formats import registry
from core.formats.unpacked import Unpacked

FILES = Path(__file__).parent / "foreign"


def refusal(path):
    with pytest.raises(InvalidInput) as caught:
        list(registry.read(path))
    return caught.value.code, str(caught.value).replace(str(path), "FILE")


def make(tmp_path, data, name="x.bin"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
@pytest.mark.parametrize("name", ["codex.jsonl", "gemini.json", "chatgpt.json"])
def test_text_in_utf_16_is_read_as_in_utf_8(tmp_path, encoding, name) -> None:
    path = make(tmp_path, (FILES / name).read_text().encode(encoding), name)
    (read,), (wanted,) = registry.read(path), registry.read(FILES / name)
    assert (read.session, read.steps, dict(read.blobs)) == (wanted.session, wanted.steps, dict(wanted.blobs))
    assert read.warnings == wanted.warnings


@pytest.mark.parametrize("odd", [[], {}, 3, None, float("nan")])
def test_a_chat_whose_newest_message_is_no_name_is_read(tmp_path, odd) -> None:
    (chat, *_) = chats = json.loads((FILES / "chatgpt.json").read_text())
    chat["current_node"] = odd
    next(n["message"] for n in chat["mapping"].values() if n.get("message"))["create_time"] = "yesterday"
    assert list(registry.read(make(tmp_path, json.dumps(chats).encode(), "x.json")))


def test_a_compressed_file_is_never_unpacked_in_one_piece(tmp_path) -> None:
    path = make(tmp_path, gzip.compress(b"\0" * (64 << 20), mtime=0), "bomb.gz")
    tracemalloc.start()
    try:
        assert Unpacked(path, "gzip").path.stat().st_size == 64 << 20
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_a_compressed_file_is_read_and_one_that_is_cut_as_far_as_it_goes(tmp_path) -> None:
    data = (FILES / "claude.jsonl").read_bytes() * 40
    packed = gzip.compress(data, mtime=0)
    whole = list(registry.read(make(tmp_path, packed, "claude.jsonl.gz")))
    assert [s.steps for s in whole] == [s.steps for s in registry.read(make(tmp_path, data, "plain.jsonl"))]
    (first, *_) = registry.read(make(tmp_path, packed[: len(packed) // 2], "cut.jsonl.gz"))
    assert 0 < first.steps <= whole[0].steps
    assert "cut off at byte" in first.warnings[-1]
    code, said = refusal(make(tmp_path, packed[:12], "stub.gz"))
    assert (code, "cut off at byte 12" in said) == ("bad_archive", True)


def test_what_a_file_is_instead_is_told(tmp_path) -> None:
    assert refusal(make(tmp_path, b"")) == ("empty_file", "FILE is empty.")
    assert refusal(make(tmp_path, b"\x89PNG\r\n\x1a\n\0")) == (
        "unknown_format", "FILE is in no format known here: it is a picture.")
    assert refusal(make(tmp_path, b"Dear diary\n")) == (
        "unknown_format", "FILE is in no format known here: it is text that is no JSON.")
    assert refusal(make(tmp_path, b"a\0b")) == ("unknown_format", "FILE is in no format known here: it is no text.")
    assert refusal(make(tmp_path, json.dumps({"name": "x", "version": 1}).encode())) == (
        "unknown_format",
        "FILE is in no format known here: it is JSON whose first object has other members (name, version).")


def test_a_damaged_archive_is_no_unknown_format(tmp_path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", '{"eval": {"task": "t"}}' * 100)
        file.writestr("samples/1_epoch_1.json", "{}" * 1000)
    cut = make(tmp_path, path.read_bytes()[:200], "cut.eval")
    code, said = refusal(cut)
    assert (code, said.endswith("Its members were read one by one.")) == ("no_sessions", True), said
    stub = refusal(make(tmp_path, path.read_bytes()[:20], "stub.eval"))
    assert stub == ("bad_archive", "FILE is no readable archive: it is cut off before anything that can be read.")
    other = tmp_path / "photos.zip"
    with zipfile.ZipFile(other, "w") as file:
        file.writestr("a.png", "x")
    assert refusal(other) == (
        "unknown_format", "FILE is in no format known here: it is a zip archive of other things (a.png).")


def test_a_database_of_another_program_or_a_cut_one_says_so(tmp_path) -> None:
    path = tmp_path / "notes.db"
    with sqlite3.connect(path) as conn:
        conn.execute("CREATE TABLE notes (text TEXT)")
        conn.executemany("INSERT INTO notes VALUES (?)", [("x" * 3000,)] * 20)
    conn.close()
    assert refusal(path) == (
        "unknown_format", "FILE is in no format known here: it is a database of another program (tables notes).")
    cut = make(tmp_path, path.read_bytes()[:9000], "cut.db")
    code, said = refusal(cut)
    assert (code, "ends at byte 9,000 of" in said) == ("bad_database", True)


def test_a_database_whose_log_lies_beside_it_is_read_with_it(tmp_path) -> None:
    path = tmp_path / "opencode.db"
    shutil.copy(FILES / "opencode.db", path)
    conn = sqlite3.connect(path)
    conn.execute("PRAGMA journal_mode=WAL")
    conn.execute("UPDATE session SET title = 'Changed'")
    conn.execute("UPDATE part SET data = replace(data, 'In src.', 'In lib.')")
    conn.commit()
    assert (tmp_path / "opencode.db-wal").stat().st_size
    *_, child = registry.read(path)
    assert any(b"In lib." in data for data in child.blobs.values())
    assert list(registry.files(tmp_path)) == [path]
    conn.close()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_cut_inspect_log_gives_its_whole_samples_and_what_is_left_of_the_last(tmp_path, method) -> None:
    whole = make(tmp_path, b"", "whole.eval")
    noise = random.Random(7)
    pads = [noise.randbytes(2000).hex() for _ in range(6)]
    with zipfile.ZipFile(whole, "w", method) as file:
        file.writestr("_journal/start.json", json.dumps({"eval": {"task": "t", "run_id": "r", "model": "m"}}))
        for number in (1, 2, 3):
            talk = [{"role": "user", "content": "go"}, *({"role": "assistant", "content": pad} for pad in pads)]
            file.writestr(f"samples/{number}_epoch_1.json", json.dumps({"id": number, "epoch": 1, "messages": talk}))
        file.writestr("header.json", json.dumps({"eval": {"task": "t", "run_id": "r", "model": "m"}}))
        middle = file.getinfo("samples/2_epoch_1.json").header_offset
        after = file.getinfo("samples/3_epoch_1.json").header_offset
    data = whole.read_bytes()
    wanted = {s.session: s.steps for s in registry.read(whole)}
    cut = list(registry.read(make(tmp_path, data[: (middle + after) // 2], "cut.eval")))
    assert [s.session for s in cut] == list(wanted)[:2], "the same sessions, so that the whole file joins them"
    assert cut[0].steps == 6 and 0 < cut[1].steps < 6 and cut[0].warnings == ()
    assert "samples/2_epoch_1.json: The text is damaged" in cut[1].warnings[0]
    assert f"cut off or damaged at byte {(middle + after) // 2:,}" in cut[1].warnings[-1]
    bare = list(registry.read(make(tmp_path, data[: data.index(b"PK\x01\x02") + 9], "bare.eval")))
    assert {s.session: s.steps for s in bare} == wanted and "table of contents" in bare[-1].warnings[-1]
    spoilt = bytearray(data[:after])
    spoilt[after - 40] ^= 1
    (first, *rest) = registry.read(make(tmp_path, bytes(spoilt), "spoilt.eval"))
    assert not rest and "'samples/2_epoch_1.json' is damaged" in first.warnings[0]


@pytest.mark.parametrize(("head", "packing"), [(b"7z\xbc\xaf\x27\x1c", "7z"), (b"Rar!\x1a\x07\x00", "RAR"),
                                               (b"\xfd7zXZ\x00", "xz"), (b"BZh9", "bzip2"),
                                               (b"\x28\xb5\x2f\xfd", "zstd")])
def test_what_is_packed_otherwise_is_named(tmp_path, head, packing):
    path = tmp_path / f"runs.{packing}"
    path.write_bytes(head + bytes(99))
    with pytest.raises(InvalidInput, match=f"is packed by {packing}, which is not unpacked here") as caught:
        list(registry.read(path))
    assert (caught.value.code, caught.value.params["packing"]) == ("packed_otherwise", packing)
