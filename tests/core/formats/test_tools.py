"""What the tables of tools say: every format has one, every tool of a real file is known, rows say what was done."""

from pathlib import Path
from typing import get_args

import pytest
from support.real_data import real

from core.domain.deed import command_line, deed_of
from core.domain.errors import InvalidInput, ReportableError
from core.domain.events import StepAdded, decode_event
from core.domain.head import make_head
from core.domain.step import Action, Observation, Output, StepBody, decode_body
from core.domain.tools import FAMILIES, OWN, ToolKind
from core.formats import registry, tools
from core.formats.tools import common, family_of, is_open, table_of

HERE = Path(__file__).parent


def sessions():
    for folder in (HERE / "foreign", real(".")):
        for path in registry.files(Path(folder)):
            try:
                yield from registry.read(path)
            except ReportableError:
                continue


def test_every_format_has_a_table_and_every_table_is_of_a_format():
    names = {path.stem for path in (tools.resources() / "tools").glob("*.toml")}
    agents = {path.stem for path in (tools.resources() / "agents").glob("*.toml")}
    assert names - {tools.COMMON} - agents == ({known.name for known in registry.formats()} | {"cline"}) - agents
    assert agents <= names


def test_every_tool_of_a_real_file_is_known_and_every_row_says_what_was_done():
    unknown, bare = set(), []
    for session in sessions():
        for fact in (decode_event(body).fact for body in session.bodies):
            if not isinstance(fact, StepAdded):
                continue
            head, body = fact.head, decode_body(session.blobs[fact.body])
            unknown |= {(session.format, t) for t in head.tools
                        if not is_open(session.format) and table_of(session.format).find(t) is None}
            texts = [body.thought, *(o.output.text for o in body.observations), *(a.arguments for a in body.actions)]
            if any(texts) and head.title.partition(" (+")[0].strip() in ("", *head.tools[:1]):
                bare.append((session.source, head.number, head.title))
    # of these nothing is told but the tool's name, here and there with an argument that repeats it
    assert unknown == {("claude-code", "FailingTool")}
    assert {source for source, _, _ in bare} <= {"endless.json", "openhands_output.jsonl", "nebius.json"}


@pytest.mark.parametrize(("format", "tool", "given", "kind", "title", "lines"), [
    ("claude-code", "Bash", {"command": "ls", "description": "List"}, "shell", "ls", (0, 0)),
    ("codex-cli", "shell", {"command": ["bash", "-lc", "rg -n x"]}, "shell", "rg -n x", (0, 0)),
    ("codex-cli", "exec_command", {"cmd": "bash -lc 'make all'"}, "shell", "make all", (0, 0)),
    ("codex-cli", "apply_patch", {"input": "*** Begin Patch\n*** Update File: a/b.py\n@@\n-x\n+y\n+z\n*** End Patch"},
     "patch", "a/b.py", (2, 1)),
    ("codex-cli", "write_stdin", {"session_id": 3, "chars": ""}, "wait", "3", (0, 0)),
    ("codex-cli", "write_stdin", {"session_id": 3, "chars": "y\n"}, "input", "y · 3", (0, 0)),
    ("codex-cli", "update_plan", {"plan": [{"step": "Look", "status": "completed"},
                                           {"step": "Mend", "status": "in_progress"}]},
     "todo", "1/2 ✓ Look ▸ Mend", (0, 0)),
    ("gemini-cli", "write_file", {"file_path": "/w/a.md", "content": "a\nb\n"}, "write", "/w/a.md", (2, 0)),
    ("gemini-cli", "replace", {"file_path": "/w/a", "old_string": "x\ny\nz", "new_string": "x\nz"}, "edit", "/w/a",
     (0, 1)),
    ("claude-code", "Grep", {"pattern": "def x", "path": "src"}, "search", "def x · src", (0, 0)),
    ("claude-code", "BashOutput", {"bash_id": "bash_2"}, "wait", "bash_2", (0, 0)),
    ("claude-code", "Bash", {"command": "sleep 60 && echo done"}, "wait", "sleep 60 && echo done", (0, 0)),
    ("claude-code", "Bash", {"command": "sleep 60; make"}, "shell", "sleep 60; make", (0, 0)),
    ("claude-code", "TodoWrite", {"todos": [{"content": "a", "status": "completed"}] * 2}, "todo", "2/2 ✓ a", (0, 0)),
    ("claude-code", "Task", {"description": "Look", "prompt": "Look at it"}, "subagent", "Look", (0, 0)),
    ("claude-code", "mcp__files__read_file", {"path": "a.py"}, "read", "a.py", (0, 0)),
    ("openhands", "str_replace_editor", {"command": "view", "path": "/w/a.py"}, "read", "/w/a.py", (0, 0)),
    ("openhands", "str_replace_editor", {"command": "create", "path": "/w/a.py", "file_text": "x"}, "write", "/w/a.py",
     (1, 0)),
    ("swe-agent", "open", {"command": "open src/a.py 12"}, "read", "src/a.py", (0, 0)),
    ("swe-agent", "edit", {"command": "edit 2:4\nnew\nend_of_edit"}, "edit", "", (1, 3)),
    ("mini-swe-agent", "bash", {"command": "cat > a <<E\n1\n2\nE"}, "shell", "cat > a <<E\n1\n2\nE", (2, 0)),
    ("openai-chat", "get_weather", {"city": "Bern", "unit": "C"}, "tool", "city: Bern · unit: C", (0, 0)),
    ("", "run_command", {"command": "make"}, "shell", "make", (0, 0)),
])
def test_what_a_call_did(format, tool, given, kind, title, lines):
    deed = deed_of(Action(call_id="1", tool=tool, arguments=given), table_of(format))
    assert (deed.kind, deed.title, (deed.lines.added, deed.lines.removed)) == (kind, title, lines)


