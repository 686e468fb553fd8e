"""Files that a session changed are told from its calls where its format keeps no contents; nothing is made up."""

from __future__ import annotations

import json

from msgspec import structs
from support.imported import trajectory

from core.domain.deed import deed_of
from core.domain.events import StepAdded, decode_event
from core.domain.step import Action, ActionError, Observation, Output, StepBody
from core.formats import registry
from core.formats.call_edits import CallEdits
from core.formats.edits import FileEdit
from core.formats.imported import SessionBuilder, lookups
from core.formats.tools import table_of


def edits(format, *calls, failed=()):
    seen = tuple(Observation(call_id=str(n), error=ActionError(kind="failed", message="no") if n in failed else None)
                 for n in range(len(calls)))
    body = StepBody(number=1, observations=seen, actions=tuple(
        Action(call_id=str(n), tool=tool, arguments=given) for n, (tool, given) in enumerate(calls)))
    return list(CallEdits(table_of(format)).of(body))


def test_what_was_written_is_whole_and_so_is_what_was_replaced_in_it():
    wrote = ("write_file", {"file_path": "a.md", "content": "one\ntwo\n"})
    changed = ("replace", {"file_path": "a.md", "old_string": "two", "new_string": "2"})
    assert edits("gemini-cli", wrote, changed) == [
        FileEdit("a.md", None, "one\ntwo\n"), FileEdit("a.md", "one\ntwo\n", "one\n2\n")]
    assert edits("gemini-cli", changed) == [FileEdit("a.md", "two", "2", True)], "the rest of the file is not known"
    assert edits("gemini-cli", wrote, changed, failed=(0, 1)) == []


def test_patches_and_here_documents():
    patch = ("*** Begin Patch\n*** Add File: n.py\n+x\n+y\n*** Update File: o.py\n@@ def f\n a\n-b\n+c\n"
             "*** Delete File: gone.py\n*** End Patch")
    whole, part = FileEdit("n.py", None, "x\ny\n"), FileEdit("o.py", "a\nb\n", "a\nc\n", True)
    assert edits("codex-cli", ("apply_patch", {"input": patch})) == [whole, part]
    typed = f"apply_patch <<'E'\n{patch}\nE"
    assert edits("codex-cli", ("shell", {"command": ["bash", "-lc", typed]})) == [whole, part]
    here = "cat > a.txt <<E\nhi\nE\nls"
    assert edits("claude-code", ("Bash", {"command": here})) == [FileEdit("a.txt", None, "hi\n")]
    unified = "--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n int a;\n-int b;\n+int c;\n"
    assert edits("openai-chat", ("apply_patch", {"patch": unified})) == [
        FileEdit("x.c", "int a;\nint b;\n", "int a;\nint c;\n", True)]


def test_searches_and_pages():
    body = StepBody(number=1, actions=(
        Action(call_id="1", tool="google_web_search", arguments={"query": "masked loss"}),
        Action(call_id="2", tool="web_fetch", arguments={"url": "https://example.org/a"}),
        Action(call_id="3", tool="web_fetch", arguments={"prompt": "summarise it"})))
    assert list(lookups(body, table_of("gemini-cli"))) == [
        ("masked loss", "google_web_search"), ("https://example.org/a", "page")]


def test_an_imported_run_has_files_and_searches(tmp_path):
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"sessionId": "s", "projectHash": "p", "messages": [
        {"id": "1", "type": "user", "content": "Write it."},
        {"id": "2", "type": "gemini", "content": "", "toolCalls": [
            {"id": "a", "name": "write_file", "args": {"file_path": "/w/a.md", "content": "x\n"}, "status": "success"},
            {"id": "b", "name": "google_web_search", "args": {"query": "q"}, "status": "success"}]},
        {"id": "3", "type": "gemini", "content": "", "toolCalls": [
            {"id": "c", "name": "replace", "args": {"file_path": "/w/a.md", "old_string": "x", "new_string": "y"},
             "status": "success"}]}]}))
    [session] = registry.read(path)
    found = trajectory(session)
    assert [(f.path, f.step, f.is_partial) for f in found.files] == [("/w/a.md", 1, False), ("/w/a.md", 2, False)]
    assert session.blobs[found.files[1].after] == b"y\n" and found.files[1].before == found.files[0].after
    assert [(s.query, s.engine) for s in found.web_searches] == [("q", "google_web_search")]


