"""What commands print and how they fail: documented, stable, and nothing else on stdout."""

import io
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from support.tiny_model import make_tokenizer

from core.cli import printed_json
from core.cli.display import display_problem
from core.cli.output import visible
from core.cli.root import COMMANDS
from core.workers import imports, judge

ROOT = Path(__file__).parents[3]
DOCS = (ROOT / "docs" / "cli.md").read_text()


def test_show_has_every_documented_field(tiphys, imported) -> None:
    shown = tiphys("show", imported, "--context", "--json").one
    assert shown["row"]["title"] == "with_query"
    assert shown["row"]["score"] is None, "unknown stays unknown"
    assert shown["row"]["tokens"] is None
    first = shown["steps"][0]
    assert first["number"] == 1
    assert first["thought"] == "Look first."
    assert first["actions"] == [{"call_id": "c1", "tool": "open", "family": "file", "malformed": None,
                                 "arguments": {"path": "sum.py"}}]
    assert first["observations"][0]["text"] == "1:a-b\r\n"
    assert first["usage"] == {"input_tokens": None, "output_tokens": None, "cached_tokens": None, "cost_usd": None}
    assert (first["status"], first["started_at"], first["ended_at"]) == ("finished", None, None)
    assert first["verdict"] == {"final": "undecided", "masked_actions": [], "opinions": []}
    assert [m["role"] for m in first["context"]] == ["system", "user"]


def test_one_step_without_context(tiphys, imported) -> None:
    shown = tiphys("show", imported, "--step", 2, "--json").one
    assert [s["number"] for s in shown["steps"]] == [2]
    assert "context" not in shown["steps"][0]
    assert len(tiphys("show", imported, "--json").one["steps"]) == 2


@pytest.mark.parametrize("shape", [*printed_json.PrintedObject.__subclasses__(), imports.ImportLine,
                                   imports.ImportProgress, imports.ImportFailure, judge.JudgeLine],
                         ids=lambda s: s.__name__)
def test_every_field_is_documented(shape) -> None:
    for field in msgspec.structs.fields(shape):
        assert f"{field.name}" in DOCS, f"{shape.__name__}.{field.name} is not in docs/cli.md"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented_and_loads(tiphys, command) -> None:
    assert f"{command}" in DOCS
    ran = tiphys(command, "--help")
    assert ran.status == 0
    assert ran.out.startswith(f"Usage: tiphys {command}")


def test_verdicts_are_given_and_taken_back(tiphys, imported) -> None:
    given = tiphys("verdict", imported, 2, "mask", "--reason", "repeats", "--json").one
    assert given == {"session": imported, "step": 2, "action": 0, "value": "mask", "final": "mask",
                     "masked_actions": []}
    (opinion,) = tiphys("show", imported, "--step", 2, "--json").one["steps"][0]["verdict"]["opinions"]
    assert (opinion["kind"], opinion["value"], opinion["reason"]) == ("person", "mask", "repeats")
    assert tiphys("verdict", imported, 2, "none", "--json").one["final"] == "undecided"


def test_guidance_of_a_session_that_waits_for_its_runner(tiphys, live, monkeypatch) -> None:
    session = live
    queued = tiphys("guide", session, "Use the training split.", "--json").one
    assert queued["state"] == "queued"
    monkeypatch.setattr("sys.stdin", io.StringIO("Two lines,\nfrom a file."))
    tiphys("guide", session, "-")
    (shown, piped) = tiphys("show", session, "--json").one["guidance"]
    assert piped["text"] == "Two lines,\nfrom a file."
    assert (shown["text"], shown["state"], shown["delivered_step"]) == ("Use the training split.", "queued", None)
    assert tiphys("edit", session, queued["guidance"], "No.", "--json").one["state"] == "asked", "the runner decides"
    assert tiphys("stop", session, "--json").one == {"session": session, "asked": "stop"}
    assert tiphys("sessions", "--json").one["state"] == "stopped"


def test_a_finished_session_takes_no_guidance(tiphys, imported) -> None:
    late = tiphys("guide", imported, "too late")
    assert (late.status, late.out) == (1, "")
    assert "[session_over]" in late.err


