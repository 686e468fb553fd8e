"""A whole session with a planted key, on this computer: what lies on disk afterwards, and who may read it.

Threats 8 and 12. The key is printed, computed, written and passed on by the agent in every spelling that a shell can
make; the files of the home, its copies and its exports are then searched for it, unpacked and joined.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shlex
import sqlite3
import stat
import subprocess
import sys
import urllib.parse
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.hostile import ROOT

from core.domain.events import SessionStateChanged, StepAdded, TerminalOutput, decode_event
from core.store.blobs import decompress

KEY = "sk-C4nary+Planted/Key-9zQ7=wX"
OTHER = "other-Secret-77-of-the-environment"
RAW = KEY.encode()
SPELLINGS = {
    "as it is": KEY,
    "in quotes": f"'{KEY}'",
    "in JSON": json.dumps({"key": KEY}),
    "in JSON in JSON": json.dumps(json.dumps([KEY])),
    "as a header": f"Authorization: Bearer {KEY}",
    "in an address": f"https://user:{KEY}@example.org/",
    "as a variable": f"API_KEY={KEY}",
    "for a query": "key=" + urllib.parse.quote(KEY, safe=""),
    "for a path": urllib.parse.quote(KEY),
    "for a form": urllib.parse.urlencode({"key": KEY}),
    "in lower hexadecimal of an address": "%2b".join(KEY.split("+")).replace("/", "%2f").replace("=", "%3d"),
    "hexadecimal": RAW.hex(),
    "capital hexadecimal": RAW.hex().upper(),
    "base64": base64.b64encode(RAW).decode(),
    "base64, one in": base64.b64encode(b"x" + RAW).decode(),
    "basic authorisation": base64.b64encode(b"ab" + RAW + b"c").decode(),
    "base64 of addresses": base64.urlsafe_b64encode(RAW).decode(),
    "base64 of addresses, one in": base64.urlsafe_b64encode(b"x" + RAW).decode(),
    "base64 of addresses, two in": base64.urlsafe_b64encode(b"xy" + RAW).decode(),
    "in colour": f"\x1b[31m{KEY}\x1b[0m",
}
CORES = {
    KEY,
    urllib.parse.quote(KEY, safe=""),
    urllib.parse.quote(KEY),
    SPELLINGS["in lower hexadecimal of an address"],
    RAW.hex(),
    RAW.hex().upper(),
    OTHER,
    *(
        encode(b"x" * n + RAW)[(0, 2, 3)[n] :].decode()[:30]
        for n in range(3)
        for encode in (base64.b64encode, base64.urlsafe_b64encode)
    ),
}
"""What must be nowhere: thirty characters of base64 are most of the key."""


def script() -> str:
    forms = list(map(shlex.quote, SPELLINGS.values()))
    turns = [
        (
            "run_command",
            {
                "command": f"printf '%s\\n' {' '.join(forms[n : n + 5])}",
                "session_id": "main",
                "wait_for_completion": True,
            },
        )
        for n in range(0, len(forms), 5)
    ]
    halves = f"printf '%s' {shlex.quote(KEY[:14])}; sleep 0.7; printf '%s\\n' {shlex.quote(KEY[14:])}"
    turns += [
        ("run_command", {"command": halves, "session_id": "main", "wait_for_completion": True}),
        ("create_file", {"filename": "note.txt", "content": f"the key is {KEY}"}),
        (
            "run_command",
            {"command": f"echo {OTHER}; no-such-command {KEY}", "session_id": "main", "wait_for_completion": True},
        ),
        (
            "run_command",
            {
                "command": "env > surroundings; cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' > words; true",
                "session_id": "main",
                "wait_for_completion": True,
            },
        ),
        ("no_such_tool", {"key": KEY}),
        ("finish", {}),
    ]
    told = ["pace_s = 0.0"]
    for tool, arguments in turns:
        told += [
            "[[turn]]",
            f"thought = {json.dumps(f'I saw {KEY} there')}",
            "[[turn.calls]]",
            f"tool = {json.dumps(tool)}",
            "[turn.calls.arguments]",
            *(f"{k} = {json.dumps(v)}" for k, v in arguments.items()),
        ]
    return "\n".join(told)


class Lived:
    """A home after a whole session, and everything that was made from it."""

    def __init__(self, folder: Path) -> None:
        self.home, self.out, self.said = folder / "home", folder / "out", []
        self.out.mkdir()
        task = self.home / "tasks" / "leak"
        task.mkdir(parents=True)
        (self.home).chmod(0o755)  # a folder that a person made
        (task / "script.toml").write_text(script())
        (task / "task.toml").write_text(
            'id = "leak"\ntitle = "Leak"\ndescription = "Do it."\n[agent]\nsandbox = "local"\n'
            '[agent.model]\nkind = "scripted"\nscript = "script.toml"\nkey_env = "MODEL_CREDENTIAL"\n'
        )
        self.session = self.tiphys("run", "leak", "--unconfined", "--wait")[-1]["session"]
        self.tiphys("export", self.session, "--to", "archive", "--out", str(self.out / "s.tiphys"))
        self.tiphys("backup", str(self.out / "copy.db"))
        self.tiphys("search", "saw")
        self.tiphys("show", self.session, "--context")
        self.tiphys("show", KEY, status=2)

    def tiphys(self, *words: str, status: int = 0) -> list[dict[str, str]]:
        env = {
            **os.environ,
            "TIPHYS_HOME": str(self.home),
            "MODEL_CREDENTIAL": KEY,
            "SOME_API_TOKEN": OTHER,
            "LANG": "C.UTF-8",
        }
        done = subprocess.run(
            [sys.executable, "-m", "core.cli", *words, "--json"],
            env=env,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        assert done.returncode == status, done.stderr[-2000:]
        if KEY not in words:
            self.said.append((done.stdout + done.stderr).encode())
        return [json.loads(line) for line in done.stdout.splitlines()]

    @property
    def folder(self) -> Path:
        return self.home / "sessions" / self.session

    def files(self) -> Iterator[Path]:
        """What our programs wrote: the agent's own workspace, which snapshots hold as it is, and the task's script are
        the planter's."""
        for path in sorted([*self.home.rglob("*"), *self.out.rglob("*")]):
            parts = path.relative_to(self.home.parent).parts
            planted = parts[:2] in (("home", "tasks"), ("home", "snapshots"))
            if not planted and "workspace" not in parts and "state" not in parts:
                yield path


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    if sys.platform == "win32":
        pytest.skip("the local sandbox needs Linux or macOS")
    return Lived(tmp_path_factory.mktemp("lived"))


