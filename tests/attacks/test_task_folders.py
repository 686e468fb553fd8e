"""A task folder is foreign: it takes nothing of the host without a person's word, whatever way it asks (threat 14).

The oracle stands outside the program: a private file whose bytes may appear nowhere, a file that is made where a task's
code runs on the host, a variable, and a listening endpoint that notes whoever connects.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from attacks.task_folders import PLAIN, SECRET, TABLES, VALUE, VARIABLE, WAYS, Traps, harmless, mixtures, toml, write
from support.hostile import ROOT
from support.logs import fill
from support.tally import tally
from support.wire import serving, until

from core.agents.task_model import open_task_model
from core.domain.errors import ReportableError
from core.domain.events import SessionCreated, SessionStateChanged, decode_event, encode_event, make_event
from core.domain.ids import new_id
from core.domain.session import FINAL_STATES
from core.domain.task import AgentSettings, Data, Evaluator, Host, ModelSettings, Task
from core.domain.verdict import Author
from core.llm.model import EndpointError, Request
from core.llm.openai import OpenAIModel
from core.protocol.messages import Command
from core.protocol.operations import CreateSession
from core.sandbox.archive import tar_of
from core.sandbox.local import LocalSandbox
from core.server.handlers import apply_command
from core.server.lookups import lookups_of
from core.store import log
from core.store.accounts import Principal
from core.store.home import Home
from core.store.schema import open_log
from core.store.sqlite import Connection, connect, transaction
from core.tasks.catalogue import Catalogue
from core.tasks.folder import require_regular

SEED, MIXTURES = 11, 300
PEOPLE = (Principal(name="guide", scopes=("guide",)), Principal(name="admin", scopes=("admin",)))


@pytest.fixture
def traps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Traps]:
    one = Traps(tmp_path / "traps")
    monkeypatch.setenv(VARIABLE, VALUE)
    yield one
    one.close()


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[Connection]:
    with contextlib.closing(open_log(tmp_path / "log.db")) as one:
        yield one


class Judge:
    """Puts folders before the real catalogue, the real handlers and the real readers of a task's files."""

    def __init__(self, folder: Path, traps: Traps, conn: Connection) -> None:
        self._folder, self._traps, self._conn = folder, traps, conn
        self.refused = 0

    def harm(self, ways: tuple[str, ...]) -> list[str]:
        """What came of a folder with these ways in it; empty where it took nothing and all was named."""
        home = Home(self._folder / new_id())
        folder = home.tasks / "foreign"
        harmless(folder, self._traps)
        changes, words = [], []
        for way in ways:
            with contextlib.suppress(OSError):  # two ways of a mixture that want the same link
                more, named = WAYS[way](folder, self._traps)
                changes += more
                words.append(named)
        with contextlib.suppress(KeyError, IndexError, TypeError, AttributeError):  # ways that undo one another
            if not (folder / "task.toml").is_symlink():
                write(folder, changes)
        sentences, content = self._tried(home)
        found = [*self._traps.sprung()]
        if SECRET in content or any(SECRET.decode() in sentence for sentence in sentences):
            found.append("the private file was read")
        if not sentences:
            found.append("nothing was refused")
        if len(ways) == 1 and words and not all(any(w in s for s in sentences) for w in words[0]):
            found.append(f"not named: {words[0]} in {sentences}")
        shutil.rmtree(home.path)
        self.refused += bool(sentences)
        return [f"{ways}: {one}" for one in found]

    def _tried(self, home: Home) -> tuple[list[str], bytes]:
        """The sentences of all refusals, and every byte that a session of the folder's task would be given."""
        catalogue = Catalogue.of(home.path)
        if problems := catalogue.problems():
            return [p.sentence for p in problems], b""
        entry = catalogue.find("foreign")
        sentences = []
        started = False
        for person in PEOPLE:
            for agent in dict.fromkeys((AgentSettings(), entry.agent)):
                command = Command(id=new_id(), cseq=1, session=new_id(), op=CreateSession(task="foreign", agent=agent))
                try:
                    with transaction(self._conn):
                        apply_command(self._conn, person, command, lookups_of(home))
                    started = True
                except ReportableError as error:
                    if error.code != "missing_scope":
                        sentences.append(error.sentence)
        return (sentences, b"") if not started else self._given(catalogue, entry.task, entry.agent)

    @staticmethod
    def _given(catalogue: Catalogue, task: Task, agent: AgentSettings) -> tuple[list[str], bytes]:
        sentences, content = [], task.description.encode()
        solution = catalogue.find(task.id).proof.solution
        for name in (task.workspace, task.packages, task.evaluator.references, solution):
            try:
                content += _read_paths(catalogue, task, name) if name else b""
            except ReportableError as error:
                sentences.append(error.sentence)
        try:
            content += require_regular(catalogue.file(task, task.evaluator.script)).read_bytes()
            content += msgspec.json.encode(str(vars(open_task_model(catalogue, task, agent.model))))
        except (ReportableError, OSError) as error:
            sentences.append(str(error))
        return sentences, content


