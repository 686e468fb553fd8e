"""Every chat template that TRL ships is split exactly, or refused with a reason; and TRL's own marks agree."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.exported import write_log
from support.logs import Maker
from support.tiny_model import make_tokenizer, trl_template, trl_template_names
from support.trl_templates import REFUSED, control_tokens_of, stops_of

from core.domain.errors import InvalidInput
from core.domain.message import Message, ToolCall
from core.export.options import ExportOptions
from core.export.render import Rendered, Renderer
from core.export.run import export
from core.llm.model import ToolSpec

pytest.importorskip("transformers")
TOOLS = (ToolSpec(name="run_command", description="Run it."),)
NAMES = trl_template_names()
MARKED = [n for n in NAMES if n.endswith("_training") or n.startswith("lfm2_2_5")]
DAY = "2026-03-04"


@cache
def renderer_of(name: str) -> Renderer:
    template, stops = trl_template(name), stops_of(name)
    special = tuple(t for t in control_tokens_of(template) if t not in stops)
    with TemporaryDirectory() as folder:
        return Renderer(make_tokenizer(Path(folder), template=template, stops=stops, special=special or ("<s>",)))


def user(text: str) -> Message:
    return Message(role="user", content=text)


def said(text: str, **arguments: object) -> Message:
    calls = (ToolCall(id="c00000001", name="run_command", arguments=json.dumps(arguments, ensure_ascii=False)),)
    return Message(role="assistant", content=text, tool_calls=calls if arguments else ())


def result(text: str) -> Message:
    return Message(role="tool", content=text, tool_call_id="c00000001", name="run_command")


DIALOGUE = [user("Qa one"), said("first 一"), user("Qb two"), said("second 二"), user("Qc three"), said("third 三")]
CALLED = [user("Qa one"), said("", command="ls 甲", n=3), result("out 输出"), said("", command="rm -r"), result("gone"),
          user("Qb <b>"), said("", command="echo 三"), result("三"), said("done 完成")]
THOUGHT = [said(f"thought {i}", **json.loads(m.tool_calls[0].arguments)) if m.tool_calls else m
           for i, m in enumerate(CALLED)]


def conversations(renderer: Renderer) -> list[tuple[list[Message], tuple[ToolSpec, ...]]]:
    told: list[tuple[list[Message], tuple[ToolSpec, ...]]] = [(DIALOGUE, ())]
    if renderer.renders_calls:
        told.append((CALLED, TOOLS))
    if renderer.renders_thoughts:
        told.append((THOUGHT, TOOLS))
    return told


def rows_of(renderer: Renderer, messages: list[Message], kept: list[bool], tools: tuple[ToolSpec, ...]
            ) -> list[Rendered]:
    return renderer.render_all(messages, kept, tools, DAY)


def check(renderer: Renderer, row: Rendered, messages: list[Message], tools: tuple[ToolSpec, ...]) -> set[int]:
    """What must hold of a row: its trained tokens are whole actions with their stop, behind the very tokens of the
    prompt that a server gives. Says which messages it trains."""
    kept = [s for s in row.spans if s.trained]
    assert renderer.decode(row.ids) == row.text
    trained = renderer.decode([i for i, m in zip(row.ids, row.mask, strict=True) if m])
    assert trained == "".join(row.text[s.start : s.end] for s in kept)
    for span in kept:
        prompt = renderer._form.template.text(messages[: span.message], tools, prompt=True, day=DAY)
        assert row.text[: span.start] == prompt
        before = [i for i, (a, _) in zip(row.ids, row.offsets, strict=True) if a < span.start]
        tail = renderer._tokens.encode(prompt)[0][-4:]
        assert before[-len(tail) :] == tail
        told, message = row.text[span.start : span.end], messages[span.message]
        assert told.endswith(renderer._tokens.stops[0]) or any(told.endswith(s) for s in renderer._tokens.stops)
        for other in (m for m in messages if m is not message and len(m.content) > 5):
            assert other.content not in told
        for text in [message.content, *(v for c in message.tool_calls for v in json.loads(c.arguments).values())]:
            assert str(text).strip() in told or json.dumps(text) in told
    return {s.message for s in kept}


def test_the_list_of_templates_is_whole():
    assert len(NAMES) >= 60 and {"qwen2_5", "qwen3", "qwen3_8", "glm4moe", "llama3_1", "gptoss", "phi3", "gemma3",
                                 "deepseekv3"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_template_of_trl_is_exact_or_refused_with_the_reason(name):
    renderer = renderer_of(name)
    if name in REFUSED:
        assert renderer.refusal is not None and renderer.refusal.code == REFUSED[name] and renderer.refusal.sentence
        with pytest.raises(InvalidInput):
            renderer.render_all(DIALOGUE, [m.role == "assistant" for m in DIALOGUE])
        return
    assert renderer.refusal is None
    for messages, tools in conversations(renderer):
        own = [i for i, m in enumerate(messages) if m.role == "assistant"]
        for dropped in (None, own[0], own[-1]):
            asked = [i in own and i != dropped for i in range(len(messages))]
            rows = rows_of(renderer, messages, asked, tools)
            trained = [check(renderer, row, messages, tools) for row in rows]
            refused = {r.message for row in rows for r in row.refused}
            assert sum(map(len, trained)) == len(set().union(*trained))  # nothing is trained twice
            assert set().union(*trained) | refused == {i for i, a in enumerate(asked) if a}
            assert not refused, [r for row in rows for r in row.refused]


@pytest.mark.parametrize("name", MARKED)
def test_trl_s_own_marks_say_the_same(name):
    """TRL marks what the model writes with {% generation %}. It may mark more in front (the cue that the server
    gives) and behind (the line feed after the stop token), and less where the next turn's first token is the stop."""
    renderer = renderer_of(name)
    if name in REFUSED:
        return
    for messages, tools in conversations(renderer):
        messages = [_plain(m) for m in messages]
        for row in rows_of(renderer, messages, [m.role == "assistant" for m in messages], tools):
            last = row.spans[-1].message
            marked = _marked(renderer, messages[: last + 1], tools)
            as_served = not renderer._form.template.text(messages[: last + 1], tools, day=DAY).startswith(row.text)
            for span in [s for s in row.spans if s.trained][-1 if as_served else 0 :]:
                told = row.text[span.start : span.end]
                stop = next(s for s in renderer._tokens.stops if told.endswith(s))
                body = told.removesuffix(stop)
                front, found, rest = next(m for m in marked if body in m).partition(body)
                assert found and row.text[: span.start].endswith(front) and not rest.replace(stop, "").strip()


