"""A whole export: what lies in the folder, the same bytes every time, and what is refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from support.exported import talking_session, write_log
from support.tiny_model import make_tokenizer, trl_template

from core.domain.errors import Conflict, InvalidInput, NotFound
from core.domain.message import Message
from core.export.formats import FORMATS
from core.export.options import ExportOptions
from core.export.render import Renderer
from core.export.run import dry_run, export
from core.export.sample import Sample, SamplePart
from core.export.text_form import in_text_form
from core.llm.model import ToolSpec

pytest.importorskip("transformers")
ONCE = ExportOptions(balance="none")


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> str:
    return str(make_tokenizer(tmp_path_factory.mktemp("model"), template=trl_template("qwen3")))


@pytest.fixture(scope="module")
def log(tmp_path_factory) -> Path:
    return write_log(tmp_path_factory.mktemp("log") / "server.db", a=talking_session(5),
                     b=talking_session(6, title="Runs | steps"))


def rows(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "data.jsonl").read_text(encoding="utf-8").splitlines()]


def test_rows_hold_ids_and_labels_of_the_kept_actions_only(log, model, tmp_path):
    report = export(log, ["a"], "trl", tmp_path, model, ONCE)
    told = rows(tmp_path)
    assert (report.samples, report.react, report.summary, report.rows) == (3, 2, 1, 3)
    renderer = Renderer(model)
    for row in told:
        assert len(row["input_ids"]) == len(row["labels"])
        assert all(label in (-100, i) for i, label in zip(row["input_ids"], row["labels"], strict=True))
    kept = renderer.decode([label for label in told[0]["labels"] if label != -100])
    assert kept.count("<|im_end|>") == 5  # six steps, one masked
    assert sum(label != -100 for r in told for label in r["labels"]) == report.trained
    assert "Summarise your work" in renderer.decode(told[1]["input_ids"])
    assert renderer.decode([label for label in told[1]["labels"] if label != -100]).count("<|im_end|>") == 1


def test_the_same_log_gives_the_same_bytes_and_the_manifest_says_what_they_are(log, model, tmp_path):
    for name in "xy":
        export(log, ["a", "b"], "trl", tmp_path / name, model)
    for file in ("data.jsonl", "manifest.json", "README.md"):
        assert (tmp_path / "x" / file).read_bytes() == (tmp_path / "y" / file).read_bytes()
    told = json.loads((tmp_path / "x" / "manifest.json").read_text())
    assert told["data_sha256"] == hashlib.sha256((tmp_path / "x" / "data.jsonl").read_bytes()).hexdigest()
    assert told["options"]["overlap"] == "once" and told["options"]["react"] == 7
    assert [(s["session"], s["steps"], s["masked"]) for s in told["sessions"]] == [("a", 9, 1), ("b", 9, 1)]
    assert all(s["head"] > 0 for s in told["sessions"])
    assert told["sessions"][0]["verdicts"] == [
        {"author": "judge:judge-1", "version": "1", "masks": 0, "keeps": 9},
        {"author": "rule:null_action", "version": "1", "masks": 1, "keeps": 0}]
    assert len(told["model"]["template_sha256"]) == len(told["model"]["tokenizer_sha256"]) == 64
    card = (tmp_path / "x" / "README.md").read_text()
    assert "| rule:null_action | 1 | 2 | 0 |" in card
    assert told["data_sha256"] in card and "ReAct ×7, summary ×10" in card
    assert len({line.count("|") for line in card.splitlines() if line.startswith(("| session", "| a ", "| b "))}) == 1
    assert all(f"| {s['session']} " in card and f"| {s['head']} |" in card for s in told["sessions"])


def test_balance_repeats_apart_or_weighs(log, model, tmp_path):
    report = export(log, ["a"], "trl", tmp_path / "r", model, ExportOptions(react=3, summary=4, balance="repeat"))
    told = [(r["kind"], r["step"]) for r in rows(tmp_path / "r")]
    assert report.rows == len(told) == 3 + 3 + 4
    assert told[:3] == told[3:6] == [("react", 6), ("summary", 6), ("react", 9)] and told[9] == ("summary", 6)
    export(log, ["a"], "trl", tmp_path / "w", model, ExportOptions(react=3, summary=4, balance="weight", chains=False))
    assert [(r["kind"], r["weight"]) for r in rows(tmp_path / "w")] == [("react", 3), ("summary", 4), ("react", 3)]


def test_the_dry_run_says_what_the_export_does_and_writes_nothing(log, model, tmp_path):
    expected = dry_run(log, ["a", "b"], "trl", model)
    assert list(tmp_path.iterdir()) == []
    real = export(log, ["a", "b"], "trl", tmp_path / "out", model)
    assert expected.rows == 2 * 2  # of three samples two are a chain
    real.files = []
    assert expected == real


def test_long_samples_are_refused_never_cut(log, model, tmp_path):
    whole = dry_run(log, ["a"], "trl", model, ONCE)
    report = dry_run(log, ["a"], "trl", model, ExportOptions(balance="none", max_tokens=whole.longest - 1))
    refused = [r for r in report.sessions[0].refused if r.code == "too_long"]
    assert refused and report.samples == whole.samples - len(refused)
    with pytest.raises(InvalidInput) as nothing:
        export(log, ["a"], "trl", tmp_path / "n", model, ExportOptions(max_tokens=3))
    assert nothing.value.code == "nothing_to_export"
    assert not (tmp_path / "n" / "data.jsonl").exists() and not list((tmp_path / "n").iterdir())


def test_a_secret_refuses_its_samples_or_is_taken_out_and_is_written_nowhere(model, tmp_path):
    maker = talking_session(5)
    secret = "hunter2-\"quoted\""
    maker.guide(f"the key is {secret}")
    maker.add_step(fails=False)
    log = write_log(tmp_path / "server.db", s=maker)
    assert secret in json.dumps(rows_of_chat(log, tmp_path / "0", ONCE), ensure_ascii=False).replace("\\", "")
    report = export(log, ["s"], "trl", tmp_path / "1", model, ExportOptions(balance="none", secrets=(secret,)))
    assert [r.code for r in report.sessions[0].refused if r.sample] == ["holds_a_secret"] and report.samples == 2
    told = rows_of_chat(log, tmp_path / "2", ExportOptions(balance="none", secrets=(secret,), on_secret="redact"))
    assert "the key is [redacted]" in json.dumps(told)
    everything = b"".join(p.read_bytes() for n in "12" for p in (tmp_path / n).iterdir())
    assert b"hunter2" not in everything
    with pytest.raises(InvalidInput):
        export(log, ["s"], "chat", tmp_path / "3", "", ExportOptions(secrets=("abc",)))


def rows_of_chat(log, folder, options):
    export(log, ["s"], "chat", folder, "", options)
    return rows(folder)


def test_message_formats_mark_the_same_actions_without_a_tokenizer(log, tmp_path):
    for name in ("chat", "slime", "axolotl", "llama-factory"):
        export(log, ["a"], name, tmp_path / name, "", ONCE)
    chat = rows(tmp_path / "chat")[0]["messages"]
    flags = [m["train"] for m in chat if m["role"] == "assistant"]
    assert flags == [True, False, True, True, True, True]
    slime = rows(tmp_path / "slime")[0]["messages"]
    assert [m["step_loss_mask"] for m in slime if m["role"] == "assistant"] == [1, 0, 1, 1, 1, 1]
    weights = [m["loss_weight"] for m in rows(tmp_path / "llama-factory")[0]["messages"]]
    assert weights == [1.0 if m.get("train") else 0.0 for m in chat]
    assert rows(tmp_path / "axolotl")[0]["messages"] == chat


def test_parquet_holds_the_same_rows(log, model, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    export(log, ["a"], "trl", tmp_path / "j", model, ONCE)
    export(log, ["a"], "trl-parquet", tmp_path / "p", model, ONCE)
    assert pq.read_table(tmp_path / "p" / "data.parquet").to_pylist() == rows(tmp_path / "j")


def test_what_cannot_be_asked_for(log, model, tmp_path):
    with pytest.raises(NotFound, match="no session"):
        export(log, ["zzz"], "trl", tmp_path / "a", model)
    with pytest.raises(NotFound, match="no export format"):
        export(log, ["a"], "csv", tmp_path / "b", model)
    with pytest.raises(InvalidInput, match="needs a model"):
        export(log, ["a"], "trl", tmp_path / "c", "")
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(Conflict) as refused:
        export(log, ["a"], "trl", tmp_path, model)
    assert refused.value.code == "folder_not_empty" and (tmp_path / "mine.txt").exists()
    assert set(FORMATS) >= {"trl", "chat"}


def test_a_model_without_tool_calls_gets_them_as_the_agent_would_serve_them_in_text(tmp_path):
    from core.agents.prompts import system_prompt
    from core.domain.task import Task
    from core.llm.text_actions import parse_text_actions

    maker = talking_session(7)
    log = write_log(tmp_path / "server.db", s=maker)
    model = str(make_tokenizer(tmp_path / "plain"))
    report = export(log, ["s"], "trl", tmp_path / "out", model, ONCE)
    assert report.samples == 3 and report.sessions[0].in_text and "plain-text" in report.warnings[0].sentence
    renderer = Renderer(model)
    kept = renderer.decode([i for i in rows(tmp_path / "out")[0]["labels"] if i != -100]).split("<|im_end|>")
    assert len(kept) == 6 and kept[-1] == ""
    thought, [call] = parse_text_actions(kept[0], 1)
    assert thought and call.name == "run_command" and json.loads(call.arguments) == {"command": "…"}
    with pytest.raises(InvalidInput) as refused:
        export(log, ["s"], "trl", tmp_path / "no", model, ExportOptions(calls="native"))
    assert refused.value.code == "nothing_to_export"
    tools = (ToolSpec(name="run_command", description="Run."),)
    task = Task(id="t", title="T", description="D")
    plain = SamplePart(message=Message(role="system", content=system_prompt(task, "/w")))
    formed = in_text_form(Sample(session="s", kind="react", step=1, parts=(plain,), tools=tools))
    assert formed.parts[0].message.content == system_prompt(task, "/w", tools) and formed.tools == ()