def look(tool, given, text, working="/w"):
    """A step of an agent that sees files through windows."""
    return StepBody(number=1, actions=(Action(call_id="1", tool=tool, arguments=given),), observations=(
        Observation(call_id="1", output=Output(text=text), data={"working_dir": working}),))


def test_an_edit_by_line_numbers_is_told_by_the_windows_around_it():
    read = CallEdits(table_of("swe-agent"))
    made = look("create", {"command": "create a.py\n"}, "[File: /w/a.py (1 lines total)]\n1:\n")
    wrote = look("edit", {"command": "edit 1:1\none\ntwo\nend_of_edit\n"},
                 "[File: a.py (2 lines total)]\r\n1:one\r\n2:two")
    refused = look("edit", {"command": "edit 1:1\n(\nend_of_edit"}, "Your proposed edit has introduced new syntax "
                   "error(s).\n[File: /w/a.py (2 lines total)]\n1:one\n2:two")
    opened = look("open", {"command": "open b.py 41"},
                  "[File: /w/b.py (90 lines total)]\n(39 more lines above)\n40:x\n41:y\n")
    part = look("edit", {"command": "edit 41:41\nz\nend_of_edit\n"}, "[File: /w/b.py (90 lines total)]\n40:x\n41:z\n")
    unseen = look("edit", {"command": "edit 7:7\nq\nend_of_edit\n"}, "[File: /w/b.py (90 lines total)]\n7:q\n")
    assert [list(read.of(step)) for step in (made, wrote, refused, opened, part, unseen)] == [
        [FileEdit("/w/a.py", None, "\n")], [FileEdit("/w/a.py", "\n", "one\ntwo\n")], [], [],
        [FileEdit("/w/b.py", "y\n", "z\n", True)], [FileEdit("/w/b.py", "", "q\n", True)]]
    swapped = look("edit", {"search": "z", "replace": "zz"},
                   "Text replaced.\n[File: /w/b.py (90 lines total)]\n41:zz\n")
    added = look("insert", {"text": "new"}, "[File: /w/b.py (91 lines total)]\n91:new\n")
    assert [list(read.of(step)) for step in (swapped, added)] == [
        [FileEdit("/w/b.py", "z", "zz", True)], [FileEdit("/w/b.py", "", "new", True)]]


def test_an_edit_whose_window_differs_from_its_call_is_what_the_window_shows():
    read = CallEdits(table_of("openhands-output"))
    lines = [f"{n}|line {n}" for n in range(1, 100)]
    opened = look("open_file", {"path": "/w/a.py"}, "[File: /w/a.py (300 lines total)]\n" + "\n".join(lines))
    indented = [*lines[:29], "30|new", "31|line 30, moved to the left", *(f"{n}|line {n - 1}" for n in range(32, 100))]
    code = {"code": "edit_file_by_replace('/w/a.py', to_replace='x', new_content='y')"}
    edit = look("run_ipython", code,
                "[File: /w/a.py (301 lines total after edit)]\n" + "\n".join(indented))
    assert [list(read.of(step)) for step in (opened, edit)] == [
        [], [FileEdit("/w/a.py", "line 30\n", "new\nline 30, moved to the left\n", True)]]
    for words in ("[No exact match found in /w/a.py for\n```\nx\n```]", "Your edit was not applied (file not …"):
        assert list(CallEdits(table_of("openhands-output")).of(look("run_ipython", code, words))) == []