def _read_paths(catalogue: Catalogue, task: Task, name: str) -> bytes:
    """What a workspace or an evaluator's references are filled with."""
    async def read() -> bytes:
        return b"".join([piece async for piece in tar_of(catalogue.paths(task, name))])

    return asyncio.run(read())


def test_every_way_of_asking_is_refused_and_named(tmp_path: Path, traps: Traps, conn: Connection) -> None:
    judge = Judge(tmp_path, traps, conn)
    harm = [one for way in WAYS for one in judge.harm((way,))]
    assert judge.refused == len(WAYS)
    tally("task folders: a right of the host, a way of asking", len(WAYS), harm)


def test_ways_mixed_take_nothing_either(tmp_path: Path, traps: Traps, conn: Connection) -> None:
    judge = Judge(tmp_path, traps, conn)
    harm = [one for ways in mixtures(SEED, MIXTURES) for one in judge.harm(ways)]
    tally("task folders: several ways at once", MIXTURES, harm, str(SEED))


def test_the_harmless_folder_asks_nothing(tmp_path: Path, traps: Traps, conn: Connection) -> None:
    """The judge's counterpart: what is refused above is refused for the ways, not for the folder."""
    home = Home(tmp_path / "home")
    folder = home.tasks / "foreign"
    harmless(folder, traps)
    (folder / "workspace/same").symlink_to("deep/data")
    (folder / "task.toml").write_text(toml(PLAIN))
    sentences, content = Judge(tmp_path, traps, conn)._tried(home)
    assert sentences == [] and content.count(b"data") >= 2 and b"truth" in content
    (folder / "workspace/copy").write_bytes(traps.secret.read_bytes())
    assert SECRET in Judge(tmp_path, traps, conn)._tried(home)[1], "the judge sees what a session is given"


def test_unknown_fields_are_refused_at_every_level_with_the_known_ones(tmp_path: Path, traps: Traps) -> None:
    for number, table in enumerate(TABLES):
        home = tmp_path / str(number)
        harmless(home / "tasks/foreign", traps)
        write(home / "tasks/foreign", [((*table, "gpu_ids"), 8)])
        (problem,) = Catalogue.of(home).problems()
        where = ".".join(str(key) for key in (*table, "gpu_ids") if not isinstance(key, int))
        assert f"no field {where};" in problem.sentence and str(home / "tasks/foreign/task.toml") in problem.sentence


# ---- over the wire, and in a log -----------------------------------------------------------------------


