"""What leaves with an export and what does not: secrets, names in paths, doubles, tasks of evaluation."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from support.exported import talking_session, write_log
from support.tiny_model import make_tokenizer, trl_template

from core.domain.errors import Conflict, InvalidInput
from core.domain.events import SessionCreated, decode_event, encode_event
from core.domain.message import Message, ToolCall
from core.export.cleaning import Cleaner
from core.export.options import ExportOptions, read_options
from core.export.run import dry_run, export, held_out
from core.export.sample import Sample, SamplePart

KEY = "sk-proj-" + "aB3dE5gH7jK9" * 3
ONCE = ExportOptions(balance="none")


def leaking(text: str, seed: int = 5):
    maker = talking_session(seed, steps=2)
    maker.guide(text)
    maker.add_step(fails=False)
    return maker


def rows(folder: Path, name: str = "data.jsonl") -> list[dict]:
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def sample(content: str = "", call: str = "{}", state: str = "kept") -> Sample:
    told = Message(role="assistant", content=content, tool_calls=(ToolCall(id="1", name="run", arguments=call),))
    return Sample(session="s", kind="react", step=1, parts=(SamplePart(message=told, state=state, step=1),))


def test_an_export_with_a_secret_is_blocked_until_it_was_looked_at_and_never_writes_it(tmp_path):
    log = write_log(tmp_path / "server.db", s=leaking(f"the key is {KEY}"))
    looked = dry_run(log, ["s"], "chat", "", ONCE)
    assert [(f.kind, f.count) for f in looked.findings] == [("openai_key", 1)]
    assert looked.findings[0].hint == f"sk-p… ({len(KEY)} characters)" and KEY not in str(looked)
    with pytest.raises(Conflict, match="openai_key") as refused:
        export(log, ["s"], "chat", tmp_path / "a", "", ONCE)
    assert refused.value.code == "findings_unseen" and list((tmp_path / "a").iterdir()) == []
    allowed = msgspec.structs.replace(ONCE, allow_findings=True)
    report = export(log, ["s"], "chat", tmp_path / "a", "", allowed)
    assert "the key is [redacted]" in json.dumps(rows(tmp_path / "a"))
    assert not any(KEY.encode() in p.read_bytes() for p in (tmp_path / "a").iterdir())
    manifest = json.loads((tmp_path / "a" / "manifest.json").read_text())
    assert manifest["findings"][0]["kind"] == "openai_key" and "1 places" in report.warnings[0].sentence
    export(log, ["s"], "chat", tmp_path / "b", "", msgspec.structs.replace(ONCE, scan=False))
    assert KEY in json.dumps(rows(tmp_path / "b"))


def test_an_action_out_of_which_a_secret_was_taken_is_not_trained():
    [part] = Cleaner(ONCE).clean(sample(call=json.dumps({"command": f"export KEY={KEY}"}))).parts
    told = json.loads(part.message.tool_calls[0].arguments)["command"]
    assert (part.state, told) == ("changed", "export KEY=[redacted]")
    assert Cleaner(ONCE).clean(sample("nothing here")).parts[0].state == "kept"


def test_a_secret_in_what_a_model_only_thought_is_taken_out():
    told = sample("nothing here")
    [part] = told.parts
    thought = msgspec.structs.replace(part, message=msgspec.structs.replace(part.message, reasoning=f"it is {KEY}"))
    cleaner = Cleaner(ONCE)
    [clean] = cleaner.clean(msgspec.structs.replace(told, parts=(thought,))).parts
    assert (clean.state, clean.message.reasoning) == ("changed", "it is [redacted]")
    assert [f.kind for f in cleaner.leaks] == ["openai_key"]


def test_people_get_other_names_in_paths_the_same_ones_in_the_whole_session():
    cleaner = Cleaner(ONCE)
    first = cleaner.clean(sample("cd /home/mei.li/x && ls /Users/bob/y", json.dumps({"p": "C:\\Users\\mei.li\\z"})))
    told = first.parts[0].message
    assert told.content == "cd /home/user/x && ls /Users/user2/y"
    assert json.loads(told.tool_calls[0].arguments) == {"p": "C:\\Users\\user\\z"}
    assert first.parts[0].state == "kept" and cleaner.renamed == 3 and cleaner.leaks == []
    again = cleaner.clean(sample("/home/bob /home/ubuntu /home/user /homes/x")).parts[0].message
    assert again.content == "/home/user2 /home/ubuntu /home/user /homes/x"


def test_named_values_come_out_in_every_form():
    cleaner = Cleaner(ExportOptions(secrets=('pass"word',), on_secret="redact"))
    told = cleaner.clean(sample('a pass"word b', json.dumps({"k": 'pass"word'}))).parts[0].message
    assert told.content == "a [redacted] b" and json.loads(told.tool_calls[0].arguments) == {"k": "[redacted]"}
    assert [(f.kind, f.count, f.hint) for f in cleaner.leaks] == [("named_value", 2, "")]
    with pytest.raises(InvalidInput, match="kept secret"):
        Cleaner(ExportOptions(secrets=('pass"word',))).clean(sample('a pass"word b'))


def test_equal_samples_of_other_sessions_are_left_out(tmp_path):
    log = write_log(tmp_path / "server.db", a=talking_session(5), b=talking_session(5), c=talking_session(6))
    report = export(log, ["a", "b", "c"], "chat", tmp_path / "x", "", ONCE)
    assert (report.duplicates, report.rows) == (3, 6)
    assert {r["session"] for r in rows(tmp_path / "x")} == {"a", "c"}
    whole = dry_run(log, ["a", "b", "c"], "chat", "", msgspec.structs.replace(ONCE, dedupe=False))
    assert (whole.duplicates, whole.rows) == (0, 9)


def of_task(maker, task: str):
    created = decode_event(maker.bodies[0])
    assert isinstance(created.fact, SessionCreated)
    fact = msgspec.structs.replace(created.fact, task=msgspec.structs.replace(created.fact.task, id=task))
    maker.bodies[0] = encode_event(msgspec.structs.replace(created, fact=fact))
    return maker


def test_whole_tasks_are_held_out_and_each_sample_counts_once_there(tmp_path):
    made = {name: of_task(talking_session(n), f"task-{name[0]}") for n, name in enumerate(("a1", "a2", "b1", "c1"))}
    log = write_log(tmp_path / "server.db", **made)
    options = ExportOptions(react=3, summary=2, eval_tasks=("task-a",))
    report = export(log, list(made), "chat", tmp_path / "x", "", options)
    assert report.eval_sessions == ["a1", "a2"] and report.eval_rows == len(rows(tmp_path / "x", "eval.jsonl")) == 6
    assert {r["session"] for r in rows(tmp_path / "x")} == {"b1", "c1"}
    assert {r["session"] for r in rows(tmp_path / "x", "eval.jsonl")} == {"a1", "a2"}
    assert report.rows == 2 * (2 * 3 + 2)
    told = json.loads((tmp_path / "x" / "manifest.json").read_text())
    assert len(told["eval_sha256"]) == 64 and told["counts"]["eval_rows"] == 6
    expected = dry_run(log, list(made), "chat", "", options)
    assert (expected.rows, expected.eval_rows) == (report.rows, report.eval_rows)
    export(log, ["b1"], "chat", tmp_path / "x", "", ONCE)
    assert sorted(p.name for p in (tmp_path / "x").iterdir()) == ["README.md", "data.jsonl", "manifest.json"]


def test_a_share_of_the_tasks_depends_on_their_names_alone():
    tasks = {f"s{n}": f"task-{n % 10}" for n in range(40)}
    some = held_out(tasks, ExportOptions(eval_share=0.2))
    assert len(some) == 8 and len({tasks[s] for s in some}) == 2
    assert held_out(dict(reversed(tasks.items())), ExportOptions(eval_share=0.2)) == some
    assert held_out({"a": "x", "b": "y"}, ExportOptions(eval_share=0.01)) in ({"a"}, {"b"})
    assert held_out({"a": "x", "b": "y"}, ExportOptions(eval_share=0.99)) in ({"a"}, {"b"})
    assert held_out({"a": "x"}, ExportOptions(eval_share=0.5)) == held_out(tasks, ExportOptions()) == set()
    with pytest.raises(InvalidInput):
        read_options({"eval_share": 1.0})


@pytest.mark.parametrize("name", ["chat", "axolotl", "slime", "llama-factory"])
def test_message_formats_load_with_the_loader_of_their_trainers(name, tmp_path):
    datasets = pytest.importorskip("datasets")
    log = write_log(tmp_path / "server.db", a=talking_session(5))
    export(log, ["a"], name, tmp_path / "x", "", ONCE)
    loaded = datasets.Dataset.from_json(str(tmp_path / "x" / "data.jsonl"), cache_dir=str(tmp_path / "cache"))
    assert len(loaded) == 3
    kept = {"chat": "train", "axolotl": "train", "slime": "step_loss_mask", "llama-factory": "loss_weight"}[name]
    own = [m[kept] for m in loaded[0]["messages"] if m["role"] == "assistant"]
    assert [bool(k) for k in own] == [True, False, True, True, True, True]


def test_what_a_person_writes_is_never_trained(tmp_path):
    maker = leaking("mind the XYZZY split", seed=8)
    maker.summarise()
    maker.guide("and the PLUGH one")
    maker.add_step(fails=False)
    log = write_log(tmp_path / "server.db", s=maker)
    export(log, ["s"], "chat", tmp_path / "x", "", msgspec.structs.replace(ONCE, verdicts="none"))
    messages = [m for r in rows(tmp_path / "x") for m in r["messages"]]
    assert {m["role"] for m in messages if m.get("train")} == {"assistant"}
    trained = json.dumps([m for m in messages if m.get("train")])
    shown = json.dumps([m for m in messages if not m.get("train")])
    assert "XYZZY" in shown and "PLUGH" in shown and "XYZZY" not in trained and "PLUGH" not in trained


@pytest.mark.parametrize("name", ["trl", "trl-parquet"])
@pytest.mark.parametrize("chains", [False, True])
def test_token_formats_load_with_the_loader_of_trl(name, chains, tmp_path):
    datasets = pytest.importorskip("datasets")
    pytest.importorskip("transformers")
    model = str(make_tokenizer(tmp_path / "model", template=trl_template("qwen3")))
    log = write_log(tmp_path / "server.db", a=talking_session(5, steps=2))
    report = export(log, ["a"], name, tmp_path / "x", model, ExportOptions(
        balance="auto" if chains else "repeat", react=2, summary=3))
    [file] = [f for f in report.files if "data." in f]
    read = datasets.Dataset.from_parquet if name.endswith("parquet") else datasets.Dataset.from_json
    loaded = read(file, cache_dir=str(tmp_path / "cache"))
    assert len(loaded) == report.rows == (2 if chains else 7)
    assert all(len(r["input_ids"]) == len(r["labels"]) for r in loaded) and ("weights" in loaded.column_names) == chains
