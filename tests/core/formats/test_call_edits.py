"""Files that a session changed are told from its calls where its format keeps no contents; nothing is made up."""

from __future__ import annotations

import json

from support.imported import trajectory

from core.domain.step import Action, ActionError, Observation, StepBody
from core.formats import registry
from core.formats.call_edits import CallEdits
from core.formats.edits import FileEdit
from core.formats.lookups import lookups
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
