"""Of a step with several actions only the kept ones carry loss, to the token and in every family of templates."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.exported import write_log
from support.logs import PERSON, RULE, Maker
from support.tally import tally
from support.tiny_model import CHATML, make_tokenizer, trl_template, trl_template_names
from support.trl_templates import REFUSED, control_tokens_of, stops_of

from core.domain.errors import Conflict, InvalidInput
from core.domain.events import VerdictGiven
from core.domain.message import Message, ToolCall
from core.domain.step import Action, Observation, Output, StepBody
from core.export.options import ExportOptions
from core.export.pieces import Masked
from core.export.preview import preview
from core.export.render import Rendered, Renderer
from core.export.rows import SampleRow, SessionRows
from core.export.run import export
from core.export.source import LogSource
from core.llm.model import ToolSpec

pytest.importorskip("transformers")

TOOLS = ("run_command", "open_file", "look_up")
SPECS = tuple(ToolSpec(name=n, description="Use it.") for n in TOOLS)
KEYS = ("command", "path", "query")
VALUES = ("lsAlpha 甲", "fBeta 乙", "qGamma 丙")
THOUGHT = "Zuerst 想想"
DAY = "2026-03-04"
SINGLE = {"gptoss", "llama3_1", "llama3_2", "muse_glimmer"}
"""Templates of models that make one call at a time: they render no more, or refuse."""

NAMES = [n for n in trl_template_names() if n not in REFUSED and not n.endswith("_training")]


@cache
def renderer_of(name: str) -> Renderer:
    template, stops = trl_template(name), stops_of(name)
    special = tuple(t for t in control_tokens_of(template) if t not in stops)
    with TemporaryDirectory() as folder:
        return Renderer(make_tokenizer(Path(folder), template=template, stops=stops, special=special or ("<s>",)))


def session(values: Sequence[str] = VALUES, thought: str = THOUGHT) -> list[Message]:
    calls = tuple(ToolCall(id=f"c{i:08}", name=TOOLS[i], arguments=json.dumps({KEYS[i]: v}, ensure_ascii=False))
                  for i, v in enumerate(values))
    results = [Message(role="tool", content=f"out {i}", tool_call_id=c.id, name=c.name) for i, c in enumerate(calls)]
    return [Message(role="user", content="Qa"), Message(role="assistant", content=thought, tool_calls=calls), *results,
            Message(role="assistant", content="done 完")]


def render(renderer: Renderer, messages: list[Message], masked: Sequence[int]) -> list[Rendered]:
    return renderer.render_all(messages, [m.role == "assistant" for m in messages], SPECS, DAY,
                               {1: Masked(tuple(masked))})


def trained_text(renderer: Renderer, row: Rendered) -> str:
    """By the tokens alone: what a trainer puts loss on."""
    return renderer.decode([i for i, m in zip(row.ids, row.mask, strict=True) if m])


def wrong(renderer: Renderer, row: Rendered, masked: Sequence[int], values: Sequence[str], thought: str) -> list[str]:
    """What an onlooker who knows only the texts finds amiss: each value stands once in the whole text."""
    text, found = trained_text(renderer, row), []
    for place, (tool, value) in enumerate(zip(TOOLS, values, strict=False), 1):
        shown = [value, json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(value)[1:-1]]
        if place in masked and (tool in text or any(v in text for v in shown)):
            found.append(f"masked call {place} is trained: {text!r}")
        if place not in masked and not (tool in text and any(v in text for v in shown)):
            found.append(f"kept call {place} is not trained whole: {text!r}")
    if masked and thought and thought in text:
        found.append(f"the thought is trained: {text!r}")
    for stop in renderer._tokens.stops:
        first = row.text[row.spans[0].end - len(stop) : row.spans[0].end]
        if first == stop and text.partition("done 完")[0].rstrip().endswith(stop) != (len(values) not in masked):
            found.append(f"the stop token does not go with the last call: {text!r}")
    return found


def subsets(count: int) -> Iterator[tuple[int, ...]]:
    """Every way to mask some calls, not all."""
    for size in range(count):
        yield from combinations(range(1, count + 1), size)


def several_calls(name: str) -> bool:
    return renderer_of(name).renders_calls and name not in SINGLE


def test_every_template_that_shows_several_calls_trains_exactly_those_that_are_kept():
    harm: list[str] = []
    tried = 0
    for name in filter(several_calls, NAMES):
        renderer = renderer_of(name)
        thought = THOUGHT if renderer.renders_thoughts else ""
        for masked in subsets(3):
            for row in render(renderer, session(thought=thought), masked):
                tried += 1
                harm += [f"{name} {masked}: {w}" for w in wrong(renderer, row, masked, VALUES, thought)]
                harm += [f"{name} {masked}: {r.sentence}" for r in row.refused]
    assert tried > 15 * 7
    tally("steps with some actions masked, rendered by every family of templates", tried, harm)


@pytest.mark.parametrize("name", ["gptoss", "muse_glimmer"])
def test_a_model_of_one_call_at_a_time_trains_nothing_of_such_a_step_and_says_so(name):
    renderer = renderer_of(name)
    rows = render(renderer, session(thought=THOUGHT if renderer.renders_thoughts else ""), (2,))
    assert all(VALUES[0] not in trained_text(renderer, row) for row in rows)
    assert {r.message for row in rows for r in row.refused} == {1}


@pytest.mark.parametrize("name", ["llama3_1", "llama3_2"])
def test_a_template_that_refuses_several_calls_refuses_the_sample(name):
    with pytest.raises(InvalidInput, match="single tool-calls"):
        render(renderer_of(name), session(thought=""), (2,))


_CALL = '\n<tool_call>\n{{"name": "{}", "arguments": {{"{}": "{}"}}}}\n</tool_call>'
_XML = "\n<tool_call>\n<function={}>\n<parameter={}>\n{}\n</parameter>\n</function>\n</tool_call>"
EXACT = {  # written by hand from the families' own descriptions of their formats; {} are name, key and value
    "qwen2_5": (_CALL, _CALL, "", "<|im_end|>"), "qwen3": (_CALL, _CALL, "", "<|im_end|>"),
    "qwen3_8": ("\n" + _XML, _XML, "", "<|im_end|>"),
    "glm4moe": ("\n<tool_call>{}\n<arg_key>{}</arg_key>\n<arg_value>{}</arg_value>\n</tool_call>",) * 2
    + ("", "<|observation|>"),
    "lfm2_v2": ("<|tool_call_start|>[{}({}='{}')", ", {}({}='{}')", "]<|tool_call_end|>", "<|im_end|>"),
    "gemma4_v2": ('<|tool_call>call:{}{{{}:<|"|>{}<|"|>}}<tool_call|>',) * 2 + ("", ""),
}


@pytest.mark.parametrize("name", sorted(EXACT))
def test_the_trained_text_is_that_of_the_kept_calls_to_the_character(name):
    renderer = renderer_of(name)
    first, more, close, stop = EXACT[name]
    thought = THOUGHT if renderer.renders_thoughts else ""
    for masked in [m for m in subsets(3) if m]:
        row = render(renderer, session(thought=thought), masked)[0]
        forms = [(first if i == 0 else more).format(TOOLS[i], KEYS[i], VALUES[i]) for i in range(3)]
        want = "".join(f for i, f in enumerate(forms, 1) if i not in masked) + (close + stop if 3 not in masked else "")
        assert trained_text(renderer, row).startswith(want)
        assert trained_text(renderer, row).removeprefix(want).lstrip("\n").startswith(("done 完", "<turn|>"))


_TEXTS = st.text(st.sampled_from("ab cd\n\t.,;{}[]()\"'\\训练🙂é01<>/=_"), min_size=1, max_size=16)


@settings(max_examples=150, deadline=None)
@given(name=st.sampled_from([n for n in NAMES if n not in SINGLE]), data=st.data(),
       values=st.lists(_TEXTS, min_size=2, max_size=3))
def test_whatever_the_arguments_are_no_token_of_a_masked_call_is_trained(name, data, values):
    """Values that look like the template's own marks may be refused, never trained."""
    renderer = renderer_of(name)
    if not renderer.renders_calls:
        return
    values = [f"⟦{place}⟧{v}⟦{place}⟧" for place, v in enumerate(values)]
    masked = data.draw(st.sampled_from([m for m in subsets(len(values)) if m]))
    try:
        rows = render(renderer, session(values, THOUGHT if renderer.renders_thoughts else ""), masked)
    except InvalidInput:
        return
    for row in rows:
        text = trained_text(renderer, row)
        assert renderer.decode(row.ids) == row.text
        for place in masked:
            assert f"⟦{place - 1}⟧" not in text and "\\u27e6" + str(place - 1) not in text
        if not row.refused and any(s.message == 1 and s.trained for s in row.spans):
            kept = [p for p in range(1, len(values) + 1) if p not in masked]
            assert all(TOOLS[p - 1] in text for p in kept)