def test_what_is_removed_is_gone_as_far_as_its_content_was_known():
    wrote = ("Write", {"file_path": "/w/a.md", "content": "one\n"})
    for command, wanted in (("rm /w/a.md", ["/w/a.md"]), ("cd /w && rm  /w/a.md; ls", ["/w/a.md"]), ("rm /w/b.md", []),
                            ("rm -rf /w", []), ("echo rm /w/a.md", []), ("rm /w/*.md", [])):
        found = edits("claude-code", wrote, ("Bash", {"command": command}))
        assert found[1:] == [FileEdit(path, "one\n", None) for path in wanted], command
    read = CallEdits(table_of("swe-agent"))
    made = look("create", {"command": "create a.py\n"}, "[File: /w/a.py (1 lines total)]\n1:\n")
    gone = look("bash", {"command": "rm a.py\n"}, "")
    assert [list(read.of(step)) for step in (made, gone, gone)] == [
        [FileEdit("/w/a.py", None, "\n")], [FileEdit("/w/a.py", "\n", None)], []]
    patch = "*** Begin Patch\n*** Add File: n.py\n+x\n*** End Patch"
    deleted = "*** Begin Patch\n*** Delete File: n.py\n*** End Patch"
    assert edits("codex-cli", ("apply_patch", {"input": patch}), ("apply_patch", {"input": deleted})) == [
        FileEdit("n.py", None, "x\n"), FileEdit("n.py", "x\n", None)]


def test_a_replacement_by_sed_is_told_as_far_as_its_words_are_plain():
    for command, wanted in (
            ("cd a && sed -i 's/type = cell/type = cells/' input && ls",
             [FileEdit("input", "type = cell", "type = cells", True)]),
            ("sed -i -e 's/a/b/' x.py", []), ("sed -i 's/a.*b/c/g' x.py", []), ("sed -n 's/a/b/' x.py", []),
            ('sed -i "s|/old|/new|g" c.toml', [FileEdit("c.toml", "/old", "/new", True)])):
        assert edits("claude-code", ("Bash", {"command": command})) == wanted, command


def test_a_skill_that_was_typed_as_python_is_the_call_that_it_is():
    window = "[File: /w/a.css (2 lines total after edit)]\n[File: /w/a.css (2 lines total)]\n1|x\n2|y\n"
    code = "edit_file_by_replace( '/w/a.css', to_replace='''x''', new_content='''z\nx''')"
    step = StepBody(number=1, actions=(Action(call_id="1", tool="run_ipython", arguments={"code": code}),),
                    observations=(Observation(call_id="1", output=Output(text=window)),))
    table = table_of("openhands-output")
    assert list(CallEdits(table).of(step)) == [FileEdit("/w/a.css", "x", "z\nx", True)]
    deed = deed_of(step.actions[0], table)
    assert (deed.kind, deed.title, deed.lines.added) == ("edit", "/w/a.css", 1)
    for plain in ("open_file('a')\nprint(1)", "open_file(name)", "print(open_file('a'))", "open_file('" + "(" * 999):
        call = Action(call_id="1", tool="run_ipython", arguments={"code": plain})
        assert deed_of(call, table).kind == "shell", plain


def test_a_row_names_the_file_of_an_edit_by_line_numbers_and_counts_no_refused_one():
    builder = SessionBuilder("swe-agent", "run.traj", b"x")
    builder.create("t", "t")
    typed = {"command": "edit 1:2\none\nend_of_edit\n"}
    builder.step(look("edit", typed, "[File: /w/a.py (1 lines total)]\n1:one\n"), None, None)
    refused = "Your proposed edit has introduced new syntax error(s).\n[File: /w/a.py (1 lines total)]\n1:one"
    builder.step(structs.replace(look("edit", typed, refused), number=2), None, None)
    facts = [decode_event(body).fact for body in builder.build().bodies]
    made, void = (fact.head for fact in facts if isinstance(fact, StepAdded))
    assert (made.title, made.added, made.removed, made.is_error) == ("edit /w/a.py", 1, 2, False)
    assert (void.title, void.added, void.removed, void.error_kind) == ("edit /w/a.py", 0, 0, "refused")
