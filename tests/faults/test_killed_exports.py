"""An export is killed at each of its writes: the folder then holds the old data set or the new one, whole, and the same
command once more gives the same bytes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import msgspec
import pytest
from support.exported import talking_session, write_log
from support.killed import contents, every_kill, killed_at
from support.tiny_model import make_tokenizer, trl_template

from core.domain.errors import NotFound
from core.export import run, writer
from core.export.options import ExportOptions
from core.export.run import export
from core.export.staging import finish_interrupted
from core.formats.page.document import write

pytest.importorskip("transformers")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a child is killed that has all imported")


PLAIN = ExportOptions(unjudged="keep", balance="none")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("killed")
    model = str(make_tokenizer(folder / "model", template=trl_template("qwen3")))
    return write_log(folder / "server.db", a=talking_session(5, steps=2), b=talking_session(6, steps=3)), model


@pytest.fixture(autouse=True)
def _opened_once(made, monkeypatch) -> None:
    """Children take the renderer that their parent has opened."""
    opened = run.open_renderer(run.format_named("trl"), made[1], PLAIN)
    monkeypatch.setattr(run, "open_renderer", lambda *_: opened)


@pytest.mark.parametrize(("first", "then"), [("trl", "tokens"), ("tokens", "trl-parquet")])
def test_a_data_set_is_the_old_or_the_new_one_wherever_its_export_is_killed(
    made, tmp_path: Path, monkeypatch, first: str, then: str
) -> None:
    from core.training.data import train_files

    pytest.importorskip("pyarrow")
    monkeypatch.setattr(writer, "_BATCH", 2_000)
    monkeypatch.setattr(writer, "_SHARD", 1)
    log, model = made
    held = msgspec.structs.replace(PLAIN, eval_share=0.5)
    old, new, out = tmp_path / "old", tmp_path / "new", tmp_path / "out"
    export(log, ["a", "b"], first, old, model, held if first == "trl" else PLAIN)
    export(log, ["b"], then, new, model, PLAIN)
    (old / "mine.txt").write_text("a person's own")
    (new / "mine.txt").write_text("a person's own")

    def judge(number: int) -> None:
        for name, data in contents(out).items():
            assert data in (contents(old).get(name), contents(new).get(name)), f"half of {name} at touch {number}"
        finish_interrupted(out)
        assert contents(out) in (contents(old), contents(new)), f"a mixture at touch {number}"
        assert train_files(str(out))
        export(log, ["b"], then, out, model, PLAIN)
        assert contents(out) == contents(new) and {p.name for p in out.iterdir()} == set(contents(new))

    every_kill(out, lambda: shutil.copytree(old, out), lambda: export(log, ["b"], then, out, model, PLAIN), judge)


def test_the_first_export_of_a_folder_is_nothing_or_whole(made, tmp_path: Path) -> None:
    from core.training.data import train_files

    log, model = made
    new, out = tmp_path / "new", tmp_path / "out"
    export(log, ["a"], "trl", new, model, PLAIN)
    seen = set()

    def judge(number: int) -> None:
        finish_interrupted(out)
        seen.add(bool(contents(out)))
        if contents(out):
            assert contents(out) == contents(new)
        else:
            with pytest.raises(NotFound, match="no data set"):
                train_files(str(out))
        export(log, ["a"], "trl", out, model, PLAIN)
        assert contents(out) == contents(new)

    every_kill(out, lambda: None, lambda: export(log, ["a"], "trl", out, model, PLAIN), judge)
    assert seen == {True, False}


def test_a_training_finds_the_data_set_that_an_export_was_about_to_put_in_place(made, tmp_path: Path) -> None:
    """Between two moves: what is trained is the new data set, with nothing of the old one."""
    pytest.importorskip("torch")
    from support.tiny_model import make_model

    from core.training.settings import read_settings
    from core.training.train import checked_data

    log, _ = made
    model, out = str(make_model(tmp_path / "model", template=trl_template("qwen3"))), tmp_path / "out"
    held = msgspec.structs.replace(PLAIN, eval_share=0.5)

    def do() -> None:
        export(log, ["b"], "trl", out, model, PLAIN)

    export(log, ["a", "b"], "trl", tmp_path / "old", model, held)
    for touch in range(1, 200):
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(tmp_path / "old", out)
        assert killed_at(touch, out, do)
        if (out / ".whole").is_dir() and not (out / "manifest.json").exists():
            break
    assert (out / "eval.jsonl").exists()
    settings = read_settings({"data": str(out), "model": model, "out": str(tmp_path / "run"), "device": "cpu"})
    facts, held_facts = checked_data(settings, tmp_path / "rows")
    assert held_facts is None and facts.rows == export(log, ["b"], "trl", tmp_path / "b", model, PLAIN).rows


def test_a_page_is_the_old_or_the_new_one_wherever_its_writing_is_killed(tmp_path: Path) -> None:
    target = tmp_path / "page" / "a.html"

    def before() -> None:
        target.parent.mkdir()
        write(target, "old" * 9_000)

    def judge(number: int) -> None:
        assert target.read_text() in ("old" * 9_000, "new" * 9_000)
        write(target, "new" * 9_000)
        assert [p.name for p in target.parent.iterdir()] == ["a.html"]

    every_kill(target.parent, before, lambda: write(target, "new" * 9_000), judge)