def test_search_finds_words(tiphys, imported) -> None:
    hits = tiphys("search", "sum.py", "--json").lines
    assert {(h["session"], h["step"]) for h in hits} >= {(imported, 1)}
    assert all(set(h) == {"session", "step", "where", "snippet"} for h in hits)
    assert [h["where"] for h in tiphys("search", "Four", "lines", "--json").lines]
    assert tiphys("search", "nowhere-to-be-found", "--json").out == ""


def test_rules_judge(tiphys, imported) -> None:
    ran = tiphys("judge", imported, "--rules-only", "--json")
    assert ran.status == 0
    assert set(ran.one) == {"session", "verdicts", "masked"}
    assert tiphys("judge", imported, "--rules-only", "--json").one["verdicts"] == 0, "said once"


def test_a_backup_is_a_log_in_its_own_right(tiphys, imported, tmp_path, monkeypatch) -> None:
    made = tiphys("backup", tmp_path / "copy.db", "--json").one
    assert made["bytes"] == (tmp_path / "copy.db").stat().st_size
    before = tiphys("sessions", "--json").out
    (tmp_path / "other").mkdir()
    (tmp_path / "copy.db").rename(tmp_path / "other" / "server.db")
    monkeypatch.setenv("TIPHYS_HOME", str(tmp_path / "other"))
    assert tiphys("sessions", "--json").out == before


def test_a_dry_run_writes_nothing_and_names_what_is_refused(tiphys, imported, tmp_path) -> None:
    model = make_tokenizer(tmp_path / "model")
    report = tiphys("export", imported, "--to", "chat", "--out", tmp_path / "out", "--model", model, "--dry-run",
                    "--json").one
    assert report["samples"] == 1
    assert report["sessions"][0]["session"] == imported
    assert not (tmp_path / "out").exists()


def test_accounts(tiphys) -> None:
    made = tiphys("account", "add", "li", "--scope", "view", "--json").one
    assert made["scopes"] == ["view"]
    assert made["token"] not in tiphys("account", "list", "--json").out
    assert tiphys("account", "add", "li").status == 1
    assert tiphys("account", "revoke", "li", "--json").one == {"name": "li", "revoked": True}
    assert tiphys("account", "revoke", "nobody").status == 2
    for change in (("rotate", "li"), ("expire", "li", "--never"), ("link", "li", "i s"),
                   ("invite", "li", "--again", "--address", "wss://lab.example")):
        refused = tiphys("account", *change)
        assert refused.status and "was revoked; `account invite li` lets" in refused.err, "it is there, in the list"


def test_until_when_an_account_is_good_is_a_sentence(tiphys) -> None:
    tiphys("account", "add", "li", "--scope", "view")
    assert "not shown again" in tiphys("account", "rotate", "li").err
    assert tiphys("account", "expire", "li", "--on", "2031-01-31").out == "li has access until 2031-01-31 00:00 UTC.\n"
    assert tiphys("account", "expire", "li", "--never").out == "li has access until it is revoked.\n"
    assert tiphys("account", "expire", "li", "--on", "2020-01-31").out == "li has no access any more.\n"


@pytest.mark.parametrize(("arguments", "status", "code"), [
    (("frobnicate",), 2, "usage"),
    (("show",), 2, "usage"),
    (("show", "nope"), 2, "no_session"),
    (("show", "nope", "--json"), 2, "no_session"),
    (("verdict", "nope", "1", "mask"), 2, "no_session"),
    (("verdict", "nope", "1", "perhaps"), 2, "usage"),
    (("guide", "nope", "  "), 2, "empty_guidance"),
    (("import", "/no/such/file"), 2, "not_a_file"),
    (("export", "nope", "--to", "archive", "--out", "/tmp/x.tiphys"), 2, "no_session"),
    (("open",), 1, "no_display"),
])
def test_failures_are_one_sentence_with_a_code(tiphys, monkeypatch, arguments, status, code) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    ran = tiphys(*arguments)
    assert (ran.status, ran.out) == (status, "")
    assert len(ran.err.splitlines()) == 1
    if "--json" in arguments:
        error = msgspec.json.decode(ran.err)["error"]
        assert (error["code"], error["params"]) == (code, {"session": "nope"})
    else:
        assert ran.err.startswith("tiphys: ")
        assert ran.err.endswith(f"[{code}]\n")


def test_all_state_lies_in_one_folder(tiphys, imported, tmp_path) -> None:
    assert [p.name for p in tmp_path.iterdir()] == ["home"]