# ---- from the log to the file ---------------------------------------------------------------------------

class Calling(Maker):
    """Steps of three calls, as a runner writes them."""

    def _body(self, tool: str, fails: bool) -> StepBody:
        actions = tuple(Action(call_id=f"s{self.step}c{i}", tool=t, arguments={KEYS[i]: f"{VALUES[i]} of {self.step}"})
                        for i, t in enumerate(TOOLS))
        seen = tuple(Observation(call_id=a.call_id, output=Output(text=f"out {self.step}.{i}"))
                     for i, a in enumerate(actions))
        return StepBody(number=self.step, thought=f"Gedanke {self.step}.", actions=actions, observations=seen)

    def _calls(self, body: StepBody) -> tuple[ToolCall, ...]:
        return tuple(ToolCall(id=a.call_id, name=a.tool, arguments=json.dumps(a.arguments, ensure_ascii=False))
                     for a in body.actions)

    def _side_effects(self, body: StepBody) -> None:
        """None: these say nothing of terminals and files."""


def judged(*verdicts: tuple[int, int, str]) -> Maker:
    made = Calling(3)
    for _ in range(3):
        made.add_step(fails=False)
    for step, action, value in verdicts:
        made.say(VerdictGiven(step=step, action=action, value=value), RULE)  # type: ignore[arg-type]
    return made