def smuggled(traps: Traps) -> dict[str, tuple[Task, AgentSettings]]:
    """What a client may send, or a log may hold, that a file may not."""
    task = Task(id="foreign", title="T", description="d")
    host = msgspec.structs.replace(task, hosts=(Host(name="../../../../traps/private"),))
    local = AgentSettings(model=ModelSettings(script="script.toml"), sandbox="local", confirmed_unconfined=True)
    openai = ModelSettings(kind="openai", name="m", base_url=f"{traps.url}/v1")
    with_key = msgspec.structs.replace(openai, key_env=VARIABLE)
    scored = Evaluator(script=str(traps.private / "evaluate.py"))
    private = (Data(source=str(traps.private), target="/data"),)
    return {
        "unconfined": (task, local),
        "unconfined evaluator": (msgspec.structs.replace(task, evaluator=Evaluator(script="evaluate.py")), local),
        "variable": (task, AgentSettings(model=with_key)),
        "endpoint": (task, AgentSettings(model=openai)),
        "private workspace": (msgspec.structs.replace(task, workspace=str(traps.private)), AgentSettings()),
        "private evaluator": (msgspec.structs.replace(task, evaluator=scored), AgentSettings()),
        "private script": (task, AgentSettings(model=ModelSettings(script=str(traps.secret)))),
        "private record": (task, AgentSettings(model=ModelSettings(kind="replay", script=str(traps.secret)))),
        "model of the host": (task, AgentSettings(model=ModelSettings(kind="local", name=str(traps.private)))),
        "folder of the host": (host, AgentSettings()),
        "network": (msgspec.structs.replace(task, hosts=(Host(name="main", network=True),)), AgentSettings()),
        "reach": (msgspec.structs.replace(task, hosts=(Host(name="main", reach=("x.org",)),)), AgentSettings()),
        "data": (msgspec.structs.replace(task, hosts=(Host(name="main", data=private),)), AgentSettings()),
        "machine": (msgspec.structs.replace(task, hosts=(Host(name="main", machine="gpu1"),)), AgentSettings()),
        "image": (msgspec.structs.replace(task, hosts=(Host(name="main", image="x"),)), AgentSettings()),
    }


SAID_BY_AN_ADMINISTRATOR = {"unconfined", "unconfined evaluator", "endpoint", "model of the host", "network", "image",
                            "reach"}
"""What an administrator's own settings are the word for (SECURITY.md); a variable and a path never."""


def test_a_client_smuggles_nothing_that_a_file_may_not(tmp_path: Path, traps: Traps, conn: Connection) -> None:
    lookups, harm, tried = lookups_of(Home(tmp_path / "home")), [], 0
    for name, (task, agent) in smuggled(traps).items():
        for scopes in (("guide",), ("view", "review", "guide"), ("agent:s",), ("admin",)):
            tried += 1
            command = Command(id=new_id(), cseq=1, session=new_id(), op=CreateSession(task=task, agent=agent))
            try:
                apply_command(conn, Principal(name="p", scopes=scopes), command, lookups)
                answer = "made"
            except ReportableError as error:
                answer = error.code
            may = scopes == ("admin",) and name in SAID_BY_AN_ADMINISTRATOR
            if answer not in ({"made"} if may else {"missing_scope", "task_not_allowed", "bad_task", "bad_task_file",
                                                      "no_such_host"}):
                harm.append(f"{name} by {scopes}: {answer}")
    tally("task folders: sessions with settings over the wire", tried, harm)


def test_a_log_that_says_yes_is_not_believed(tmp_path: Path, traps: Traps) -> None:
    """Sessions that came into the log past every check, as from a foreign backup: their real runners refuse."""
    home = Home(tmp_path / "home")
    harmless(home.tasks / "foreign", traps)
    write(home.tasks / "foreign", [])
    cases = smuggled(traps)
    del cases["machine"]  # no member of the pool is called so: it waits and is given nothing
    names = {f"s{number}": name for number, name in enumerate(cases)}
    with contextlib.closing(open_log(home.server_db)) as conn, transaction(conn):
        for session, name in names.items():
            task, agent = cases[name]
            event = make_event(SessionCreated(task=task, agent=agent), Author(kind="server", name="server"))
            fill(conn, session, [encode_event(event)], {})

    async def main() -> None:
        async with serving(home.path, supervise=True) as server:
            def over() -> bool:
                return all(log.row(server.hub.reader, s).state in FINAL_STATES for s in names)
            await until(over, seconds=180)

    asyncio.run(main())
    with contextlib.closing(connect(home.server_db, readonly=True)) as conn:
        ends = {name: [f for p in log.read_all(conn, session)
                       if isinstance(f := decode_event(p.body).fact, SessionStateChanged)][-1]
                for session, name in names.items()}
    believed = [f"{name}: {end}" for name, end in ends.items()
                if end.reason not in ("task_not_allowed", "bad_task", "bad_task_file")]
    tally("task folders: sessions that a log says were allowed", len(cases), [*believed, *traps.sprung()])


