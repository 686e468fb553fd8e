"""Scripted and replayed models: no memory between calls, branches by advice, and the plain-text format."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.agents import Log, Stage, turns

from core.domain.errors import InvalidInput
from core.domain.events import StepAdded
from core.domain.message import Message
from core.domain.task import ModelSettings
from core.llm.kinds import open_model
from core.llm.model import EndpointError, Request, ToolSpec
from core.llm.scripted import ScriptedModel, read_script
from core.llm.text_actions import describe_tools, parse_text_actions
from core.tasks.catalogue import Catalogue

SCRIPT = """
pace_s = 0.0
[[turn]]
thought = "m0"
calls = [{ tool = "think" }]
[[turn]]
thought = "m1, silent"
[[turn]]
thought = "m2"
calls = [{ tool = "think" }]
[[branch]]
name = "other"
when = "(?i)train split|训练集"
[[branch.turn]]
thought = "b0"
calls = [{ tool = "think" }]
[[branch.turn]]
thought = "b1"
calls = [{ tool = "finish" }]
[[branch]]
name = "thanks"
when = "."
back = true
[[branch.turn]]
thought = "t0"
calls = [{ tool = "think" }]
"""


def play(advice: dict[int, str], steps: int = 6) -> list[str]:
    """The thoughts of so many steps; advice stands before the step of its number. A new model answers each time."""
    messages = [Message(role="system", content="s"), Message(role="user", content="<task> train split </task>")]
    texts = []
    for step in range(1, steps + 1):
        if step in advice:
            messages.append(Message(role="user", content=f"<real_user>\n{advice[step]}\n</real_user>"))
        model = open_model(ModelSettings(kind="scripted"), script_text=SCRIPT)
        answer = asyncio.run(model.complete(Request(messages=tuple(messages), step=step)))
        texts.append(answer.message.content)
        messages.append(answer.message)
        messages.append(Message(role="tool", content="<real_user>use the train split</real_user>", tool_call_id="x"))
    return texts


def test_the_main_line_and_its_end() -> None:
    assert play({}) == ["m0", "m1, silent", "m2", "The script ends here.", "The script ends here.",
                        "The script ends here."]


def test_advice_turns_the_play_once_and_other_advice_comes_back() -> None:
    assert play({3: "please use the Train Split"}, 4) == ["m0", "m1, silent", "b0", "b1"]
    assert play({2: "用训练集"}, 3) == ["m0", "b0", "b1"]
    assert play({2: "well done"}, 4) == ["m0", "t0", "m1, silent", "m2"]
    assert play({2: "train split", 3: "train split!"}, 4) == ["m0", "b0", "t0", "b1"]


def test_it_says_what_it_is() -> None:
    model = ScriptedModel(read_script(SCRIPT), ModelSettings(name="gpt-impressive"))
    assert model.name == "scripted"
    answer = asyncio.run(model.complete(Request(messages=())))
    assert answer.model == "scripted"


def test_a_bad_script_is_refused() -> None:
    for text in ("[[turn]]\nthought = 3", "turn = ", "[[branch]]\nname='a'\nwhen='('\nturn=[]", "surprise = 1"):
        with pytest.raises(InvalidInput):
            read_script(text)


def test_scripts_of_the_catalogue_can_be_played() -> None:
    catalogue = Catalogue.of()
    scripted = [entry for entry in catalogue.entries() if entry.agent.model.kind == "scripted"]
    assert len(scripted) >= 2
    for entry in scripted:
        script = read_script(catalogue.file(entry.task, entry.agent.model.script).read_text(encoding="utf-8"))
        assert script.turn and script.turn[-1].calls[-1].tool == "finish"


def test_a_replay_answers_as_recorded(tmp_path: Path) -> None:
    stage = Stage(tmp_path, ScriptedModel(read_script(turns(4))))
    log = Log()
    log.guide("g", "hello")
    log.give(stage.inbox)
    asyncio.run(stage.agent.run())
    recorded = [f.completion for f in stage.facts(StepAdded)]
    stage.close()
    model = open_model(ModelSettings(kind="replay", name="scripted", script=str(tmp_path / "journal.db")))
    (tmp_path / "again").mkdir()
    again = Stage(tmp_path / "again", model)
    asyncio.run(again.agent.run())
    assert [f.completion for f in again.facts(StepAdded)] == recorded
    assert model.name == "replay of scripted"
    with pytest.raises(EndpointError):
        asyncio.run(model.complete(Request(messages=(), step=99)))
    again.close()


@pytest.mark.parametrize(("text", "thought", "calls"), [
    ('Hm.\n<action>\n{"tool": "ls", "arguments": {"path": "."}}\n</action>', "Hm.", [("ls", '{"path":"."}')]),
    ('<action>{"name": "a"}</action> and <action>{"tool": "b", "args": {}}</action>', "", [("a", "{}"), ("b", "{}")]),
    ('<action>```json\n{"tool": "ls", "path": "x\ny"}\n```', "", [("ls", '{"path":"x\\ny"}')]),
    ("<action>run_command(ls)</action>", "", [("run_command", "run_command(ls)")]),
    ("nothing", "nothing", []),
])
def test_plain_text_actions_are_read_with_patience(text: str, thought: str, calls: list[tuple[str, str]]) -> None:
    found, found_calls = parse_text_actions(text, 7)
    assert (found, [(c.name, c.arguments) for c in found_calls]) == (thought, calls)
    assert [c.id for c in found_calls] == [f"text-7-{n}" for n in range(len(found_calls))]


@given(st.text(alphabet='<action>/{}":tool[]`\n x', max_size=120))
def test_no_text_breaks_the_parser(text: str) -> None:
    _, calls = parse_text_actions(text, 1)
    assert all(isinstance(c.arguments, str) for c in calls)


def test_tools_are_described_with_their_arguments() -> None:
    spec = ToolSpec(name="ls", description="Lists\nfiles.", parameters={
        "type": "object", "properties": {"path": {"type": "string"}, "all": {"type": "boolean"}}, "required": ["path"]})
    assert describe_tools([spec]) == "- ls(path: string, all?: boolean): Lists files."