@pytest.mark.parametrize(("command", "paths"), [
    ("sed -i 's/a/b/' src/a.py && make", ("src/a.py",)), ("sed 's/a/b/' src/a.py", ()),
    ("cat > notes/a.md <<'EOF'\nx\nEOF\ncat <<E > b.md\ny\nE", ("notes/a.md", "b.md")),
    ("apply_patch <<'E'\n*** Begin Patch\n*** Add File: n.py\n+x\n*** End Patch\nE", ("n.py",))])
def test_files_that_a_shell_command_changes(command, paths):
    deed = deed_of(Action(call_id="1", tool="Bash", arguments={"command": command}), table_of("claude-code"))
    assert deed.paths == paths
    assert deed.is_change == bool(paths)


def test_a_row_without_arguments_says_what_it_thought_or_what_came_back():
    call = Action(call_id="1", tool="submit")
    seen = Observation(call_id="1", output=Output(text="scored\n9"))
    body = StepBody(number=1, actions=(call,), observations=(seen,))
    assert make_head(body).title == "submit scored 9"
    keys = '{"analysis": "Look first.", "commands": [{"keystrokes": "ls\\n"}]}'
    assert make_head(StepBody(number=1, thought=keys)).title == "ls"
    assert make_head(StepBody(number=1, thought="{ not json")).title == "{ not json"


def test_a_shell_line_is_read_as_it_was_typed():
    assert command_line(["/bin/bash", "-lc", "a 'b'"]) == "a 'b'"
    assert command_line(["ls", "my file"]) == "ls 'my file'"
    assert command_line("bash -lc ls") == "ls"
    assert command_line("bash run.sh") == "bash run.sh"


def test_our_own_actions_are_told_apart_by_the_same_words():
    waits = {name for name in ("sleep", "check_session_idle", "run_command") if OWN.tool(name).kind == "wait"}
    assert waits == {"sleep", "check_session_idle"}
    assert family_of("Bash") == "command" and family_of("calculate_area") == "other"


def test_every_kind_of_tool_is_of_a_family():
    assert set(FAMILIES) == set(get_args(ToolKind))


def test_a_table_with_a_kind_that_there_is_not_is_refused(tmp_path, monkeypatch):
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "mine.toml").write_text("[shel]\nbash = 'command'\n")
    monkeypatch.setenv("TIPHYS_RESOURCES", str(tmp_path))
    tools._alone.cache_clear()
    with pytest.raises(InvalidInput, match="has tools of the kind shel, which there is not"):
        tools._alone("mine")
    tools._alone.cache_clear()


def test_the_path_of_an_edit_is_known_however_a_program_spells_it() -> None:
    for name, tool, key in (("opencode", "write", "filePath"), ("opencode", "edit", "filePath"),
                            ("claude-code", "Write", "file_path"), ("qwen-code", "write_file", "file_path")):
        action = Action(call_id="1", tool=tool, arguments={key: "/w/a.py", "content": "x\n"})
        assert deed_of(action, table_of(name)).paths == ("/w/a.py",)


@pytest.mark.parametrize("format", ["../pictures/x", "/etc/hosts", "x" * 5000, "\0", "👩‍👧" * 60])
def test_the_format_that_a_session_names_is_never_made_a_path(format):
    assert table_of(format) is common()
