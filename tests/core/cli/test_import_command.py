"""`tiphys import`: whole sessions or none, once however often, and one line for each."""

import gc
import json
import shutil
from pathlib import Path

import msgspec
import pytest
from support.real_data import real

from core.cli.log_access import reading
from core.cli.store_imported import Read, store_all
from core.domain.errors import ReportableError
from core.domain.events import GuidanceQueued, decode_event, encode_event, make_event
from core.domain.verdict import Author
from core.formats import registry
from core.server import held_database
from core.server.append import append_entries
from core.store import blobs, log
from core.store.backup import damage
from core.store.home import Home
from core.store.writer import Writer

FILES = Path(__file__).parents[1] / "formats" / "files"


def test_one_line_per_session(tiphys) -> None:
    ran = tiphys("import", FILES, "--json")
    assert ran.status == 0
    assert ran.err == ""
    assert [(x["format"], x["steps"], x["errors"], x["result"]) for x in ran.lines] == [
        ("openai-chat", 2, 0, "imported"), ("openai-chat", 1, 0, "imported"), ("swe-agent", 2, 0, "imported")]
    assert [x["session"] for x in tiphys("sessions", "--json").lines] == sorted(x["session"] for x in ran.lines)


def test_an_import_is_stored_a_few_events_at_a_time_and_is_whole(tiphys, home, monkeypatch) -> None:
    sizes: list[int] = []

    def append(conn, given, **by):
        sizes.append(len(given.bodies))
        return append_entries(conn, given, **by)

    monkeypatch.setattr(held_database, "_AT_ONCE", 3)
    monkeypatch.setattr(held_database, "append_entries", append)
    file = FILES.parent / "foreign" / "codex.jsonl"
    assert tiphys("import", file).status == 0
    [session] = registry.read(file)
    assert sum(sizes) >= len(session.bodies) and max(sizes) == 3 and len(sizes) > 2
    with reading(Home(home)) as conn:
        held = [decode_event(one.body).id for one in log.read_all(conn, session.session)]
    assert held[: len(session.bodies)] == [decode_event(body).id for body in session.bodies]


def test_memory_is_hardly_ever_looked_through_while_a_file_is_read(tiphys, tmp_path) -> None:
    lines = (FILES / "chat.jsonl").read_text().splitlines()
    path = tmp_path / "many.jsonl"
    path.write_text("".join(line.replace("{", f'{{"n": {n}, ', 1) + "\n" for n in range(300) for line in lines))
    assert tiphys("import", FILES).status == 0, "all that an import needs is loaded"
    looks: list[int] = []

    def look(phase: str, info: dict[str, int]) -> None:
        looks.append(info["generation"])

    before = gc.get_threshold()
    gc.callbacks.append(look)
    try:
        assert tiphys("import", path).status == 0
    finally:
        gc.callbacks.remove(look)
    assert len(looks) < 40 and gc.get_threshold() == before


def test_a_second_import_changes_nothing_and_verdicts_stay(tiphys, imported) -> None:
    assert tiphys("verdict", imported, 1, "mask", "--reason", "blind").status == 0
    before = tiphys("show", imported, "--json").one
    again = tiphys("import", FILES, "--json")
    assert {x["result"] for x in again.lines} == {"present"}
    assert tiphys("show", imported, "--json").one == before
    assert before["steps"][0]["verdict"]["final"] == "mask"


def test_real_folders(tiphys) -> None:
    ran = tiphys("import", real("swe-agent"), real("openai-chat"), "--json")
    assert ran.status == 0
    assert len(ran.lines) == 6 + 19
    assert sum(x["steps"] for x in ran.lines) == 16 + 11 + 13 + 5 + 5 + 5 + 222
    assert tiphys("import", real("openai-chat"), "--json").lines[0]["result"] == "present"


def test_other_list_folder_folders_are_passed_over_and_named_ones_refused(tiphys, tmp_path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "notes.txt").write_text("hello")
    shutil.copy(FILES / "with_query.traj", folder / "run")
    assert [x["source"] for x in tiphys("import", folder, "--json").lines] == ["run"]
    ran = tiphys("import", folder / "notes.txt", folder / "run", "--json")
    assert ran.status == 2
    assert "[unknown_format]" in ran.err
    assert len(ran.lines) == 1, "what can be read is read"


def test_a_folder_of_rubbish_is_told_by_suffix(tiphys, tmp_path) -> None:
    folder = tmp_path / "rubbish"
    folder.mkdir()
    shutil.copy(FILES / "chat.jsonl", folder)
    for name in ("a.md", "b.md", "c.PNG", "LICENSE"):
        (folder / name).write_text("no session")
    (folder / "empty.jsonl").write_bytes(b"")
    ran = tiphys("import", folder)
    assert ran.status == 0
    assert ran.err.splitlines()[-1] == ("tiphys: 1 file read, 5 in no known format "
                                        "(2 .md, 1 without a suffix, 1 .jsonl, 1 .png).")
    ran = tiphys("import", folder, "--json", "--progress")
    assert [line["passed"] for line in ran.lines if "passed" in line] == [
        {"read": 1, "unknown": {".md": 2, "": 1, ".jsonl": 1, ".png": 1}}]
    named = tiphys("import", folder / "empty.jsonl")
    assert (named.status, named.err.strip()) == (2, f"tiphys: {folder / 'empty.jsonl'} is empty. [empty_file]")


