"""One exchange as each library records it in a trace: the same messages, whichever wrote them; and which run of a tool
answers which call."""

from __future__ import annotations

import json

import pytest
from support.imported import bodies

from core.formats import registry
from core.formats.model_messages import read_answer, read_prompt

ROME, OSLO = {"city": "Rome"}, {"city": "Oslo"}
CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": "I ask.", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "look", "arguments": json.dumps(ROME)}},
            {"id": "b", "type": "function", "function": {"name": "look", "arguments": json.dumps(OSLO)}}]},
        {"role": "tool", "tool_call_id": "a", "content": "sunny"},
        {"role": "tool", "tool_call_id": "b", "content": "wet"}]
PARTS = [{"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
         {"role": "user", "parts": [{"type": "text", "content": "Weather?"}]},
         {"role": "assistant", "parts": [{"type": "text", "content": "I ask."},
                                         {"type": "tool_call", "id": "a", "name": "look", "arguments": ROME},
                                         {"type": "tool_call", "id": "b", "name": "look", "arguments": OSLO}]},
         {"role": "tool", "parts": [{"type": "tool_call_response", "id": "a", "response": "sunny"},
                                    {"type": "tool_call_response", "id": "b", "response": "wet"}]}]
BLOCKS = {"system": "Be brief.", "messages": [
    {"role": "user", "content": "Weather?"},
    {"role": "assistant", "content": [{"type": "text", "text": "I ask."},
                                      {"type": "tool_use", "id": "a", "name": "look", "input": ROME},
                                      {"type": "tool_use", "id": "b", "name": "look", "input": OSLO}]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "sunny"}]},
        {"type": "tool_result", "tool_use_id": "b", "content": "wet"}]}]}
ITEMS = {"instructions": "Be brief.", "input": [
    {"role": "user", "content": [{"type": "input_text", "text": "Weather?"}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I ask."}]},
    {"type": "function_call", "call_id": "a", "name": "look", "arguments": json.dumps(ROME)},
    {"type": "function_call", "call_id": "b", "name": "look", "arguments": json.dumps(OSLO)},
    {"type": "function_call_output", "call_id": "a", "output": "sunny"},
    {"type": "function_call_output", "call_id": "b", "output": "wet"}]}
SDK = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
       {"role": "assistant", "content": [{"type": "text", "text": "I ask."},
                                         {"type": "tool-call", "toolCallId": "a", "toolName": "look", "input": ROME},
                                         {"type": "tool-call", "toolCallId": "b", "toolName": "look", "args": OSLO}]},
       {"role": "tool", "content": [
           {"type": "tool-result", "toolCallId": "a", "output": {"type": "text", "value": "sunny"}},
           {"type": "tool-result", "toolCallId": "b", "result": "wet"}]}]
BEDROCK = [{"role": "system", "content": [{"text": "Be brief."}]}, {"role": "user", "content": [{"text": "Weather?"}]},
           {"role": "assistant", "content": [{"text": "I ask."},
                                             {"toolUse": {"toolUseId": "a", "name": "look", "input": ROME}},
                                             {"toolUse": {"toolUseId": "b", "name": "look", "input": OSLO}}]},
           {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": "sunny"}]}},
                                        {"toolResult": {"toolUseId": "b", "content": [{"text": "wet"}]}}]}]
CHAIN = {"messages": [[
    {"lc": 1, "type": "constructor", "id": ["x", "SystemMessage"], "kwargs": {"content": "Be brief."}},
    {"lc": 1, "type": "constructor", "id": ["x", "HumanMessage"], "kwargs": {"content": "Weather?", "type": "human"}},
    {"lc": 1, "type": "constructor", "id": ["x", "AIMessage"], "kwargs": {"content": "I ask.", "tool_calls": [
        {"name": "look", "args": ROME, "id": "a", "type": "tool_call"},
        {"name": "look", "args": OSLO, "id": "b", "type": "tool_call"}]}},
    {"lc": 1, "type": "constructor", "id": ["x", "ToolMessage"], "kwargs": {"content": "sunny", "tool_call_id": "a"}},
    {"lc": 1, "type": "constructor", "id": ["x", "ToolMessage"], "kwargs": {"content": "wet", "tool_call_id": "b"}}]]}

WRITTEN = {"chat": CHAT, "parts of OpenTelemetry": PARTS, "blocks": BLOCKS, "items": ITEMS, "AI SDK": SDK,
           "Bedrock": BEDROCK, "LangChain": CHAIN, "text": json.dumps(CHAT)}

GEMINI = {"config": {"system_instruction": "Be brief."}, "contents": [
    {"role": "user", "parts": [{"text": "Weather?"}]},
    {"role": "model", "parts": [{"text": "Think.", "thought": True},
                                {"function_call": {"name": "look", "args": ROME}}]},
    {"role": "user", "parts": [{"function_response": {"name": "look", "response": {"sky": "blue"}}}]}]}