def _plain(message: Message) -> Message:
    """Without characters of several bytes, of which TRL's mask holds the first only where they end an answer."""
    calls = tuple(msgspec.structs.replace(c, arguments=c.arguments.encode("ascii", "ignore").decode())
                  for c in message.tool_calls)
    return msgspec.structs.replace(message, content=message.content.encode("ascii", "ignore").decode().strip(),
                                   tool_calls=calls)


def _marked(renderer: Renderer, messages: list[Message], tools: tuple[ToolSpec, ...]) -> list[str]:
    """The texts of the runs of tokens that TRL's marks hold."""
    template = renderer._form.template
    told = renderer._tokenizer.apply_chat_template(
        template.dicts(messages), tools=[{"type": "function", "function": {
            "name": t.name, "description": t.description, "parameters": t.parameters}} for t in tools] or None,
        tokenize=True, return_dict=True, return_assistant_tokens_mask=True, **template.mode.variables)
    runs: list[list[int]] = [[]]
    for token, mark in zip(told["input_ids"], told["assistant_masks"], strict=True):
        if mark:
            runs[-1].append(token)
        elif runs[-1]:
            runs.append([])
    return [renderer.decode(r) for r in runs if r]


_CHARS = st.sampled_from("ab cd\n\t.,;{}\"'\\训练集测试🙂é01<> \n")
_TEXTS = st.text(_CHARS, min_size=1, max_size=24).filter(lambda t: t.strip())
_STEP = st.tuples(_TEXTS, _TEXTS, st.booleans(), st.one_of(st.none(), _TEXTS))
EXACT = [n for n in NAMES if n not in REFUSED and not n.endswith("_training")]


@settings(max_examples=150, deadline=None)
@given(name=st.sampled_from(EXACT), steps=st.lists(_STEP, min_size=1, max_size=5))
def test_random_sessions_train_each_kept_action_once_or_refuse_it(name, steps):
    renderer = renderer_of(name)
    messages, kept, tools = [user("Start 开始")], [False], ()
    for thought, command, keep, advice in steps:
        if renderer.renders_calls:
            tools = TOOLS
            beside = thought.strip() if renderer.renders_thoughts else ""
            messages += [said(beside, command=command), result("结果 " + command)]
        else:
            messages += [said(thought), user("结果 " + command)]
        kept += [keep, False]
        if advice is not None and renderer.renders_calls:
            messages, kept = [*messages, user(advice)], [*kept, False]
    if not any(kept):
        return
    try:
        rows = rows_of(renderer, messages, kept, tools)
    except InvalidInput:  # every action was refused; the next line of a report says why
        return
    trained = [s.message for row in rows for s in row.spans if s.trained]
    refused = {r.message for row in rows for r in row.refused}
    assert len(trained) == len(set(trained)) and not refused & set(trained)
    assert set(trained) | refused == {i for i, k in enumerate(kept) if k}
    for row in rows:
        assert renderer.decode(row.ids) == row.text
        for span in (s for s in row.spans if s.trained):
            assert row.text[: span.start] == renderer._form.template.text(messages[: span.message], tools, prompt=True,
                                                                         day=DAY)


