"""Each export in the hands of its trainer: what the trainer's own rule makes of it is what our renderer trains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.exported import write_log
from support.loaders import AXOLOTL, LLAMA_FACTORY, load
from support.logs import RULE, Maker
from support.tiny_model import make_tokenizer, trl_template

from core.domain.errors import InvalidInput
from core.domain.events import VerdictGiven
from core.export import formats
from core.export.options import ExportOptions
from core.export.run import dry_run, export
from core.workers.export import DATASET_FORMATS

transformers = pytest.importorskip("transformers")
ONCE = ExportOptions(balance="none")
STOP = "<|im_end|>"
DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    return make_tokenizer(tmp_path_factory.mktemp("model"), template=trl_template("qwen3_instruct_2507"))


@pytest.fixture(scope="module")
def log(tmp_path_factory) -> Path:
    made = Maker(11)
    for number in range(6):
        made.add_step(fails=False)
        if number == 2:
            made.guide("Please keep to the training split. 请用训练集。")
    made.say(VerdictGiven(step=2, value="mask", reason="bad"), RULE)
    made.say(VerdictGiven(step=5, value="mask", reason="bad"), RULE)
    made.summarise()
    made.add_step(fails=False)
    return write_log(tmp_path_factory.mktemp("log") / "server.db", a=made)


def lacking(name: str) -> list[str]:
    """One sentence for each thing that a format of data sets lacks."""
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    pages = [page for page in ("training.md", "training.zh.md") if f"`{name}`" not in (DOCS / page).read_text()]
    return [sentence for sentence, is_there in (
        (f"{name} is not written: give it a DatasetFormat in core/export/formats.py.", name in formats._WRITTEN),
        (f"{name} cannot be chosen: give it a line in core/workers/export.py.", name in DATASET_FORMATS),
        (f"{name} has no test: have its trainer's own rule read it, here.", f'"{name}"' in tests),
        (f"{name} has no row in docs: {', '.join(pages)}.", not pages)) if not is_there]


@pytest.mark.parametrize("name", sorted(DATASET_FORMATS.keys() | formats._WRITTEN.keys()))
def test_no_format_is_forgotten(name):
    assert lacking(name) == []


def test_a_new_format_is_told_what_it_lacks():
    assert [sentence.split(":")[0] for sentence in lacking("not-" + "yet")] == [
        "not-yet is not written", "not-yet cannot be chosen", "not-yet has no test", "not-yet has no row in docs"]


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "data.jsonl").read_text(encoding="utf-8").splitlines()]


def trained(tokenizer: Any, ids: list[int], mask: list[bool]) -> list[str]:
    """The texts of the runs of trained tokens."""
    runs: list[list[int]] = [[]]
    for token, on in zip(ids, mask, strict=True):
        if on:
            runs[-1].append(token)
        elif runs[-1]:
            runs.append([])
    return [tokenizer.decode(r) for r in runs if r]


@pytest.fixture(scope="module")
def ours(log, model, tmp_path_factory) -> list[list[str]]:
    """What our own renderer trains of the same samples: actions with their stop token, by sample."""
    folder = tmp_path_factory.mktemp("trl")
    export(log, ["a"], "trl", folder, str(model), ONCE)
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(model))
    return [trained(tokenizer, r["input_ids"], [label != -100 for label in r["labels"]]) for r in rows(folder)]


def bare(texts: list[str]) -> list[str]:
    """Without what trainers add: the cue in front, the stop token and the line feed behind."""
    told = "\n".join(texts).replace("<|im_start|>assistant\n", STOP).split(STOP)
    return [t.strip() for t in told if t.strip()]


def slime_mask(tokenizer: Any, messages: list[dict], tools: list[dict] | None) -> tuple[list[int], list[int]]:
    """slime's documented rule for Qwen, written anew: each turn is rendered for itself (results of tools in a row are
    one turn); a turn of the assistant carries loss behind the generation cue unless its step_loss_mask is 0."""
    def ids(told: list[dict], **more: Any) -> list[int]:
        return tokenizer.apply_chat_template(told, tokenize=True, return_dict=False, **more)

    mark = [{"role": "user", "content": "mark"}]
    head, cue = ids(mark), len(ids(mark, add_generation_prompt=True)) - len(ids(mark))
    all_ids: list[int] = []
    mask: list[int] = []
    at = 0
    while at < len(messages):
        end = at + 1
        while messages[at]["role"] == "tool" and end < len(messages) and messages[end]["role"] == "tool":
            end += 1
        turn = messages[at:end]
        part = ids(turn + mark, tools=tools)[: -len(head)] if at == 0 else ids(mark + turn)[len(head) :]
        on = turn[0]["role"] == "assistant" and turn[0].get("step_loss_mask", 1) == 1
        all_ids += part
        mask += [0] * cue + [1] * (len(part) - cue) if on else [0] * len(part)
        at = end
    return all_ids, mask


def test_slime_s_own_rule_trains_what_we_train(log, model, ours, tmp_path):
    export(log, ["a"], "slime", tmp_path / "x", str(model), ONCE)
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(model))
    told = rows(tmp_path / "x")
    assert len(told) == len(ours) == 3
    for row, want in zip(told, ours, strict=True):
        ids, mask = slime_mask(tokenizer, row["messages"], row["metadata"].get("tools"))
        assert bare(trained(tokenizer, ids, [m == 1 for m in mask])) == bare(want)
    assert [len(w) for w in ours] == [4, 1, 1]


def test_slime_gets_arguments_as_objects_so_that_no_template_writes_them_twice(log, tmp_path):
    export(log, ["a"], "slime", tmp_path / "x", "", ONCE)
    calls = [c for r in rows(tmp_path / "x") for m in r["messages"] for c in m.get("tool_calls", ())]
    assert calls and all(isinstance(c["function"]["arguments"], dict) for c in calls)


@pytest.mark.model
@pytest.mark.timeout(300)
def test_axolotl_s_own_loader_trains_what_we_train(log, model, ours, tmp_path):
    export(log, ["a"], "axolotl", tmp_path / "x", str(model), ONCE)
    made = load(AXOLOTL, "axolotl", model, tmp_path / "x" / "data.jsonl", tmp_path / "cache")
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(model))
    told = [bare(trained(tokenizer, m["ids"], [label != -100 for label in m["labels"]])) for m in made]
    assert told == [bare(w) for w in ours]


@pytest.mark.model
@pytest.mark.timeout(300)
def test_llama_factory_s_own_loader_trains_what_we_train(log, model, ours, tmp_path):
    """Its v1 form has weights; with its ShareGPT form and mask_history the last answer of a row trains."""
    names = {"llama-factory": "qwen3_nothink", "llama-factory-sharegpt": "chatml"}
    for name in names:
        report = export(log, ["a"], name, tmp_path / name, str(model), ONCE)
        assert dry_run(log, ["a"], name, str(model), ONCE).rows == report.rows
    files = [x for name, template in names.items() for x in (template, tmp_path / name / "data.jsonl")]
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(model))
    weighed, lasts = [[bare(trained(tokenizer, m["ids"], [label != -100 for label in m["labels"]])) for m in made]
                      for made in load(LLAMA_FACTORY, "llamafactory", model, *files)]
    assert weighed == [bare(w) for w in ours]
    wanted = [w for ws in ours for w in ws]
    assert len(lasts) == len(wanted)
    for texts, want in zip(lasts, wanted, strict=True):
        thought = bare([want])[0].split("<tool_call>")[0].strip()
        assert texts[-1].startswith(thought) and ("<action>" in texts[-1]) == ("<tool_call>" in want)


def test_the_sharegpt_form_alternates_and_says_how_it_is_read(log, tmp_path):
    report = export(log, ["a"], "llama-factory-sharegpt", tmp_path / "x", "", ONCE)
    for row in rows(tmp_path / "x"):
        sides = [t["from"] for t in row["conversations"]]
        assert sides == ["human", "gpt"] * (len(sides) // 2) and row["system"]
    info = json.loads((tmp_path / "x" / "dataset_info.json").read_text())
    assert info["tiphys"]["columns"]["messages"] == "conversations"
    assert str(tmp_path / "x" / "dataset_info.json") in report.files
    with pytest.raises(InvalidInput):
        export(log, ["a"], "llama-factory-sharegpt", tmp_path / "y", "", ExportOptions(calls="native"))
