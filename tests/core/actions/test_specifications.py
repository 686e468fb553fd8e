"""The 42 actions: names and arguments as in the seed system, and one declaration behind schema and check."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.actions.registry import ACTIONS, OFFERED, parse_call, tool_specs
from core.domain.message import ToolCall
from core.domain.task import AgentSettings, Evaluator, ModelSettings, Task

TASK = Task(id="t", title="T", description="D")
SEED: dict[str, str] = {
    "create_session": "session_id", "list_sessions": "", "run_command": "command session_id wait_for_completion",
    "input_in_session": "session_id input_text",
    "get_session_output": "session_id start_lines end_lines since_timestamp",
    "get_session_recent_output": "session_id seconds", "get_session_status": "session_id",
    "check_session_idle": "session_id", "clear_session_buffer": "session_id", "close_session": "session_id",
    "close_all_sessions": "", "kill_session_processes": "session_id force",
    "open_file": "path line_number context_lines", "file_goto_line": "line_number", "file_scroll_down": "",
    "file_scroll_up": "", "create_file": "filename content", "edit_file": "path start end content",
    "search_dir": "search_term dir_path", "search_file": "search_term file_path", "find_file": "file_name dir_path",
    "list_files": "path show_hidden", "get_file_info": "",
    "parse_pdf": "file_path save_path", "parse_docx": "file_path save_path", "parse_latex": "file_path save_path",
    "parse_pptx": "file_path save_path", "parse_audio": "file_path save_path model",
    "parse_image": "file_path save_path task", "parse_video": "file_path save_path task frame_interval",
    "web_search": "query top_k", "web_browse": "url line_number", "web_page_goto_line": "line_number",
    "web_page_scroll_down": "", "web_page_scroll_up": "", "web_page_search": "keyword context_lines",
    "web_page_search_next": "context_lines search_index", "web_page_get_links": "page_size page_number",
    "think": "thought", "sleep": "sleep_time", "eval": "", "finish": "",
}
FAMILIES = {"command": 12, "file": 11, "parse": 7, "search": 1, "browse": 7, "control": 4}
EXAMPLES = {"session_id": "main", "input_text": "yes", "command": "true", "path": "a", "filename": "a", "content": "x",
            "search_term": "x", "file_name": "x", "file_path": "a", "query": "x", "url": "http://x", "keyword": "x",
            "line_number": 1}


def call(tool: str, arguments: str) -> ToolCall:
    return ToolCall(id="c", name=tool, arguments=arguments)


@pytest.fixture
def all_configured(monkeypatch: pytest.MonkeyPatch) -> tuple[Task, AgentSettings]:
    """A task and settings with which every action can work."""
    monkeypatch.setenv("TIPHYS_SEARCH_URL", "http://localhost:9")
    monkeypatch.setenv("TIPHYS_BROWSE", "on")
    scored = msgspec.structs.replace(TASK, evaluator=Evaluator(script="evaluate.py"))
    return scored, AgentSettings(media=ModelSettings(kind="openai", name="m"))


def test_what_cannot_work_in_a_session_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIPHYS_SEARCH_URL", raising=False)
    monkeypatch.delenv("TIPHYS_BROWSE", raising=False)
    missing = set(SEED) - {s.name for s in tool_specs(TASK, AgentSettings())}
    assert missing == {"web_search", "eval", "parse_audio", "parse_image", "parse_video",
                       *(name for name in SEED if name.startswith("web_"))}


def test_all_42_are_offered_under_the_names_and_arguments_of_the_seed(all_configured: tuple[Task, AgentSettings]
                                                                      ) -> None:
    specs = {s.name: s for s in tool_specs(*all_configured)}
    assert set(specs) == set(SEED) and len(specs) == 42
    for name, arguments in SEED.items():
        assert set(arguments.split()) <= set(specs[name].parameters["properties"]), name
    counts = {f: sum(d.kind.family == f for d in OFFERED) for f in FAMILIES}
    assert counts == FAMILIES


def test_every_action_is_documented_for_the_model_and_stays_short(all_configured: tuple[Task, AgentSettings]) -> None:
    specs = tool_specs(*all_configured)
    for spec in specs:
        assert spec.description.endswith((".", "!")), spec.name
        assert spec.parameters["type"] == "object"
        assert "$ref" not in json.dumps(spec.parameters)
        for name, one in spec.parameters["properties"].items():
            assert one["type"] in ("string", "integer", "number", "boolean", "array"), f"{spec.name}.{name}"
            assert one.get("description"), f"{spec.name}.{name}"
    assert len(msgspec.json.encode(specs)) < 24_000
    assert specs == tool_specs(*all_configured)


@pytest.mark.parametrize("name", sorted(SEED))
def test_only_what_has_no_default_is_required(name: str) -> None:
    schema = ACTIONS[name].schema()
    least = {key: EXAMPLES[key] for key in schema["required"]}
    assert parse_call(call(name, json.dumps(least))).malformed == ""
    for key in least:
        without = json.dumps({k: v for k, v in least.items() if k != key})
        assert key in parse_call(call(name, without)).malformed


@pytest.mark.parametrize("name", sorted(SEED))
def test_empties_of_older_prompts_are_understood_and_extras_refused_by_name(name: str) -> None:
    properties = ACTIONS[name].schema()["properties"]
    given = {key: EXAMPLES.get(key) for key in ACTIONS[name].schema()["required"]}
    empties = {key: None for key in properties if key not in given}
    words = {key: "None" for key in properties if key not in given}
    for more in (empties, words, {"http_port": None, "use_proxy": "None"}):
        action = parse_call(call(name, json.dumps({**given, **more})))
        assert action.malformed == "" and action.family == ACTIONS[name].kind.family
    for extra, value in (("http_port", 8123), ("use_proxy", True), ("use_proxy", False)):
        action = parse_call(call(name, json.dumps({**given, extra: value})))
        assert f"no argument '{extra}'" in action.malformed


def test_numbers_and_truths_written_as_text_are_understood() -> None:
    declared = ACTIONS["run_command"]
    read = declared.read({"command": "x", "wait_for_completion": "False", "timeout": "30"})
    assert (read.wait_for_completion, read.timeout) == (False, 30.0)  # type: ignore[attr-defined]
    assert parse_call(call("open_file", '{"path": "a", "line_number": "12"}')).malformed == ""


@pytest.mark.parametrize(("tool", "arguments", "reason"), [
    ("run_comand", "{}", "Did you mean run_command"),
    ("run_command", "{", "not valid JSON"),
    ("run_command", "[1]", "not a JSON object"),
    ("run_command", '{"command": 5}', "command"),
    ("open_file", '{"path": "a", "line_number": 0}', "line_number"),
    ("web_search", '{"query": "x", "top_k": 500}', "top_k"),
    ("run_command", "[" * 100_000, "not valid JSON"),
    ("run_command", '{"command": "\\ud800"}', "not valid JSON"),
    ("run_command", '{"command": "x", "n": 1e999}', "not valid JSON"),
    ("run_command", "x" * 5_000_000, "longer than"),
    ("", "{}", "no tool"),
    ("rm -rf /\n<b>", "{}", "no tool"),
])
def test_a_malformed_call_has_its_reason_and_a_plain_name(tool: str, arguments: str, reason: str) -> None:
    action = parse_call(call(tool, arguments))
    assert reason in action.malformed
    assert action.tool.replace("_", "").replace("-", "").replace(".", "").isalnum()
    msgspec.json.encode(action)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([*SEED, "null", "view_hint", "other"]) | st.text(),
       st.text() | st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
                                lambda i: st.lists(i) | st.dictionaries(st.text() | st.sampled_from(list(EXAMPLES)), i),
                                max_leaves=8).map(json.dumps))
def test_no_call_ever_raises_and_each_can_be_kept(tool: str, arguments: str) -> None:
    msgspec.json.encode(parse_call(call(tool, arguments)))
