"""An export takes the memory of its largest session, and gives the same bytes in every process."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from support.exported import write_log
from support.logs import Maker
from support.tiny_model import make_tokenizer, trl_template

from core.export import writer
from core.export.options import ExportOptions
from core.export.run import export


def long_session(seed: int, steps: int = 40) -> Maker:
    made = Maker(seed)
    made.plain = True
    for number in range(steps):
        made.guide("Look at this. " + made.text(400))
        made.add_step(fails=False)
        if number % 20 == 19:
            made.summarise()
    return made


@pytest.fixture(scope="module")
def log(tmp_path_factory) -> Path:
    made = {f"s{n:02}": long_session(n) for n in range(16)}
    return write_log(tmp_path_factory.mktemp("log") / "server.db", **made)


def peak(log: Path, sessions: list[str], out: Path) -> int:
    tracemalloc.start()
    try:
        export(log, sessions, "chat", out, "", ExportOptions(react=2, summary=3))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_four_times_the_sessions_take_no_more_memory(log, tmp_path):
    names = [f"s{n:02}" for n in range(16)]
    export(log, names[:1], "chat", tmp_path / "warm", "", ExportOptions())
    few, many = (peak(log, names[:n], tmp_path / f"x{n}") for n in (4, 16))
    assert (tmp_path / "x16").is_dir() and many < few * 1.25, (few, many)


@pytest.mark.timeout(300)
def test_a_parquet_file_is_written_in_groups_of_bounded_size(log, tmp_path, monkeypatch):
    """Rows of 128k tokens each: their number says nothing of the memory that they take."""
    parquet = pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("transformers")
    model = str(make_tokenizer(tmp_path / "model", template=trl_template("qwen3")))
    monkeypatch.setattr(writer, "_BATCH", 200_000)
    options = ExportOptions(react=4, summary=4, balance="repeat")
    report = export(log, ["s00"], "trl-parquet", tmp_path / "x", model, options)
    told = parquet.ParquetFile(tmp_path / "x" / "data.parquet")
    sizes = [told.metadata.row_group(i).num_rows for i in range(told.num_row_groups)]
    assert sum(sizes) == report.rows and len(sizes) > 1


_RUN = """
import sys
from pathlib import Path
from core.export import writer
from core.export.options import ExportOptions
from core.export.run import export
export(Path(sys.argv[1]), ["s01", "s00"], sys.argv[2], Path(sys.argv[3]), sys.argv[4],
       ExportOptions(eval_share=0.5, react=2, summary=2))
"""


@pytest.mark.timeout(400)
def test_processes_with_other_hash_seeds_write_the_same_bytes(tmp_path):
    pytest.importorskip("transformers")
    log = write_log(tmp_path / "server.db", s00=long_session(0, 22), s01=long_session(1, 4))
    model = str(make_tokenizer(tmp_path / "model", template=trl_template("qwen3_6")))
    export(log, ["s01", "s00"], "trl", tmp_path / "here", model, ExportOptions(eval_share=0.5, react=2, summary=2))
    for name, arguments in {"trl": [model], "chat": [""]}.items():
        env = os.environ | {"PYTHONHASHSEED": "77", "PYTHONPATH": os.pathsep.join(sys.path)}
        told = [str(log), name, str(tmp_path / f"{name}-there"), *arguments]
        subprocess.run([sys.executable, "-c", _RUN, *told], env=env,
                       check=True, capture_output=True, timeout=300)
    export(log, ["s01", "s00"], "chat", tmp_path / "chat", "", ExportOptions(eval_share=0.5, react=2, summary=2))
    for here, there in (("here", "trl-there"), ("chat", "chat-there")):
        told = [{p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted((tmp_path / f).iterdir())}
                for f in (here, there)]
        assert told[0] == told[1] and set(told[0]) == {"README.md", "data.jsonl", "eval.jsonl", "manifest.json"}
