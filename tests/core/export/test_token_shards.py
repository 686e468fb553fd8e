"""The pretokenised form for large engines: the rows of the format trl, in shards, with what an engine wants beside."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from support.exported import talking_session, write_log
from support.tiny_model import make_tokenizer, trl_template

from core.export import writer
from core.export.options import ExportOptions, read_options
from core.export.run import export

parquet = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("transformers")

KEPT = ExportOptions(unjudged="keep")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    model = str(make_tokenizer(folder / "model", template=trl_template("qwen3")))
    return write_log(folder / "server.db", a=talking_session(5, steps=3), b=talking_session(6, steps=4)), model


def rows_of(report):
    return [row for f in sorted(report.files) if f.endswith(".parquet") and "eval" not in f
            for row in parquet.read_table(f).to_pylist()]


def test_the_shards_hold_the_rows_of_the_format_trl(made, tmp_path, monkeypatch):
    log, model = made
    monkeypatch.setattr(writer, "_BATCH", 1000)
    monkeypatch.setattr(writer, "_SHARD", 2)
    report = export(log, ["a", "b"], "tokens", tmp_path / "t", model, KEPT)
    plain = export(log, ["a", "b"], "trl", tmp_path / "j", model, KEPT)
    lines = [json.loads(line) for line in (tmp_path / "j" / "data.jsonl").read_text().splitlines()]
    rows = rows_of(report)
    assert len(rows) == report.rows == plain.rows > 2
    names = sorted(p.name for p in (tmp_path / "t").glob("data-*"))
    assert names == [f"data-{n:05d}-of-{len(names):05d}.parquet" for n in range(len(names))] and len(names) > 1
    for row, line in zip(rows, lines, strict=True):
        assert {k: row[k] for k in ("input_ids", "labels", "weights", "session", "kind", "step")} == {
            k: line[k] for k in ("input_ids", "labels", "weights", "session", "kind", "step")}
        size = len(row["input_ids"])
        assert row["position_ids"] == list(range(size)) and row["attention_mask"] == [1] * size
        assert row["repeats"] == 1
        chain = row["summary_from"]
        assert set(row["weights"][: chain or size]) <= {0.0, 7.0}
        assert not chain or set(row["weights"][chain:]) == {0.0, 10.0}
    schema = parquet.read_schema(tmp_path / "t" / names[0])
    assert [str(schema.field(n).type.value_type) for n in ("input_ids", "labels", "weights", "attention_mask")] == [
        "int32", "int32", "float", "int8"]
    again = export(log, ["a"], "tokens", tmp_path / "t", model, KEPT)
    assert {p.name for p in (tmp_path / "t").glob("*.parquet")} == {f.rpartition("/")[2] for f in again.files
                                                                     if f.endswith(".parquet")}


def test_the_papers_preset_repeats_rows_as_places_that_the_trainer_reads(made, tmp_path):
    from core.training.data import check_rows, load_rows, train_files

    log, model = made
    paper = read_options({"preset": "paper", "unjudged": "keep"})
    report = export(log, ["a"], "tokens", tmp_path / "t", model, paper)
    export(log, ["a"], "trl", tmp_path / "j", model, paper)
    lines = [json.loads(line) for line in (tmp_path / "j" / "data.jsonl").read_text().splitlines()]
    facts = check_rows(train_files(str(tmp_path / "t")), 10**6, 10**6, tmp_path / "rows")
    loaded = load_rows(facts)
    assert Counter(tuple(r["labels"]) for r in lines) == Counter(tuple(r["labels"].tolist()) for r in loaded)
    assert sorted(r["repeats"] for r in rows_of(report)) == [7, 7, 10] and loaded.data.num_rows == 3
    assert facts.tokens == sum(len(r["input_ids"]) for r in lines)