def test_odd_names_and_links_that_nobody_can_follow_hold_up_nothing(tiphys, tmp_path) -> None:
    """A name with bytes that are no UTF-8 (PEP 383), and a link whose target the system refuses to look for."""
    row = '{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"x"}]}'
    with open(bytes(tmp_path) + b"/na\xff.jsonl", "w") as file:  # noqa: PTH123 - no Path is made of bytes
        file.write(row)
    (tmp_path / "endless.jsonl").symlink_to("x" * 300)
    ran = tiphys("import", tmp_path, "--json")
    assert ran.status == 0 and len(ran.lines) == 1, ran.err
    assert ran.lines[0]["source"] == "na\ufffd.jsonl"
    named = tiphys("import", tmp_path / "endless.jsonl")
    assert named.status and "[file_unreadable]" in named.err


def test_an_archive_travels_to_another_home(tiphys, imported, tmp_path, monkeypatch) -> None:
    tiphys("verdict", imported, 2, "mask")
    before = tiphys("show", imported, "--context", "--json").one
    made = tiphys("export", imported, "--to", "archive", "--out", tmp_path / "run.tiphys", "--json").one
    assert made == {"session": imported, "file": str(tmp_path / "run.tiphys")}
    assert tiphys("import", made["file"], "--json").one["result"] == "present"
    monkeypatch.setenv("TIPHYS_HOME", str(tmp_path / "other"))
    assert tiphys("import", made["file"], "--json").one["result"] == "imported"
    assert tiphys("show", imported, "--context", "--json").one == before


def test_a_longer_archive_of_an_imported_session_adds_its_events(tiphys, imported, tmp_path, monkeypatch) -> None:
    short, long = tmp_path / "short.tiphys", tmp_path / "long.tiphys"
    tiphys("export", imported, "--to", "archive", "--out", short)
    tiphys("verdict", imported, 1, "mask")
    tiphys("export", imported, "--to", "archive", "--out", long)
    monkeypatch.setenv("TIPHYS_HOME", str(tmp_path / "other"))
    results = [tiphys("import", path, "--json").one["result"] for path in (short, long, short)]
    assert results == ["imported", "grown", "present"]
    assert tiphys("show", imported, "--json").one["steps"][0]["verdict"]["final"] == "mask"


def test_a_file_that_has_grown_keeps_what_was_said_of_its_steps(tiphys, tmp_path) -> None:
    whole = FILES.parent / "foreign" / "codex.jsonl"
    run = tmp_path / "rollout.jsonl"
    lines = whole.read_text().splitlines(keepends=True)
    cut = next(n for n, line in enumerate(lines) if "function_call_output" in line)
    run.write_text("".join(lines[:cut]))
    first = tiphys("import", run, "--json").one
    assert (first["result"], first["steps"], first["errors"]) == ("imported", 1, 0)
    assert tiphys("verdict", first["session"], 1, "mask").status == 0
    run.write_text("".join(lines))
    again = tiphys("import", run, "--json").one
    assert (again["session"], again["result"], again["steps"]) == (first["session"], "grown", 3)
    shown = tiphys("show", first["session"], "--json").one
    assert [s["number"] for s in shown["steps"]] == [1, 2, 3]
    assert shown["steps"][0]["verdict"]["final"] == "mask"
    assert shown["steps"][0]["is_error"] is True, "the result that came late is there"
    (row,) = tiphys("sessions", "--json").lines
    assert (row["steps"], row["errors"], row["tokens"]) == (3, 1, 56)
    assert tiphys("import", run, "--json").one["result"] == "present"


def test_a_file_that_names_no_session_is_known_again_by_its_steps(tiphys, tmp_path) -> None:
    run = json.loads((FILES / "with_query.traj").read_text())
    path = tmp_path / "run.traj"
    path.write_text(json.dumps({**run, "trajectory": run["trajectory"][:1], "info": {}}))
    first = tiphys("import", path, "--json").one
    assert tiphys("verdict", first["session"], 1, "mask").status == 0
    path.write_text(json.dumps(run))
    again = tiphys("import", path, "--json").one
    assert (again["session"], again["result"], again["steps"]) == (first["session"], "grown", 2)
    assert tiphys("import", path, "--json").one["result"] == "present"
    shown = tiphys("show", first["session"], "--json").one
    assert [s["verdict"]["final"] for s in shown["steps"]] == ["mask", "undecided"]
    other = json.loads(json.dumps(run).replace(run["trajectory"][0]["thought"] or "x", "Another thought."))
    path.write_text(json.dumps(other))
    assert tiphys("import", path, "--json").one["session"] != first["session"]


