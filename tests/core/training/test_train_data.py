"""A data set is looked at as a whole before anything of it is trained: quickly, once, and by all processes together."""

from __future__ import annotations

import json
import random
import threading
from pathlib import Path

import pytest

from core.domain.errors import InvalidInput, NotFound

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
blocks = pytest.importorskip("core.training.blocks")
data = pytest.importorskip("core.training.data")
Crew, check_rows, load_rows = data.Crew, data.check_rows, data.load_rows


def write(path, *rows):
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows))
    return path


def row(ids=(1, 2, 3), labels=(-100, 2, 3), **more):
    return {"input_ids": list(ids), "labels": list(labels), **more}


def check(tmp_path, *rows, vocabulary=10, longest=100):
    return check_rows([write(tmp_path / "d.jsonl", *rows)], vocabulary, longest, tmp_path / "rows")


def random_rows(count, seed=0, **more):
    dice = random.Random(seed)
    rows = []
    for _ in range(count):
        ids = [dice.randrange(50) for _ in range(dice.randrange(2, 40))]
        labels = [i if dice.random() < 0.3 else -100 for i in ids]
        labels[-1] = ids[-1]
        rows.append({"input_ids": ids, "labels": labels, **{k: f(dice, ids) for k, f in more.items()}})
    return rows


def plain_facts(rows):
    """What a loop over lists counts."""
    times = [r.get("repeats", 1) for r in rows]
    return (sum(times), sum(n * len(r["input_ids"]) for n, r in zip(times, rows, strict=True)),
            sum(n * sum(label != -100 for label in r["labels"][1:]) for n, r in zip(times, rows, strict=True)),
            max(len(r["input_ids"]) for r in rows))


