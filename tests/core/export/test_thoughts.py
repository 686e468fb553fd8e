"""Recorded reasoning in rows: trained, shown or left out, exactly where the model's own template puts it.

The oracle is transformers' `apply_chat_template` on plain dictionaries, and a search for texts that occur once.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from support.exported import write_log
from support.logs import RULE, Maker
from support.tiny_model import make_tokenizer, trl_template, trl_template_names
from support.trl_templates import control_tokens_of, stops_of

from core.domain.errors import InvalidInput
from core.domain.events import VerdictGiven
from core.domain.message import Message, ToolCall
from core.export.options import ExportOptions
from core.export.pieces import Masked
from core.export.render import Rendered, Renderer
from core.export.run import dry_run, export
from core.llm.model import ToolSpec

pytest.importorskip("trl")
TOOLS = (ToolSpec(name="run_command", description="Run it."),)
DAY = "2026-03-04"
NAMES = trl_template_names()
THINKING = [n for n in NAMES if n.startswith(("qwen3", "glm4moe", "gptoss", "deepseek", "nemotron", "lfm2_2_5",
                                              "gemma4_v5", "diffusion"))
            and not n.startswith(("qwen3_instruct", "qwen3_vl"))]
"""Families whose template shows, or whose prompt opens, a thought before an answer that ends with a stop token."""


@cache
def renderer_of(name: str, thoughts: str) -> Renderer:
    template, stops = trl_template(name), stops_of(name)
    special = tuple(t for t in control_tokens_of(template) if t not in stops)
    with TemporaryDirectory() as folder:
        return Renderer(make_tokenizer(Path(folder), template=template, stops=stops, special=special or ("<s>",)),
                        thoughts=thoughts)


def user(text: str) -> Message:
    return Message(role="user", content=text)


def said(text: str, thought: str = "", **arguments: str) -> Message:
    calls = (ToolCall(id="c00000001", name="run_command", arguments=json.dumps(arguments, ensure_ascii=False)),)
    return Message(role="assistant", content=text, tool_calls=calls if arguments else (), reasoning=thought)


def result(text: str) -> Message:
    return Message(role="tool", content=text, tool_call_id="c00000001", name="run_command")


DIALOGUE = [user("Qa one"), said("first 一", "why one\nand 为什么"), user("Qb two"), said("second 二", "why two"),
            user("Qc three"), said("third 三", "why three")]
CALLED = [user("Qa one"), said("", "why one\nand 为什么", command="ls 甲"), result("out 输出"),
          said("", "why two", command="rm -r"), result("gone"), said("", "why three", command="echo 三"), result("三")]
BESIDE = [msgspec.structs.replace(m, content=f"beside {i}") if m.tool_calls else m for i, m in enumerate(CALLED)]


def conversations(renderer: Renderer) -> list[tuple[list[Message], tuple[ToolSpec, ...]]]:
    told = [(DIALOGUE, ()), *([(CALLED, TOOLS), (BESIDE, TOOLS)] if renderer.renders_calls else [])]
    return [(m, t) for m, t in told if renderer.holds_thought(m[1])]


def plain(message: Message, renderer: Renderer) -> dict[str, Any]:
    """A message as servers give it to a template."""
    told: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        call = message.tool_calls[0]
        arguments = call.arguments if renderer._form.template.mode.text_arguments else json.loads(call.arguments)
        told["tool_calls"] = [{"id": call.id, "type": "function",
                               "function": {"name": call.name, "arguments": arguments}}]
    if message.role == "tool":
        told |= {"tool_call_id": message.tool_call_id, "name": message.name}
    if message.reasoning:
        told |= {"reasoning_content": message.reasoning, "thinking": message.reasoning}
    return told


def served(renderer: Renderer, messages: list[Message], tools: tuple[ToolSpec, ...]) -> str:
    """The prompt that transformers makes."""
    schemas = [{"type": "function", "function": {"name": t.name, "description": t.description,
                                                 "parameters": t.parameters}} for t in tools]
    now = renderer._tokenizer.apply_chat_template(
        [plain(m, renderer) for m in messages], tools=schemas or None, tokenize=False, add_generation_prompt=True,
        **renderer.mode)
    return on_day(now)


def on_day(text: str) -> str:
    from datetime import date

    return text.replace(date.today().isoformat(), DAY)


def runs(renderer: Renderer, row: Rendered) -> list[tuple[str, str]]:
    """What the mask trains, run by run, each with the text before it: from the ids alone."""
    found: list[tuple[list[int], list[int]]] = []
    for at, (token, mask) in enumerate(zip(row.ids, row.mask, strict=True)):
        if mask and (at == 0 or not row.mask[at - 1]):
            found.append((row.ids[:at], []))
        if mask:
            found[-1][1].append(token)
    return [(renderer.decode(before), renderer.decode(run)) for before, run in found]


def ends_in_stop(renderer: Renderer, text: str) -> bool:
    return any(text.endswith(s) and text.count(s) == 1 for s in renderer._tokens.stops)


def texts_of(message: Message) -> list[str]:
    return [t for t in (message.content, *(json.loads(c.arguments)["command"] for c in message.tool_calls)) if t]


@pytest.mark.parametrize("name", NAMES)
def test_a_template_has_a_place_for_thoughts_or_says_that_it_has_none(name):
    renderer = renderer_of(name, "keep")
    if name in THINKING:
        assert renderer.refusal is None and conversations(renderer)
    else:
        assert renderer.refusal is not None and renderer.refusal.code == "no_place_for_thoughts"


@pytest.mark.parametrize("asked", [(1, 3, 5), (3, 5), (1,)])
@pytest.mark.parametrize("name", THINKING)
def test_a_kept_thought_is_trained_with_its_action_behind_the_prompt_that_is_served(name, asked):
    renderer = renderer_of(name, "keep")
    for messages, tools in conversations(renderer):
        rows = renderer.render_all(messages, [i in asked for i in range(len(messages))], tools, DAY)
        assert not [r for row in rows for r in row.refused]
        found = [run for row in rows for run in runs(renderer, row)]
        assert len(found) == len(asked)
        for index, (before, run) in zip(asked, sorted(found, key=lambda f: len(f[0])), strict=True):
            own = messages[index]
            assert before == served(renderer, messages[:index], tools)
            assert own.reasoning in run and ends_in_stop(renderer, run)
            places = [run.rfind(t) for t in (own.reasoning, *texts_of(own))]
            assert places == sorted(places) and places[0] >= 0  # the thought, then the action, whole
            for other in (m for m in messages if m is not own):
                assert not any(t in run for t in [*texts_of(other), other.reasoning] if t and len(t) > 3)


@pytest.mark.parametrize("name", THINKING)
def test_a_thought_as_context_stands_before_its_action_and_carries_no_loss(name):
    renderer = renderer_of(name, "context")
    for messages, tools in conversations(renderer):
        rows = renderer.render_all(messages, [m.role == "assistant" for m in messages], tools, DAY)
        found = sorted((run for row in rows for run in runs(renderer, row)), key=lambda f: len(f[0]))
        assert len(found) == 3 and not [r for row in rows for r in row.refused]
        for index, (before, run) in zip((1, 3, 5), found, strict=True):
            own = messages[index]
            prompt = served(renderer, messages[:index], tools)
            assert before.startswith(prompt) and own.reasoning in before[len(prompt) :]
            assert "why" not in run and "<think>" not in run and "</think>" not in run
            assert all(t in run for t in texts_of(own)) and ends_in_stop(renderer, run)
            assert before[len(prompt) :].partition(own.reasoning)[2].strip()  # the mark that closes it is context too


@pytest.mark.parametrize("name", THINKING)
def test_the_tokens_of_thoughts_are_named_where_they_stand(name):
    renderer = renderer_of(name, "context")
    for messages, tools in conversations(renderer):
        for row in renderer.render_all(messages, [m.role == "assistant" for m in messages], tools, DAY):
            told = [renderer.decode(row.ids[a:b]) for a, b in row.thoughts]
            assert len(told) == row.text.count("why ") and all(t.count("why") == 1 for t in told)
            assert not any(row.mask[i] for a, b in row.thoughts for i in range(a, b))


@pytest.mark.parametrize("name", [n for n in THINKING if n.endswith("_training") and "deepseek" not in n])
def test_what_trl_marks_as_the_models_own_holds_the_thought(name):
    renderer = renderer_of(name, "keep")
    for messages, tools in conversations(renderer):
        row = renderer.render_all(messages[:2], [False, True], tools, DAY)[0]
        schemas = [{"type": "function", "function": {"name": t.name, "description": t.description,
                                                     "parameters": t.parameters}} for t in tools]
        told = renderer._tokenizer.apply_chat_template(
            [plain(m, renderer) for m in messages[:2]], tools=schemas or None, tokenize=True, return_dict=True,
            return_assistant_tokens_mask=True, **renderer.mode)
        marked = renderer.decode([i for i, m in zip(told["input_ids"], told["assistant_masks"], strict=True) if m])
        run = runs(renderer, row)[0][1]
        stop = next(s for s in renderer._tokens.stops if run.endswith(s))
        assert _ascii(run[run.index("why") :].removesuffix(stop)) in _ascii(marked)


def _ascii(text: str) -> str:
    """Without white space, and without characters of several tokens, of which TRL's mask may hold the first only."""
    return "".join(text.encode("ascii", "ignore").decode().split())