def test_foreign_text_cannot_drive_the_terminal(tiphys, imported) -> None:
    shown = tiphys("show", imported, "--step", 2)
    assert "\x1b" not in shown.out
    assert "\\x1b[1mdiff" in shown.out
    assert visible("中文\u3000\t\n\x07\u202e") == "中文\u3000\t\n\\x07\\x202e"


def test_help_is_quick_because_it_imports_little() -> None:
    heavy = ["PySide6", "docker", "websockets", "openai", "sqlite_utils", "torch", "transformers", "asyncio"]
    code = ("import sys; from core.cli import main; main(['--help']);"
            f"sys.exit(str([m for m in {heavy} if m in sys.modules] or 0))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stderr.strip() == "0"


@pytest.mark.parametrize(("part", "own"), [("core.agents.agent_process", ""), ("core.agents.runner", ""),
                                           ("core.server.serve", ""), ("core.sandbox.docker", "docker")])
def test_a_server_and_a_session_start_without_what_few_of_them_use(part, own) -> None:
    heavy = {"PySide6", "openai", "pydantic", "httpx2", "pandas", "numpy", "torch", "transformers", "docker",
             "core.gateway.inlet"} - {own}
    code = f"import sys, {part}; sys.exit(str([m for m in {heavy} if m in sys.modules] or 0))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stderr.strip() == "0"


@pytest.mark.parametrize(("own", "command", "hidden"), [(True, "preview", True), (True, "export", True),
                                                        (False, "preview", False), (True, "train", False)])
def test_what_only_tokenizes_loads_no_torch_in_its_own_process(own, command, hidden, home) -> None:
    words = [command, "no-session", "--model", str(home)]
    code = (f"import sys; sys.argv[1:] = {words if own else []}; from core.cli import main; "
            f"main({None if own else words}); sys.exit(str(sys.modules.get('torch', '') is None))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False,
                          env={**os.environ, "TIPHYS_HOME": str(home)})
    assert done.stderr.splitlines()[-1] == str(hidden)


def test_a_bug_is_told_in_one_sentence_with_the_place_of_its_details(home) -> None:
    key = "sk-proj-" + "aB3dE5gH7jK9" * 3
    code = ("import sys, core.cli.root as r\n"
            f"def main(*_, **__): raise RuntimeError('no answer for {key}')\n"
            "r.root.main = main; sys.exit(r.main([]))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False,
                          env={**os.environ, "TIPHYS_HOME": str(home)})
    assert done.returncode == 1
    assert "RuntimeError" in done.stderr
    assert "[internal_error]" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    crash = home / "logs" / "crash.log"
    assert "no answer for" in crash.read_text() and key not in crash.read_text() + done.stderr
    assert stat.S_IMODE(crash.stat().st_mode) == 0o600


def test_a_reader_that_has_seen_enough_is_no_failure(imported, home) -> None:
    taken, given = os.pipe()
    os.close(taken)
    done = subprocess.run([sys.executable, "-m", "core.cli", "sessions"], stdout=given, stderr=subprocess.PIPE,
                          cwd=ROOT, check=False)
    os.close(given)
    assert (done.returncode, done.stderr) == (0, b"")


def test_commands_write_through_a_running_server(tiphys, imported, home) -> None:
    command = [sys.executable, "-m", "core.cli", "serve", "--private", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as server:
        try:
            ready = msgspec.json.decode(server.stdout.readline())
            assert ready["home"] == str(home)
            assert tiphys("verdict", imported, 1, "mask", "--json").one["final"] == "mask"
            assert tiphys("import", Path(__file__).parents[1] / "formats" / "files", "--json").status == 0
            refused = tiphys("serve", "--private")
            assert (refused.status, "[server_running]" in refused.err) == (1, True)
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0


@pytest.mark.parametrize(("environment", "problem"), [
    ({}, "Neither DISPLAY nor WAYLAND_DISPLAY is set."),
    ({"DISPLAY": ":97631"}, "DISPLAY is :97631, and no X server listens there."),
    ({"DISPLAY": "far.example:10.0"}, ""),
    ({"WAYLAND_DISPLAY": "nothing-here"}, "Neither DISPLAY nor WAYLAND_DISPLAY is set."),
])
def test_display(monkeypatch, environment, problem) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert display_problem() == problem


def test_doctor_looks_at_everything(tiphys) -> None:
    ran = tiphys("doctor", "--json")
    assert ran.status == 0
    assert [c["name"] for c in ran.lines] == [
        "Python", "home", "SQLite", "server", "Docker engine", "sandbox image", "display", "Chinese font", "Qt",
        "training extra", "model endpoint", "GPU"]
    for check in ran.lines:
        assert check["state"]
        assert check["works"] or (check["mend"] and check["needed"])


def test_a_command_lies_in_the_module_of_its_name_or_of_the_noun_that_several_act_on() -> None:
    nouns = {"guide": "guidance", "edit": "guidance", "withdraw": "guidance", "import": "import_paths",
             "pause": "control", "resume": "control", "stop": "control", "interrupt": "control",
             "continue": "control", "counterfactual": "compare",
             "take-over": "takeover", "act": "takeover", "hand-back": "takeover",
             "snapshot": "snapshots", "restore-session": "snapshots"}
    modules = {command: place.partition(":")[0] for command, (place, _) in COMMANDS.items()}
    assert modules == {command: nouns.get(command, command.replace("-", "_")) for command in COMMANDS}


def test_one_action_of_a_step_is_judged_by_its_number(tiphys, tmp_path) -> None:
    calls = [{"id": f"c{n}", "type": "function", "function": {"name": "run_command", "arguments": '{"command": "ls"}'}}
             for n in (1, 2)]
    talk = tmp_path / "talk.json"
    talk.write_text(json.dumps({"messages": [
        {"role": "user", "content": "go"}, {"role": "assistant", "content": "look", "tool_calls": calls},
        *({"role": "tool", "tool_call_id": c["id"], "content": "out"} for c in calls)]}))
    session = tiphys("import", talk, "--json").one["session"]
    given = tiphys("verdict", session, "1.2", "mask", "--json").one
    assert given == {"session": session, "step": 1, "action": 2, "value": "mask", "final": "undecided",
                     "masked_actions": [2]}
    (shown,) = tiphys("show", session, "--step", 1, "--json").one["steps"]
    assert shown["verdict"]["masked_actions"] == [2] and shown["verdict"]["opinions"][0]["action"] == 2
    assert tiphys("decisions", session).out.split()[:4] == ["1.1", "undecided", "1.2", "mask"]
    assert "partly (masked: action 2)" in tiphys("verdict", session, "1.1", "keep").out
    assert tiphys("verdict", session, "1.3", "mask").status == 2
    for wrong in ("1.", "1.0", ".2", "1.2.3", "-1", "x", "1.99999999999"):
        assert tiphys("verdict", session, "--", wrong, "mask").status == 2, wrong
    assert tiphys("verdict", session, 1, "keep", "--json").one["final"] == "keep"
    assert tiphys("show", session, "--step", 1, "--json").one["steps"][0]["verdict"]["masked_actions"] == []


def test_a_reason_beyond_every_bound_is_refused_in_one_sentence(tiphys, imported) -> None:
    """Without a server, too: the operation is held to what a server would take."""
    ran = tiphys("verdict", imported, 1, "mask", "--reason", "x" * 110_000)
    assert ran.status == 2 and "[bad_op]" in ran.err and "`$.reason`" in ran.err


def test_an_export_of_repeated_rows_says_that_equal_rows_are_meant(tiphys, imported, tmp_path) -> None:
    model = make_tokenizer(tmp_path / "model")

    def rows(*options: object) -> tuple[list[str], str, str]:
        out = tmp_path / str(len(list(tmp_path.iterdir())))
        ran = tiphys("export", imported, "--to", "chat", "--unjudged", "keep", *options, "--out", out, "--model", model)
        assert ran.status == 0, ran.err
        return (out / "data.jsonl").read_text().splitlines(), ran.out, (out / "README.md").read_text()

    seven, told, card = rows()
    assert (len(seven), len(set(seven))) == (7, 1), "one conversation, on purpose seven times (APOLLO)"
    sentence = ("Equal rows are meant: the row of each ReAct sample stands 7 times, that of each summary sample 10 "
                "times (balance repeat; none writes each once).")
    assert sentence in told and sentence in card
    one, told, card = rows("--balance", "none")
    assert len(one) == 1 and "Equal rows" not in told + card