def test_facts_count_what_can_carry_loss(tmp_path):
    told = check(tmp_path, row(), row(labels=(1, -100, 3), weight=7.0))
    assert (told.rows, told.tokens, told.trained, told.longest, told.weighted) == (2, 6, 3, 3, True)


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "shards", "arrow"])
def test_any_form_of_the_same_rows_gives_the_same_rows_in_order(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(blocks, "_BLOCK", 2000)  # many blocks of a small file
    rows = random_rows(200, weight=lambda d, ids: d.choice([1.0, 0.5]), session=lambda d, ids: "x",
                       weights=lambda d, ids: None if d.random() < 0.5 else [d.choice([0.5, 2.0]) for _ in ids])
    folder = tmp_path / "export"
    folder.mkdir()
    table = pa.Table.from_pylist(rows)
    if kind == "jsonl":
        write(folder / "data.jsonl", *rows)
    elif kind == "parquet":
        pq.write_table(table, folder / "data.parquet", row_group_size=17)
    elif kind == "shards":
        for n in range(4):
            pq.write_table(table.slice(50 * n, 50), folder / f"data-{n:05d}-of-00004.parquet", row_group_size=20)
    else:
        with pa.ipc.new_file(folder / "data.arrow", table.schema) as writer:
            writer.write_table(table, max_chunksize=33)
    facts = check_rows(data.train_files(str(folder)), 50, 100, tmp_path / "rows")
    assert (facts.rows, facts.tokens, facts.trained, facts.longest) == plain_facts(rows)
    loaded = load_rows(facts)
    assert len(loaded) == len(rows)
    for n in (0, 1, 99, 150, 199):
        for name in ("input_ids", "labels"):
            assert loaded[n][name].tolist() == rows[n][name]
    from core.training.copies import counted
    for n, one in enumerate(rows):
        whole = counted(loaded[n])
        each = one["weights"] or [one["weight"]] * len(one["labels"])
        told = [w if label != -100 else 0.0 for w, label in zip(each, one["labels"], strict=True)]
        assert whole.weights.tolist() == [0.0, *told[1:]]


def test_repeats_are_places_and_no_copies(tmp_path):
    rows = [row(repeats=3), row(ids=(4, 5), labels=(-100, 5)), row(ids=(6, 7), labels=(-100, 7), repeats=2)]
    facts = check(tmp_path, *rows)
    assert (facts.rows, facts.tokens, facts.trained, facts.longest) == plain_facts(rows)
    loaded = load_rows(facts)
    assert [r["input_ids"].tolist() for r in loaded] == [[1, 2, 3]] * 3 + [[4, 5]] + [[6, 7]] * 2
    assert loaded.data.num_rows == 3


@pytest.mark.parametrize(("bad", "says"), [
    (row(labels=(-100, 2)), "as many labels"), (row(labels=(-100, 2, 4)), "labels that equal"),
    (row(ids=(1, 2, 99), labels=(-100, 2, 99)), "tokenizer"), (row(labels=(1, -100, -100)), "trains anything"),
    (row(ids=(1, -2, 3), labels=(-100, -100, 3)), "tokenizer"), (row(ids=(), labels=()), "a token to predict"),
    (row(weight=-1.0), "weight of at least 0"), (row(weight=float("nan")), "no row of the format|weight of at least 0"),
    (row(weights=[1.0, -1.0, 1.0]), "weight of at least 0"), (row(weights=[1.0]), "weight of at least 0"),
    (row(repeats=0), "at least once"), ("{no json", "Line 4"), ({"messages": []}, "Line 4"),
    ("[" * 100_000, "Line 4"), ('{"session": ' + "[" * 100_000, "Line 4"),
    (row(ids=("a", 2, 3)), "Line 4"), ({"input_ids": [1, None, 2], "labels": [-100, -100, 2]}, "4"),
])
@pytest.mark.parametrize("size", [60, 1 << 20])
def test_a_row_that_cannot_be_trained_exactly_is_named(tmp_path, monkeypatch, bad, says, size):
    monkeypatch.setattr(blocks, "_BLOCK", size)  # in a block of its own, and in one of many rows
    with pytest.raises(InvalidInput, match=says) as refused:
        check(tmp_path, row(), row(), row(), bad, row(), bad)
    assert refused.value.code == "bad_row" and refused.value.params["row"] == 4
    assert "4" in refused.value.sentence and "{" not in refused.value.sentence.split("JSON")[0]


def test_long_rows_are_refused_never_cut(tmp_path):
    with pytest.raises(InvalidInput) as refused:
        check(tmp_path, row(), longest=2)
    assert refused.value.code == "row_too_long" and "3 tokens" in refused.value.sentence


def test_an_empty_or_missing_set_is_refused_and_one_in_which_nothing_counts(tmp_path):
    with pytest.raises(InvalidInput) as refused:
        check(tmp_path)
    assert refused.value.code == "no_rows"
    with pytest.raises(InvalidInput, match="weight 0") as refused:
        check(tmp_path, row(weight=0.0), row(weights=[1.0, 0.0, 0.0]))
    assert refused.value.code == "nothing_trained"
    with pytest.raises(NotFound):
        data.train_files(str(tmp_path / "none"))
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    with pytest.raises(InvalidInput) as refused:
        check_rows([tmp_path / "broken.parquet"], 10, 10, tmp_path / "rows")
    assert refused.value.code == "bad_file"


def test_a_folders_files_are_found_by_name(tmp_path):
    for name in ("data-00001-of-00002.parquet", "data-00000-of-00002.parquet", "eval.jsonl"):
        (tmp_path / name).touch()
    assert [f.name for f in data.train_files(str(tmp_path))] == [
        "data-00000-of-00002.parquet", "data-00001-of-00002.parquet"]
    assert [f.name for f in data.eval_files(str(tmp_path))] == ["eval.jsonl"]


def test_several_processes_look_at_a_part_each_and_all_know_the_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "_BLOCK", 500)
    rows = random_rows(60)
    path = write(tmp_path / "d.jsonl", *rows)
    barrier, found, read = threading.Barrier(3), {}, []
    original = data._check_block
    monkeypatch.setattr(data, "_check_block", lambda block, *a: (read.append(block.start), original(block, *a)))

    def work(rank):
        found[rank] = check_rows([path], 50, 100, tmp_path / "rows", Crew(rank, 3, barrier.wait))

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1] == found[2] and len(read) == len(set(read)) > 5
    assert (found[0].rows, found[0].tokens, found[0].trained, found[0].longest) == plain_facts(rows)


def test_what_was_looked_at_is_not_read_again_until_it_changes(tmp_path, monkeypatch):
    reads = []
    original = blocks.Block.read
    monkeypatch.setattr(blocks.Block, "read", lambda block: (reads.append(block), original(block))[1])
    first = check(tmp_path, row(), row())
    path = tmp_path / "d.jsonl"
    assert check_rows([path], 10, 100, tmp_path / "rows") == first and len(reads) == 1
    path.write_text(path.read_text() + json.dumps(row(ids=(4, 5), labels=(-100, 5))) + "\n")
    assert check_rows([path], 10, 100, tmp_path / "rows").rows == 3 and len(reads) == 2
    with pytest.raises(InvalidInput):
        check_rows([path], 4, 100, tmp_path / "rows")  # another model's vocabulary


def test_rows_that_somebody_maps_are_replaced_and_never_written_over(tmp_path):
    """A file that becomes shorter below a mapping ends its process by SIGBUS."""
    facts = check(tmp_path, *random_rows(40), vocabulary=50)
    mapped, (arrow,) = load_rows(facts), Path(facts.folder).glob("*.arrow")
    before = arrow.stat().st_ino
    arrow.with_suffix(".json").unlink()
    check_rows([tmp_path / "d.jsonl"], 50, 100, tmp_path / "rows")
    assert arrow.stat().st_ino != before and len(mapped[39]["input_ids"])
    assert {p.suffix for p in arrow.parent.iterdir()} == {".arrow", ".json"}
