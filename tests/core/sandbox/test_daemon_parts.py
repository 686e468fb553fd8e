"""The daemon's tape and marks by themselves, and that its source runs on the oldest Python it promises."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.sandbox import ptyd
from core.sandbox.ptyd import shell, tape

SMALL = {"RING": 64, "SEGMENT": 32, "SEGMENTS": 4}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SMALL.items():
        monkeypatch.setattr(tape, name, value)


def stream(start: int, stop: int) -> bytes:
    return bytes(n % 251 for n in range(start, stop))


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sizes=st.lists(st.integers(1, 90), max_size=25), begin=st.integers(0, 500),
       lost=st.lists(st.integers(0, 30), max_size=3),
       reads=st.lists(st.tuples(st.integers(0, 2500), st.integers(1, 99))))
def test_any_offset_gives_its_own_bytes_or_a_later_offset(small: None, tmp_path_factory: pytest.TempPathFactory,
                                                          sizes: list[int], begin: int, lost: list[int],
                                                          reads: list[tuple[int, int]]) -> None:
    made = tape.OutputTape(str(tmp_path_factory.mktemp("tape")), begin)
    for size in sizes:
        made.append(stream(made.total, made.total + size))
    assert made.total == begin + sum(sizes)
    spooled = sorted(Path(made.folder).iterdir())
    assert len(spooled) <= SMALL["SEGMENTS"]
    assert made.total - made.first >= min(sum(sizes), SMALL["RING"])
    for n in {i for i in lost if i < len(spooled)}:  # the agent may delete the spool
        spooled[n].unlink()
    for offset, size in reads:
        at, data = made.read(offset, size)
        assert at >= offset or at == made.total
        assert data == stream(at, at + len(data)) and len(data) <= size
        assert data or at == made.total


def test_without_a_place_to_spool_the_newest_part_stays(small: None, tmp_path: Path) -> None:
    made = tape.OutputTape(str(tmp_path / "gone"))
    shutil.rmtree(tmp_path / "gone")
    made.append(stream(0, 1000))
    made.append(stream(1000, 1100))
    at, data = made.read(0, 5000)
    assert at > 0 and at + len(data) == 1100 and len(data) >= SMALL["RING"]


STREAM = (b"x\x1b[31m\x1b]7717;n0;start;j1\x07out\x1b]0;title\x07put\x1b]7717;zz;end;j1;9;/fake\x07"
          b"\x1b]7717;n0;end;j1;3;/work space\x07$ \x1b]7717;n0;prompt;-\x07")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20, 1000])
def test_marks_are_found_however_the_stream_is_cut(size: int) -> None:
    reader = shell.MarkReader("n0")
    found = [m for at in range(0, len(STREAM), size) for m in reader.feed(STREAM[at : at + size], 100 + at)]
    assert [(m.kind, m.job, m.exit_code, m.cwd) for m in found] == \
        [("start", "j1", 0, ""), ("end", "j1", 3, "/work space"), ("prompt", "-", 0, "")]
    assert all(STREAM[m.begin - 100 : m.end - 100].startswith(b"\x1b]7717;n0") for m in found)


def test_an_unfinished_mark_does_not_pile_up() -> None:
    reader = shell.MarkReader("n0")
    for n in range(2000):
        assert reader.feed(b"\x1b]7717;n0;end;" + b"a" * 100, n * 114) == []
    assert len(reader._carry) <= shell.LONGEST_MARK


@pytest.mark.parametrize("path", sorted(Path(ptyd.__file__).parent.glob("*.py")), ids=lambda p: p.name)
def test_the_source_is_plain_python_of_3_9_and_the_standard_library(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 9))
    known = {"__future__", "asyncio", "collections", "concurrent", "fcntl", "hashlib", "json", "os", "re", "secrets",
             "select", "selectors", "signal", "socket", "stat", "struct", "subprocess", "sys", "tempfile", "termios",
             "threading", "time", "typing"}
    used = {a.name.partition(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    used |= {(n.module or "").partition(".")[0] for n in ast.walk(tree)
             if isinstance(n, ast.ImportFrom) and not n.level}
    assert used <= known
    assert any(isinstance(n, ast.ImportFrom) and n.module == "__future__" for n in tree.body) or \
        path.name == "__init__.py"