def rows_of(tmp_path: Path, made: Maker, renderer: Renderer | None, *, whole: bool = False, **options: object
            ) -> tuple[list[SampleRow], SessionRows]:
    log = write_log(tmp_path / "log.db", judged=False, s=made)
    with closing(LogSource(log)) as source:
        chosen = ExportOptions(**{"unjudged": "keep", **options})  # type: ignore[arg-type]
        rows = SessionRows(source, "s", renderer, chosen, whole=whole)
        return list(rows), rows


def holds(text: str, step: int, action: int) -> bool:
    return f"{VALUES[action - 1]} of {step}" in text


@pytest.mark.parametrize("calls", ["native", "text"])
def test_the_kept_actions_of_a_step_are_trained_and_the_masked_one_is_not(tmp_path, calls):
    renderer = renderer_of("qwen3")
    rows, read = rows_of(tmp_path, judged((2, 2, "mask")), renderer, calls=calls)
    row, = rows
    assert row.rendered is not None
    text = trained_text(renderer, row.rendered)
    assert [(s, a) for s in (1, 2, 3) for a in (1, 2, 3) if not holds(text, s, a)] == [(2, 2)]
    assert "Gedanke 1." in text and "Gedanke 2." not in text and "Gedanke 3." in text
    assert all(holds(row.rendered.text, 2, a) for a in (1, 2, 3)), "what is masked stays in the context"
    assert (read.outcomes["partly"], read.outcomes["undecided"], read.refused) == (1, 2, [])


def test_a_step_is_masked_whole_by_its_own_verdict_or_by_one_on_each_action(tmp_path):
    made = judged((1, 0, "mask"), *((2, a, "mask") for a in (1, 2, 3)))
    rows, read = rows_of(tmp_path, made, renderer_of("qwen3"))
    assert rows[0].rendered is not None
    text = trained_text(renderer_of("qwen3"), rows[0].rendered)
    assert [s for s in (1, 2, 3) if any(holds(text, s, a) for a in (1, 2, 3))] == [3]
    assert (read.outcomes["mask"], read.outcomes["undecided"]) == (2, 1)


def test_a_person_s_keep_of_one_action_stands_against_a_mask_of_the_step(tmp_path):
    made = judged((2, 0, "mask"))
    made.say(VerdictGiven(step=2, action=3, value="keep"), PERSON)
    renderer = renderer_of("qwen3")
    text = trained_text(renderer, rows_of(tmp_path, made, renderer)[0][0].rendered)  # type: ignore[arg-type]
    assert [a for a in (1, 2, 3) if holds(text, 2, a)] == [3]