def test_an_answer_without_a_recorded_thought_trains_without_the_empty_one():
    for name, mode in (("qwen3", "keep"), ("qwen3_6", "keep"), ("glm4moe", "context")):
        renderer = renderer_of(name, mode)
        messages = [CALLED[0], msgspec.structs.replace(CALLED[1], reasoning=""), *CALLED[2:4]]
        row, = renderer.render_all(messages, [m.role == "assistant" for m in messages], TOOLS, DAY)
        first, second = runs(renderer, row)
        assert "think>" not in first[1] and "ls 甲" in first[1] and "why" not in first[1]
        assert ("why two" in second[1]) == (mode == "keep")


def test_of_a_step_that_is_masked_in_part_the_thought_is_context():
    renderer = renderer_of("qwen3", "keep")
    two = msgspec.structs.replace(CALLED[1], tool_calls=(
        CALLED[1].tool_calls[0], ToolCall(id="c00000002", name="run_command", arguments='{"command": "bad"}')))
    row, = renderer.render_all([CALLED[0], two], [False, True], TOOLS, DAY, {1: Masked((2,))})
    told = "".join(run for _, run in runs(renderer, row))
    assert "why" in row.text and "why" not in told and "ls 甲" in told and "bad" not in told


def test_a_thought_that_would_end_itself_is_refused_alone():
    renderer = renderer_of("qwen3", "keep")
    messages = [CALLED[0], msgspec.structs.replace(CALLED[1], reasoning="a </think> b"), *CALLED[2:4]]
    row, = renderer.render_all(messages, [m.role == "assistant" for m in messages], TOOLS, DAY)
    assert [r.message for r in row.refused] == [1] and "why two" in runs(renderer, row)[0][1]