def contents(path: Path) -> Iterator[bytes]:
    """A file's bytes; of a database every value, unpacked; of an archive every member; streams are joined."""
    data = path.read_bytes()
    yield data
    if data.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(path) as file:
            members = [file.read(i) for i in file.infolist()]
        yield from members
        for member in members:
            yield from events(member.splitlines())
    if data.startswith(b"SQLite format 3"):
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as conn:
            names = [
                n
                for (n,) in conn.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
                )
            ]
            values = [v for n in names for row in conn.execute(f'SELECT * FROM "{n}"') for v in row]
        for value in values:
            raw = value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
            yield decompress(raw) if raw.startswith(b"\x28\xb5\x2f\xfd") else raw
        yield from events([v for v in values if isinstance(v, bytes)])


def events(bodies: list[bytes]) -> Iterator[bytes]:
    """The inline data of terminal events, joined by terminal."""
    streams: dict[str, bytes] = {}
    for body in bodies:
        if b'"terminal_output"' in body:
            fact = decode_event(body).fact
            assert isinstance(fact, TerminalOutput)
            streams[fact.terminal] = streams.get(fact.terminal, b"") + fact.data
    yield from streams.values()


def test_there_are_nineteen_spellings_and_more() -> None:
    assert len(SPELLINGS) >= 19
    assert [name for name, text in SPELLINGS.items() if not any(core in text for core in CORES)] == []