def test_authors_that_shall_not_count_do_not_count_for_actions_either(tmp_path):
    renderer = renderer_of("qwen3")
    rows, _ = rows_of(tmp_path, judged((2, 2, "mask")), renderer, ignored=("rule",))
    assert holds(trained_text(renderer, rows[0].rendered), 2, 2)  # type: ignore[arg-type]


def test_a_format_of_whole_messages_trains_none_of_the_step_and_names_it(tmp_path):
    log = write_log(tmp_path / "log.db", judged=False, s=judged((2, 2, "mask")))
    report = export(log, ["s"], "chat", tmp_path / "out", "", ExportOptions(balance="none", unjudged="keep"))
    line = json.loads((tmp_path / "out" / "data.jsonl").read_text(encoding="utf-8").splitlines()[0])
    own = [m for m in line["messages"] if m["role"] == "assistant"]
    assert [m["train"] for m in own] == [True, False, True]
    assert [(r.code, r.step) for r in report.sessions[0].refused] == [("masked_in_part", 2)]


def test_calls_that_the_model_wrote_as_text_are_told_apart(tmp_path):
    renderer = Renderer(make_tokenizer(tmp_path, template=CHATML))
    block = '<action>\n{{"tool": "{}", "arguments": {{}}}}\n</action>'
    answer = "I think.\n\n" + "\n".join(block.format(t) for t in TOOLS)
    messages = [Message(role="user", content="Go"), Message(role="assistant", content=answer)]
    places = tuple(answer.index(f'<action>\n{{"tool": "{t}"') for t in TOOLS)
    row, = renderer.render_all(messages, [False, True], (), "", {1: Masked((2,), places)})
    want = block.format(TOOLS[0]) + "\n" + block.format(TOOLS[2]) + "<|im_end|>"
    assert trained_text(renderer, row).strip() == want


def test_a_preview_shows_which_call_is_masked(tmp_path):
    rows, _ = rows_of(tmp_path, judged((2, 2, "mask")), renderer_of("qwen3"))
    page = preview(rows, 0, 0, 100_000)
    of_two = [p for p in page.parts if p.step == 2]
    assert [p.state for p in of_two] == ["masked", "kept", "masked", "kept"]
    for part in page.parts:
        shown = "".join(t for t, _ in page.tokens[part.start : part.end])
        if part.step == 2 and part.state == "masked" and "Gedanke" not in shown:
            assert holds(shown, 2, 2) and not holds(shown, 2, 1) and not holds(shown, 2, 3)


def test_a_message_that_holds_other_calls_than_the_step_has_actions_is_left_out_with_the_reason(tmp_path):
    class Odd(Calling):
        def _calls(self, body: StepBody) -> tuple[ToolCall, ...]:
            return super()._calls(body)[:2]

    made = Odd(3)
    made.add_step(fails=False)
    made.add_step(fails=False)
    made.say(VerdictGiven(step=2, action=1, value="mask"), RULE)
    rows, read = rows_of(tmp_path, made, renderer_of("qwen3"))
    text = trained_text(renderer_of("qwen3"), rows[0].rendered)  # type: ignore[arg-type]
    assert holds(text, 1, 1) and not any(holds(text, 2, a) for a in (1, 2, 3))
    assert [(r.code, r.step) for r in read.refused] == [("masked_in_part", 2)]


def test_an_action_that_nobody_judged_beside_a_kept_one_is_trained_only_by_a_word(tmp_path):
    made = judged((1, 0, "mask"), (3, 0, "mask"), (2, 1, "mask"))
    made.say(VerdictGiven(step=2, action=2, value="keep"), PERSON)
    renderer = renderer_of("qwen3")
    for unjudged, trained in (("keep", [2, 3]), ("mask", [2])):
        folder = tmp_path / unjudged
        folder.mkdir()
        rows, read = rows_of(folder, made, renderer, unjudged=unjudged)
        text = trained_text(renderer, rows[0].rendered)  # type: ignore[arg-type]
        assert [a for a in (1, 2, 3) if holds(text, 2, a)] == trained
        assert (read.outcomes["partly"], read.outcomes["mask"]) == (1, 2)
    with pytest.raises(Conflict, match="Nobody judged 1 steps"):
        export(tmp_path / "keep" / "log.db", ["s"], "chat", tmp_path / "out", "")
    made.say(VerdictGiven(step=2, action=3, value="keep"), PERSON)
    (tmp_path / "last").mkdir()
    _, read = rows_of(tmp_path / "last", made, renderer)
    assert read.outcomes["partly"] == 1
