"""Every decoder under damaged input: an answer or one of our errors, within a second of processor time each."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.hostile import JSON, ROOT, damaged, fuzzed, survives
from support.logs import make_session
from support.real_data import DATA

from app.desk.settings import Settings, to_toml
from core.actions.registry import parse_call
from core.domain.blob import blob_hash
from core.domain.errors import InvalidInput
from core.domain.events import UnknownFact, decode_event, encode_event
from core.domain.message import ToolCall, decode_message
from core.domain.step import decode_body
from core.export import worker
from core.formats import archive, registry
from core.formats.json_text import parse
from core.llm.text_actions import parse_text_actions
from core.protocol.codec import decode_from_server, decode_to_server
from core.protocol.frames import Assembly, parse_piece, pieces
from core.store import blobs
from core.store.home import Home
from core.supervision.judge import read_opinions
from core.supervision.rule_book import read_rule_file
from core.tasks.catalogue import Catalogue
from core.tasks.task_file import read_task
from core.workers.messages import WorkerAnswer

GOLDEN = [p.read_bytes() for p in sorted((ROOT / "tests/wire/golden").glob("*.json"))]
FILES = ROOT / "tests/core/formats/files"
BODIES, BLOBS = make_session(steps=4, guidance=1, seed=3)
EVENTS = sorted({json.loads(b)["fact"]["type"]: b for b in BODIES}.values())
DEEP = b"[" * 450 + b"]" * 450


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


# ---- the wire


@fuzzed
@given(damaged(GOLDEN) | st.binary(max_size=200) | JSON.map(lambda v: json.dumps(v).encode("utf-8", "replace")))
def test_text_frames(data: bytes) -> None:
    for decode in (decode_to_server, decode_from_server):
        survives(lambda decode=decode: decode(data))
        survives(lambda decode=decode: decode(data.decode("utf-8", "surrogateescape")))


@fuzzed
@given(damaged([*pieces(blob_hash(b"x"), b"x" * 300), *pieces(blob_hash(b"y"), b"y")]) | st.binary(max_size=120))
def test_binary_pieces(frame: bytes) -> None:
    assembly = Assembly()
    piece = survives(lambda: parse_piece(frame))
    if piece is not None:
        survives(lambda: assembly.add(piece))
        survives(lambda: assembly.add(piece))


@fuzzed
@given(damaged([blobs.compress(b"x" * 1000), blobs.compress(bytes(range(256)))]) | st.binary(max_size=60))
def test_payloads(data: bytes) -> None:
    survives(lambda: blobs.decompress(data, 1 << 16))


# ---- the log


@fuzzed
@given(damaged(EVENTS) | st.binary(max_size=100))
@example(
    b'{"id":"1","at":"2026-01-01T00:00:00Z","author":{"kind":"agent","name":"a"},"fact":{"type":"new","x":'
    + DEEP
    + b"}}"
)
def test_events(data: bytes) -> None:
    event = survives(lambda: decode_event(data))
    if event is not None and not isinstance(event.fact, UnknownFact):
        survives(lambda: decode_event(encode_event(event)))


@fuzzed
@given(damaged(list(BLOBS.values())[:12]) | st.binary(max_size=100))
def test_bodies_and_messages(data: bytes) -> None:
    survives(lambda: decode_body(data))
    survives(lambda: decode_message(data))


# ---- what a model or a container says


@fuzzed
@given(
    st.text(max_size=200)
    | JSON.map(lambda v: f"<action>{json.dumps(v)}</action>")
    | damaged(
        [b'<action>{"tool": "run_command", "arguments": {"command": "ls"}}</action>', b'```json\n{"name": "x"}\n```']
    ).map(lambda b: b.decode("utf-8", "surrogateescape"))
)
@example('<action>{"tool": "x", "arguments": {"a": "\\ud800"}}</action>')
@example('<action>{"tool": "x", "arguments": {"a": ' + "9" * 40 + "}}</action>")
@example('<action>{"tool": "x", "arguments": {"a": ' + "9" * 5000 + "}}</action>")
@example('<action>{"tool": "x", "arguments": {"a": ' + DEEP.decode() + "}}</action>")
@example("<action>" * 20_000)
@example("```" * 30_000)
def test_actions_in_text(text: str) -> None:
    _, calls = survives(lambda: parse_text_actions(text, 1))
    for call in calls[:50]:
        survives(lambda call=call: msgspec.json.encode(parse_call(call)))


@fuzzed
@given(
    st.sampled_from(("run_command", "edit_file", "sleep", "no_such_tool", "", "<real_user>")),
    st.text(max_size=100) | JSON.map(json.dumps),
)
@example("run_command", '{"command": ' + DEEP.decode() + "}")
@example("run_command", '{"command": "\\ud800", "x": ' + "9" * 5000 + "}")
def test_calls(name: str, arguments: str) -> None:
    action = survives(lambda: parse_call(ToolCall(id="1", name=name, arguments=arguments)))
    survives(lambda: msgspec.json.encode(action))


@fuzzed
@given(
    damaged([b'{"judge_results": {"turn 1": {"keep": true, "reason": "x"}}}', b'text {"turn 2": false}'])
    | st.binary(max_size=90)
)
@example(b'{"judge_results": {"turn ' + b"9" * 5000 + b'": {"keep": true}}}')
@example('{"judge_results": {"turn ²": {"keep": true}}}'.encode())
def test_opinions(data: bytes) -> None:
    survives(lambda: read_opinions(data.decode("utf-8", "surrogateescape")))


# ---- files


def read_file(path: Path) -> None:
    for session in registry.read(path):
        for body in session.bodies:
            decode_event(body)
        for name in session.blobs:
            session.blobs[name]


TRAJ = (FILES / "with_query.traj").read_bytes()
CHAT = (FILES / "chat.jsonl").read_bytes()
CAST = b'{"version": 2, "width": 80, "height": 24, "timestamp": 1}\n[0.1, "o", "$ ls\\r\\n"]\n[0.2, "i", "x"]\n'
HISTORY = json.dumps(
    {
        "history": [
            {"role": "user", "agent": "main", "content": "go"},
            {"role": "assistant", "agent": "main", "content": "a"},
            {"role": "user", "agent": "main", "content": "b"},
        ]
    }
).encode()


def traj(**more: object) -> bytes:
    step = {"action": "ls", "observation": "x", "thought": "t", **more}
    return json.dumps(
        {"trajectory": [step], "history": [], "info": {}, "replay_config": more.get("config", "")}
    ).encode()


def chat(**more: object) -> bytes:
    return json.dumps(
        {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y", **more}]}
    ).encode()


def called(arguments: str) -> bytes:
    return chat(tool_calls=[{"id": "1", "function": {"name": "f", "arguments": arguments}}])


@fuzzed
@given(damaged([TRAJ, CHAT, HISTORY, CAST, b"PK\x03\x04"]) | st.binary(max_size=100))
@example(traj(state="[" * 100_000))
@example(traj(state='{"open_file": "\\ud800", "working_dir": ' + "9" * 40 + "}"))
@example(traj(state='{"open_file": ' + "9" * 5000 + "}"))
@example(traj(state='{"open_file": ' + DEEP.decode() + "}"))
@example(traj(config="[" * 100_000))
@example(traj(execution_time=float("nan"), config="{"))
@example(traj(execution_time=10**30))
@example(called("[" * 100_000))
@example(called('{"a": ' + DEEP.decode() + "}"))
@example(called("9" * 5000))
@example(called('{"a": "\\ud800", "\\udfff": ' + "9" * 40 + "}"))
@example(chat(content=[{"type": "text", "text": 5}, 5]))
@example(
    b'{"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}], "a": ' + DEEP + b', "b": '
)
@example(b'{"trajectory": [{"action": "a", "observation": ' + DEEP + b'}], "b": nul')
@example(b'{"messages_display": "' + b"user: x\\nassistant: y\\n" * 2000 + b'"}')
@example(b"[" * 200_000)
@example(b'{"a":' * 100_000)
def test_trajectories_of_other_programs(folder: Path, data: bytes) -> None:
    path = folder / "foreign"
    path.write_bytes(data)
    survives(lambda: read_file(path))


@fuzzed
@given(damaged([TRAJ, CHAT, DEEP]) | JSON.map(lambda v: json.dumps(v).encode("utf-8", "replace")))
@example(b'{"a": ' + DEEP + b', "b": nul')
@example(b"[" + DEEP + b", nul")
def test_json_text(data: bytes) -> None:
    survives(lambda: parse(data))


@pytest.fixture(scope="module")
def good_archive(folder: Path) -> bytes:
    path = folder / "good.tiphys"
    archive.write(path, "s1", "Title", BODIES[:6], BLOBS.__getitem__)
    return path.read_bytes()


@fuzzed
@given(st.data())
def test_archives(folder: Path, good_archive: bytes, data: st.DataObject) -> None:
    end = len(good_archive) - 600
    raw = data.draw(damaged([good_archive, good_archive[:60] + good_archive[end:], good_archive[end:]]))
    path = folder / "hostile.tiphys"
    path.write_bytes(raw)
    survives(lambda: read_file(path))


@fuzzed
@given(st.integers(0, 255), st.integers(0, 255), st.integers(0, 60))
def test_archives_whose_directory_lies(folder: Path, good_archive: bytes, value: int, which: int, at: int) -> None:
    """Every field of the central directory and of the local heads, one byte at a time."""
    raw = bytearray(good_archive)
    for mark in (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06"):
        places = [i for i in range(len(raw) - 4) if raw[i : i + 4] == mark]
        place = places[which % len(places)] + at
        if place < len(raw):
            raw[place] = value
        path = folder / "lying.tiphys"
        path.write_bytes(raw)
        survives(lambda path=path: read_file(path))


@fuzzed
@given(
    damaged([p.read_bytes() for p in sorted((ROOT / "resources/tasks").glob("*/task.toml"))]) | st.binary(max_size=100)
)
@example(b"id = " + b"[" * 5000)
@example(b"a = " + b"9" * 5000)
@example(b"a." * 5000 + b"b = 1")
@example(b'id = "x"\ntitle = "t"\ndescription = "bad.md"')
@example(b'id = "x"\ntitle = "t"\ndescription = "folder.md"')
@example(b'id = "x"\ntitle = "t"\ndescription = "nul\\u0000.md"')
@example(b'id = "x"\ntitle = "t"\ndescription = "' + b"x" * 5000 + b'.md"')
@example(b'id = "x"\ntitle = "t"\ndescription = "../secret.md"')
@example(b'id = "x"\ntitle = "t"\ndescription = "link.md"')
def test_task_files(folder: Path, data: bytes) -> None:
    home = folder / "tasks-home"
    task = home / "tasks" / "one"
    if not task.is_dir():
        (task / "folder.md").mkdir(parents=True)
        (task / "bad.md").write_bytes(b"\xff\xfe\x00")
        (folder / "secret.md").write_text("secret")
        (task / "link.md").symlink_to(folder / "secret.md")
    (task / "task.toml").write_bytes(data)
    entry = survives(lambda: read_task(task))
    assert entry is None or "secret" not in entry.task.description
    survives(lambda: Catalogue.of(home).entries())


@fuzzed
@given(damaged([b'[rules.blind_edit]\nenabled = false\n[tasks.t.rules.x]\nmost = 3\n']) | st.binary(max_size=60))
@example(b"a = " + b"[" * 5000)
@example(b"[rules]\na.b = " + b"9" * 5000)
def test_rule_files(folder: Path, data: bytes) -> None:
    path = folder / "rules.toml"
    path.write_bytes(data)
    survives(lambda: read_rule_file(path))


@fuzzed
@given(
    damaged([b'[appearance]\nlanguage = "en"\ntext_size = 12.0\n', b'a."b c" = 1\n[x."y.z"]\nq = "\\u0000"\n'])
    | st.binary(max_size=80)
)
@example(b"a = " + b"[" * 5000)
@example(b"a = " + b"9" * 5000)
@example(b'"a b" = 1\n"c\\"\\nd" = "x"\n"" = 2\n[appearance]\ntext_size = nan')
@example(b"a." * 5000 + b"b = 1")
def test_settings(folder: Path, data: bytes) -> None:
    path = folder / "settings.toml"
    path.write_bytes(data)
    told = survives(lambda: Settings(path))
    told.set("appearance.colours", "light" if told.text("appearance.colours") != "light" else "dark")
    again = Settings(path)
    assert again.text("appearance.colours") == told.text("appearance.colours"), "what was stored is read again"
    assert to_toml({}) == "\n"


@fuzzed
@given(
    damaged(
        [
            b'{"id":"a","do":"dry_run","dataset":{"sessions":["s1"],"format":"chat","options":{}}}',
            b'{"id":2,"do":"preview","session":"s1","model":"nowhere"}',
            b'{"id":3,"do":"write","dataset":{"sessions":["s1"],"format":"chat"},"folder":""}',
        ]
    )
    | st.binary(max_size=80)
)
@example(b"[" * 100_000)
@example(b'{"id":1,"do":"dry_run","dataset":{"options":' + DEEP + b"}}")
@example(b'{"id":1,"do":"dry_run","dataset":{"sessions":["s1"],"format":"chat","options":{"react":1e999}}}')
@example(b'{"id":1,"do":"dry_run","dataset":{"sessions":["\\u0000"],"format":"chat"}}')
def test_requests_to_the_export_worker(
    folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    def no_model(name: str) -> str:
        raise InvalidInput("no_model", f"There is no model {name} here: loading one is not what is fuzzed.")

    monkeypatch.setattr(worker, "model_folder", no_model)
    log = Home(folder / "export-home").server_db
    if not log.exists():
        from support.logs import fill

        from core.store.schema import open_log
        from core.store.sqlite import transaction

        with contextlib.closing(open_log(log)) as conn, transaction(conn):
            fill(conn, "s1", BODIES, BLOBS)
    answers: list[WorkerAnswer] = []
    caplog.clear()
    survives(lambda: worker.ExportWorker(log, answers.append).answer(data.replace(b'"write"', b'"writ"')))
    assert answers and not [r for r in caplog.records if r.exc_info], "a request met a defect"


FOLDERS = sorted(p.name for p in DATA.iterdir() if p.is_dir()) if DATA.is_dir() else []


@pytest.mark.parametrize("name", FOLDERS)
def test_real_files_with_damage(folder: Path, name: str) -> None:
    """Every format that there are real files of: cut, with bytes put in that are no text, and nested without end."""
    found = [p for p in sorted((DATA / name).rglob("*")) if p.is_file()][:3]
    for source in found:
        data = source.read_bytes()[:50_000]
        for cut in (len(data) // 7, len(data) // 2, len(data) - 9):
            for put in (b"\xff\x00", b'"\\ud800"', b"[" * 5000, b"9" * 5000, DEEP):
                path = folder / f"real-{source.name}"
                path.write_bytes(data[:cut] + put + data[cut + 5 :])
                survives(lambda path=path: read_file(path))