# ---- the word --------------------------------------------------------------------------------------------


def tiphys(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "TIPHYS_HOME": str(home), "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, "-m", "core.cli", *words], env=env, cwd=ROOT, capture_output=True, text=True,
                          timeout=180, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="the local sandbox needs Linux or macOS")
def test_the_word_is_asked_once_for_one_content_and_the_traps_can_spring(tmp_path: Path, traps: Traps) -> None:
    home = tmp_path / "home"
    folder = home / "tasks/foreign"
    harmless(folder, traps)
    write(folder, [(("agent", "sandbox"), "local")])
    refused = tiphys(home, "run", "foreign", "--wait")
    assert refused.returncode == 1 and "[task_not_allowed]" in refused.stderr and "--allow" in refused.stderr
    assert "UNCONFINED" in refused.stderr and "evaluate.py" in refused.stderr
    assert not traps.marker.exists()

    ran = tiphys(home, "run", "foreign", "--allow", "--wait")
    assert "UNCONFINED" in ran.stderr and traps.marker.exists(), ran.stderr
    traps.marker.unlink()
    again = tiphys(home, "run", "foreign", "--wait")
    assert traps.marker.exists() and again.returncode == 0, again.stderr

    traps.marker.unlink()
    with (folder / "evaluate.py").open("a") as file:
        file.write("# changed\n")
    changed = tiphys(home, "run", "foreign", "--wait")
    assert changed.returncode == 1 and "[task_not_allowed]" in changed.stderr and not traps.marker.exists()

    listed = [json.loads(line) for line in tiphys(home, "allow", "list", "--json").stdout.splitlines()]
    assert {grant["task"] for grant in listed} == {"foreign"}
    assert json.loads(tiphys(home, "allow", "revoke", "foreign", "--json").stdout)["revoked"] == len(listed)
    assert not tiphys(home, "allow", "list", "--json").stdout
    sessions = {path.name for path in (home / "sessions").iterdir()}
    for session in sessions:
        asyncio.run(LocalSandbox(session, Host(name="main"), home / "sessions" / session).stop())


def test_only_the_variable_that_was_allowed_leaves_and_only_to_its_endpoint(tmp_path: Path, traps: Traps,
                                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's library reads variables of its own, and follows redirects: neither may widen what was allowed."""
    for name in ("ORG_ID", "PROJECT_ID", "ADMIN_KEY", "WEBHOOK_SECRET"):
        monkeypatch.setenv(f"OPENAI_{name}", f"other-{name}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Other: other-header")
    monkeypatch.setenv("OPENAI_API_KEY", "other-key")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/other")
    elsewhere = Traps(tmp_path / "elsewhere")
    model = OpenAIModel(ModelSettings(kind="openai", name="m", base_url=f"{traps.url}/v1", key_env=VARIABLE))

    async def ask() -> None:
        with pytest.raises(EndpointError):
            await model.complete(Request(messages=()))
        await model.close()

    asyncio.run(ask())
    (heard,) = traps.heard
    assert VALUE.encode() in heard and b"other" not in heard.lower(), "the control: what was allowed does leave"

    async def redirect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 307 T\r\nlocation: {elsewhere.url}/v1/chat/completions\r\ncontent-length: 0\r\n\r\n"
        writer.write(head.encode())
        await writer.drain()
        writer.close()

    async def ask_who_redirects() -> None:
        server = await asyncio.start_server(redirect, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        second = OpenAIModel(ModelSettings(kind="openai", name="m", base_url=url, key_env=VARIABLE))
        with pytest.raises(EndpointError):
            await second.complete(Request(messages=()))
        await second.close()
        server.close()

    asyncio.run(ask_who_redirects())
    elsewhere.close()
    assert elsewhere.heard == []