def test_the_session_did_what_was_planted(lived: Lived) -> None:
    with contextlib.closing(sqlite3.connect(lived.home / "server.db")) as conn:
        facts = [decode_event(bytes(body)).fact for (body,) in conn.execute("SELECT body FROM event ORDER BY seq")]
    assert len([f for f in facts if isinstance(f, StepAdded)]) == len(SPELLINGS) // 5 + 6
    assert [f.state for f in facts if isinstance(f, SessionStateChanged)][-1] == "finished"
    workspace = lived.folder / "local" / "main" / "workspace"
    assert KEY in (workspace / "note.txt").read_text(), "the agent's own files are as it made them"


def test_the_key_is_in_no_file_that_we_write(lived: Lived) -> None:
    found = {
        f"{path.relative_to(lived.home.parent)}: {core[:8]}…"
        for path in lived.files()
        if path.is_file()
        for content in contents(path)
        for core in CORES
        if core.encode() in content
    }
    assert found == set()
    assert {p.suffix for p in lived.files() if p.is_file()} >= {".db", ".log", ".tiphys"}


def test_no_command_prints_the_key(lived: Lived) -> None:
    assert [core[:8] for said in lived.said for core in CORES if core.encode() in said] == []


def test_keys_and_tokens_are_in_no_argument_and_no_sandbox(lived: Lived) -> None:
    workspace = lived.folder / "local" / "main" / "workspace"
    surroundings, words = (workspace / "surroundings").read_text(), (workspace / "words").read_text(errors="replace")
    tokens = [lived.home / "admin.token", lived.folder / "token"]
    secrets = [KEY, OTHER, *(t.read_text().strip() for t in tokens)]
    assert [s[:6] for s in secrets if s in surroundings] == []
    assert "agent" in words and [s[:6] for s in secrets[2:] if s in words] == []
    assert [s[:6] for s in secrets[:2] if any(s in line for line in words.splitlines() if "core.cli" in line)] == []


def test_only_the_owner_reaches_what_lies_in_a_home(lived: Lived) -> None:
    def is_private(path: Path) -> bool:
        chain = [path, *path.parents][: len(path.relative_to(lived.home).parts)]
        return any(stat.S_IMODE(p.stat().st_mode) & 0o077 == 0 for p in chain)

    entries = [p for p in lived.home.rglob("*") if "tasks" not in p.parts and not p.is_symlink()]
    assert [str(p.relative_to(lived.home)) for p in entries if not is_private(p)] == []
    assert {p.name for p in entries} >= {
        "server.db",
        "admin.token",
        "server.json",
        "server.log",
        "journal.db",
        "agent.log",
        "token",
    }
    for name in ("server.db", "admin.token", "server.json", "server.lock"):
        assert stat.S_IMODE((lived.home / name).stat().st_mode) == 0o600, name
    assert stat.S_IMODE((lived.out / "copy.db").stat().st_mode) == 0o600


def test_a_crash_report_is_private_and_without_keys(tmp_path: Path) -> None:
    code = (
        "from core.cli import failure\nfrom core.logs import redactor\nimport os, sys\n"
        "redactor.add(os.environ['PLANTED'])\n"
        "def boom(): raise RuntimeError('with ' + os.environ['PLANTED'] + ' and hf_' + 'a' * 30)\n"
        "failure.guarded(boom, True)"
    )
    env = {**os.environ, "TIPHYS_HOME": str(tmp_path / "home"), "PLANTED": KEY}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    report = tmp_path / "home" / "logs" / "crash.log"
    assert "RuntimeError" in report.read_text() and stat.S_IMODE(report.stat().st_mode) == 0o600
    assert [s for s in (KEY, "hf_aaa") if s in report.read_text() + done.stdout + done.stderr] == []