def test_an_archive_cannot_write_into_a_session_that_lives_here(tiphys, live, tmp_path, monkeypatch) -> None:
    session, made = live, tmp_path / "live.tiphys"
    tiphys("export", session, "--to", "archive", "--out", made)
    monkeypatch.setenv("TIPHYS_HOME", str(tmp_path / "other"))
    tiphys("import", made)
    assert "[session_over]" in tiphys("guide", session, "is anybody there?").err
    with Writer(tmp_path / "other" / "server.db") as writer:
        fact = GuidanceQueued(guidance="g1", text="forged")
        forged = encode_event(make_event(fact, Author(kind="person", name="eve")))
        writer.do_blocking(lambda conn: log.append(conn, session, [forged]))
    tiphys("export", session, "--to", "archive", "--out", made)
    monkeypatch.setenv("TIPHYS_HOME", str(tmp_path / "home"))
    before = tiphys("show", session, "--json").out
    ran = tiphys("import", made)
    assert ran.status == 1
    assert "[session_differs]" in ran.err
    assert tiphys("show", session, "--json").out == before


def test_the_rules_judge_what_was_imported_though_no_server_runs(tiphys, home) -> None:
    def by_rules(session: str) -> list[tuple[int, str]]:
        steps = tiphys("show", session, "--json").one["steps"]
        return [(s["number"], o["author"]) for s in steps for o in s["verdict"]["opinions"]
                if o["kind"] == "rule"]

    sessions = [line["session"] for line in tiphys("import", FILES, "--json").lines]
    assert not any(map(by_rules, sessions)), "at_end = false"
    (home / "rules" / "rules.toml").unlink()
    ran = tiphys("import", FILES, "--json")
    assert ran.status == 0 and {line["result"] for line in ran.lines} == {"present"}
    first = [by_rules(session) for session in sessions]
    assert any(first)
    tiphys("import", FILES, "--json")
    assert [by_rules(session) for session in sessions] == first, "once is enough"


def test_rules_that_cannot_be_used_are_told_when_all_is_taken_in(tiphys, home) -> None:
    (home / "rules").mkdir(parents=True)
    (home / "rules" / "rules.toml").write_text("[rules.deadlocked_polling]\nrun = -5\n")
    ran = tiphys("import", FILES / "with_query.traj", "--json")
    assert (ran.status, ran.one["result"]) == (2, "imported")
    assert "setting run of the rule deadlocked_polling" in ran.err and "[bad_rules]" in ran.err
    assert [one["session"] for one in tiphys("sessions", "--json").lines] == [ran.one["session"]]
    for command in (("judge", ran.one["session"]), ("rules",)):
        refused = tiphys(*command)
        assert (refused.status, f"{home}/rules/rules.toml: The setting run" in refused.err) == (2, True), command


@pytest.mark.parametrize("differing", ["no such file", "Four lines."], ids=["from the first step", "begin alike"])
def test_one_bad_session_in_a_shared_commit_leaves_the_others_whole(home, tmp_path, monkeypatch, differing) -> None:
    chat = json.loads((FILES / "chat.jsonl").read_text().splitlines()[0])
    path = tmp_path / "chats.jsonl"
    path.write_text("".join(json.dumps(chat).replace(differing, f"no file {n}") + "\n" for n in range(4)))
    found = [Read(session, path) for session in registry.read(path)]
    bad = found[1].session
    lost = next(iter(set(bad.blobs) - {name for one in found if one.session is not bad for name in one.session.blobs}))
    found[1] = Read(msgspec.structs.replace(bad, blobs={k: v for k, v in bad.blobs.items() if k != lost}), path)
    commits: list[int] = []
    commit = Writer._commit

    def all_at_once(self: Writer, batch: list) -> None:
        """However quick the writer is: it waits for what the import stores together."""
        if "HeldDatabase.open" not in getattr(batch[0][0], "__qualname__", ""):
            batch += [self._queue.get(timeout=60) for _ in range(len(found) - len(batch))]
            commits.append(len(batch))
        commit(self, batch)

    monkeypatch.setattr(Writer, "_commit", all_at_once)
    failures: list[ReportableError] = []
    lines = list(store_all(Home(home), found, failures))
    assert commits == [4], "they share a commit"
    assert [line.session for line in lines] == [one.session.session for n, one in enumerate(found) if n != 1]
    assert [failure.code for failure in failures] == ["missing_payload"]
    with reading(Home(home)) as conn:
        assert {name for (name,) in conn.execute("SELECT id FROM session")} == {line.session for line in lines}
        assert not conn.execute("SELECT 1 FROM event WHERE session = ?", (bad.session,)).fetchall()
        for one in (found[0].session, found[2].session, found[3].session):
            held = [placed.body for placed in log.read_all(conn, one.session)]
            assert held[: len(one.bodies)] == list(one.bodies)
            assert all(blobs.get(conn, name) == one.blobs[name] for name in one.blobs)
        assert {row[0].hex() for row in conn.execute("SELECT hash FROM blob")} == {
            name for n, one in enumerate(found) if n != 1 for name in one.session.blobs}, "nor a payload of the bad one"
        assert damage(conn) == ""