def thoughtful(steps: int = 4) -> Maker:
    """A session of which every step but the second has recorded reasoning; the third is masked."""
    made = Maker(7)
    for number in range(steps):
        made.add_step(fails=False, reasoning="" if number == 1 else f"reason {number} 理由")
    made.say(VerdictGiven(step=3, value="mask", reason="bad"), RULE)
    return made


def folder_of(tmp_path: Path, name: str) -> str:
    template, stops = trl_template(name), stops_of(name)
    special = tuple(t for t in control_tokens_of(template) if t not in stops)
    return str(make_tokenizer(tmp_path / name, template=template, stops=stops, special=special))


@pytest.mark.parametrize("format", ["trl", "tokens"])
@pytest.mark.parametrize("thoughts", ["drop", "context", "keep"])
def test_an_export_does_as_it_is_told(tmp_path, thoughts, format):
    log, model = write_log(tmp_path / "server.db", a=thoughtful()), folder_of(tmp_path, "qwen3")
    options = ExportOptions(balance="none", unjudged="keep", thoughts=thoughts)
    report = export(log, ["a"], format, tmp_path / "out", model, options)
    rows = rows_in(tmp_path / "out")
    renderer = Renderer(model)
    whole = "".join(renderer.decode(r["input_ids"]) for r in rows)
    told = "".join(renderer.decode([i for i in r["labels"] if i != -100]) for r in rows)
    assert [f"reason {n}" in whole for n in range(4)] == [thoughts != "drop" and n != 1 for n in range(4)]
    assert [f"reason {n}" in told for n in range(4)] == [thoughts == "keep" and n in (0, 3) for n in range(4)]
    assert told.count("<|im_end|>") == 3 and all(("thoughts" in r) == (thoughts != "drop") for r in rows)
    assert (report.sessions[0].thoughts, report.sessions[0].homeless_thoughts) == (2 * (thoughts != "drop"), 0)
    assert json.loads((tmp_path / "out/manifest.json").read_text())["options"]["thoughts"] == thoughts