def test_a_template_with_a_clock_writes_the_day_that_it_is_told():
    renderer = renderer_of("gptoss")
    texts = {rows_of(renderer, DIALOGUE, [m.role == "assistant" for m in DIALOGUE], ())[0].text for _ in range(2)}
    assert len(texts) == 1 and DAY in texts.pop()
    assert DAY not in renderer.apply(DIALOGUE)


def test_gpt_oss_thoughts_are_trained_and_shown_as_they_were_served():
    """Once there is a final answer, its template drops the thoughts before it; the model was given them."""
    renderer = renderer_of("gptoss")
    messages = [*THOUGHT[:5], said("done")]
    row, = rows_of(renderer, messages, [m.role == "assistant" for m in messages], TOOLS)
    assert [s.message for s in row.spans if s.trained] == [1, 3, 5]
    assert "thought 1" in row.text and row.text.endswith("<|channel|>final<|message|>done<|return|>")
    assert "thought 1" not in renderer.apply(messages, TOOLS)


def test_thinking_that_a_later_question_drops_cuts_the_sample_in_rows():
    renderer = renderer_of("qwen3_6")
    messages = [*CALLED[:5], user("Qb"), said("", command="id"), result("0")]
    rows = rows_of(renderer, messages, [m.role == "assistant" for m in messages], TOOLS)
    assert [[s.message for s in r.spans if s.trained] for r in rows] == [[1, 3], [6]]
    assert rows[0].text.count("<think>") == 2 and rows[1].text.count("<think>") == 1


_BY_TEXT = ("{% if tools %}{{ tools[0]['function']['name'] }}{% endif %}\n"
            "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}{% for c in m['tool_calls'] or [] %}"
            "<call>{{ c['function']['name'] + ' ' + c['function']['arguments'] }}</call>{% endfor %}<|im_end|>\n"
            "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")


def test_a_template_that_wants_arguments_as_text_gets_them_as_they_were_written(tmp_path):
    renderer = Renderer(make_tokenizer(tmp_path, template=_BY_TEXT))
    assert renderer.renders_calls and renderer.renders_thoughts
    row, = rows_of(renderer, THOUGHT, [m.role == "assistant" for m in THOUGHT], TOOLS)
    assert '<call>run_command {"command": "ls 甲", "n": 3}</call><|im_end|>' in row.text


def test_thoughts_that_a_template_would_drop_bring_the_sample_into_the_text_form(tmp_path):
    """Llama 3.1 shows a call without the text beside it."""
    log = write_log(tmp_path / "server.db", a=make_calls())
    folder = make_tokenizer(tmp_path / "m", template=trl_template("llama3_1"), stops=stops_of("llama3_1"),
                            special=("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>"))
    report = export(log, ["a"], "trl", tmp_path / "out", str(folder), ExportOptions(balance="none"))
    assert report.sessions[0].in_text and not report.sessions[0].refused


def test_a_sample_in_several_rows_is_one_sample_of_which_each_action_is_trained_once(tmp_path):
    log = write_log(tmp_path / "server.db", a=make_calls(guided=True))
    folder = make_tokenizer(tmp_path / "m", template=trl_template("qwen3_6"))
    report = export(log, ["a"], "trl", tmp_path / "out", str(folder), ExportOptions(balance="none"))
    assert (report.samples, report.rows, report.cut, report.sessions[0].refused) == (1, 2, 1, [])
    assert "cut" in {w.code for w in report.warnings}
    renderer = Renderer(folder)
    texts = [renderer.decode([i for i in json.loads(line)["labels"] if i != -100])
             for line in (tmp_path / "out" / "data.jsonl").read_text().splitlines()]
    assert sum(t.count("<|im_end|>") for t in texts) == 4 and all(t.count("<|im_end|>") == 2 for t in texts)


def make_calls(*, guided: bool = False) -> Maker:
    """Four steps with a thought and a call each; a person speaks before the third."""
    made = Maker(7)
    for number in range(4):
        if guided and number == 2:
            made.guide("Use the training split. 用训练集。")
        made.add_step(fails=False)
    return made