ANSWERS = {
    "chat": {"choices": [{"index": 0, "message": {**CHAT[2], "reasoning_content": "Hm."}}]},
    "parts of OpenTelemetry": [{"role": "assistant", "parts": [
        {"type": "thinking", "content": "Hm."}, *PARTS[2]["parts"]], "finish_reason": "tool_call"}],
    "blocks": {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."},
                                                *BLOCKS["messages"][1]["content"]]},
    "items": {"object": "response", "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}, *ITEMS["input"][1:4]]},
    "AI SDK": {"text": "I ask.", "reasoning": "Hm.", "toolCalls": json.dumps([
        {"toolCallId": "a", "toolName": "look", "input": json.dumps(ROME)},
        {"toolCallId": "b", "toolName": "look", "args": OSLO}])},
    "Bedrock": [{"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": "Hm."}}},
                                                  *BEDROCK[2]["content"]]}],
    "LangChain": {"generations": [[{"text": "I ask.", "type": "ChatGeneration", "message": {
        **CHAIN["messages"][0][2], "kwargs": {**CHAIN["messages"][0][2]["kwargs"],
                                              "additional_kwargs": {"reasoning_content": "Hm."}}}}]]},
    "whole talk": {"messages": [*CHAT[:2], {**CHAT[2], "reasoning": "Hm."}]}}


def told(message):
    """What counts of a message."""
    calls = [(c.id, c.name, json.loads(c.arguments)) for c in message.tool_calls]
    return message.role, message.content, calls, message.tool_call_id


@pytest.mark.parametrize("given", WRITTEN.values(), ids=WRITTEN)
def test_a_prompt_is_the_same_messages_in_every_shape(given) -> None:
    assert [told(m) for m in read_prompt(given)] == [
        ("system", "Be brief.", [], ""), ("user", "Weather?", [], ""),
        ("assistant", "I ask.", [("a", "look", ROME), ("b", "look", OSLO)], ""),
        ("tool", "sunny", [], "a"), ("tool", "wet", [], "b")]


@pytest.mark.parametrize("made", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_the_same_message_in_every_shape(made) -> None:
    answer = read_answer(made)
    assert told(answer) == ("assistant", "I ask.", [("a", "look", ROME), ("b", "look", OSLO)], "")
    assert answer.reasoning == "Hm."


def test_gemini_names_tools_and_not_calls() -> None:
    system, asked, answer, result = read_prompt(GEMINI)
    assert (system.content, asked.content, answer.content, answer.reasoning) == ("Be brief.", "Weather?", "", "Think.")
    assert [(c.id, c.name, c.arguments) for c in answer.tool_calls] == [("1", "look", '{"city": "Rome"}')]
    assert (result.role, result.name, result.content) == ("tool", "look", '{"sky": "blue"}')
    made = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Blue."}]}}]}
    assert read_answer(made).content == "Blue."


def test_what_has_no_known_shape_is_shown_as_it_is() -> None:
    assert [m.content for m in read_prompt({"question": "Why?"})] == ['{"question": "Why?"}']
    assert read_answer({"verdict": 3}).content == '{"verdict": 3}'
    assert read_answer(None).content == read_answer([]).content == ""
    assert read_answer([{"type": "image_url", "image_url": {}}]).content == "[image_url]"


def observation(at, kind, **held):
    moment = f"2026-05-06T07:08:{at:02}.000Z"
    return {"id": str(at), "traceId": "t", "type": kind, "name": "look", "startTime": moment, "endTime": moment, **held}


def steps_of(tmp_path, *observations):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"id": "t", "name": "Run", "observations": observations}))
    (session,) = registry.read(path)
    return [(b.thought, [(a.tool, a.arguments) for a in b.actions], [o.output.text for o in b.observations])
            for b in bodies(session)]


def asks(*calls):
    return {"role": "assistant", "content": "", "tool_calls": [
        {"id": id, "function": {"name": "look", "arguments": json.dumps(given)}} for id, given in calls]}


def test_runs_without_ids_answer_the_calls_with_their_arguments(tmp_path) -> None:
    """Both calls of one answer were recorded as requests of their own, and the tools ran afterwards."""
    found = steps_of(
        tmp_path, observation(1, "GENERATION", input="Weather?", output=asks(("a", ROME))),
        observation(2, "GENERATION", input="Weather?", output=asks(("b", OSLO))),
        observation(3, "TOOL", input={"input": OSLO}, output={"content": [{"type": "text", "text": "wet"}]}),
        observation(4, "TOOL", input={"input": ROME}, output="sunny"))
    assert found == [("", [("look", ROME)], ["sunny"]), ("", [("look", OSLO)], ["wet"])]


def test_an_id_that_comes_again_is_answered_each_time_by_what_came_next(tmp_path) -> None:
    """Some libraries name a call by its tool."""
    first, second = ({"metadata": {"tool_call_id": "look"}, "output": text} for text in ("sunny", "wet"))
    found = steps_of(
        tmp_path, observation(1, "GENERATION", input="Weather?", output=asks(("look", ROME))),
        observation(2, "TOOL", **first),
        observation(3, "GENERATION", input="Weather?", output=asks(("look", OSLO))),
        observation(4, "TOOL", **second))
    assert [outs for _, _, outs in found] == [["sunny"], ["wet"]]


def test_a_request_inside_another_is_one_step(tmp_path) -> None:
    """A library's own record and that of the provider's client around which it stands; who has the calls is kept."""
    asked = observation(1, "GENERATION", input="Weather?", output=asks(("a", ROME)))

    def inside(output):
        return observation(2, "GENERATION", parentObservationId="1", input="Weather?", output=output)

    assert steps_of(tmp_path, asked, inside("None")) == [("", [("look", ROME)], [])]
    assert steps_of(tmp_path, asked, inside({**asks(("a", ROME)), "content": "I"})) == [("I", [("look", ROME)], [])]