def rows_in(folder: Path) -> list[dict[str, Any]]:
    if (folder / "data.jsonl").is_file():
        return [json.loads(line) for line in (folder / "data.jsonl").read_text().splitlines()]
    import pyarrow.parquet

    return [r for f in sorted(folder.glob("data-*.parquet")) for r in pyarrow.parquet.read_table(f).to_pylist()]


def test_messages_hold_thoughts_where_they_are_kept(tmp_path):
    log = write_log(tmp_path / "server.db", a=thoughtful())
    for format, find in (("chat", lambda m: m.get("reasoning_content", "")),
                         ("slime", lambda m: m.get("reasoning_content", "")),
                         ("axolotl", lambda m: m.get("reasoning_content", "")),
                         ("llama-factory", lambda m: next((p["value"] for p in m["content"]
                                                           if p["type"] == "reasoning"), ""))):
        for thoughts in ("drop", "keep"):
            out = tmp_path / format / thoughts
            export(log, ["a"], format, out, "", ExportOptions(balance="none", unjudged="keep", thoughts=thoughts))
            own = [m for m in rows_in(out)[0]["messages"] if m["role"] == "assistant"]
            assert [find(m) for m in own] == [f"reason {n} 理由" if thoughts == "keep" and n != 1 else ""
                                              for n in range(4)], format
        with pytest.raises(InvalidInput, match="whole messages"):
            export(log, ["a"], format, tmp_path / "no", "", ExportOptions(unjudged="keep", thoughts="context"))
    with pytest.raises(InvalidInput, match="no place"):
        export(log, ["a"], "llama-factory-sharegpt", tmp_path / "no", "", ExportOptions(thoughts="keep"))


def test_a_template_without_a_place_refuses_and_one_with_few_says_what_it_left_out(tmp_path):
    log = write_log(tmp_path / "server.db", a=thoughtful())
    options = ExportOptions(balance="none", unjudged="keep", thoughts="keep")
    with pytest.raises(InvalidInput) as refused:
        dry_run(log, ["a"], "trl", folder_of(tmp_path, "qwen2_5"), options)
    assert refused.value.code == "no_place_for_thoughts"
    native = msgspec.structs.replace(options, calls="native")  # gpt-oss: a thought or a text beside a call, not both
    report = dry_run(log, ["a"], "trl", folder_of(tmp_path, "gptoss"), native)
    assert report.sessions[0].homeless_thoughts == 2
    assert "no place for the thoughts of 2" in report.warnings[-1].sentence
    silent = write_log(tmp_path / "other.db", a=_silent())
    report = dry_run(silent, ["a"], "trl", folder_of(tmp_path, "qwen3"), options)
    assert "no_thoughts" in {w.code for w in report.warnings}


def _silent() -> Maker:
    made = Maker(3)
    made.add_step(fails=False)
    return made
