"""Foreign tasks in real containers: images built of their Dockerfiles, tests on the state that an agent left."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import docker
import msgspec
import pytest
from support.foreign_tasks import BASE, CONFIG, ENDLESS, HARBOR, INNOVATOR, TERMINAL_BENCH
from support.hostile import ROOT
from support.sandboxes import HOME, need_engine
from support.tasks import write_folder
from support.wire import account, raw_peer, serving, until

from core.domain.errors import NotFound, ReportableError
from core.domain.events import NotSaved, ScoreGiven, SnapshotTaken, decode_event
from core.domain.host_rights import rights_of
from core.domain.ids import new_id
from core.domain.session import FINAL_STATES
from core.domain.task import AgentSettings, ModelSettings
from core.protocol.messages import Ack, Command, Nak
from core.protocol.operations import CreateSession
from core.sandbox import built_image, disk_watch
from core.sandbox.engine import open_engine
from core.sandbox.image import build_base
from core.sandbox.kinds import open_sandbox
from core.sandbox.placement import HostLinks
from core.sandbox.reaper import remove, unfinished
from core.store import log
from core.store.sqlite import connect
from core.tasks.allowances import Allowances
from core.tasks.beginning import HostFilling
from core.tasks.catalogue import Catalogue
from core.tasks.evaluator_hosts import EvaluatorHosts
from core.tasks.handing_in import HandingIn
from core.tasks.images import built_images, own_image
from core.tasks.proof import prove
from core.tasks.reader import CatalogueTask
from core.tasks.scoring import Outcome

pytestmark = pytest.mark.docker
MODULES = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    """An image as a registry would give it: this machine's packages, with a pytest."""
    need_engine()
    tag = f"tiphys-test-base:{new_id()[-8:]}"
    with closing(open_engine()) as engine:
        made = engine.api.create_container(build_base(engine), ["true"])["Id"]
        engine.api.put_archive(made, "/usr/lib/python3/dist-packages", _pytest_tar())
        engine.api.commit(made, *tag.split(":"))
        engine.api.remove_container(made, force=True)
        yield tag
        for image in engine.images.list():
            if any(t.startswith(("tiphys-task:", tag)) for t in image.tags):
                with contextlib.suppress(docker.errors.APIError):
                    engine.images.remove(image.id, force=True)


def _pytest_tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name in MODULES:
            folder = Path(__import__(name).__file__).parent  # type: ignore[arg-type]
            tar.add(folder, name, filter=lambda i: None if "__pycache__" in i.name else i)
        metadata = next(Path(pytest.__file__).parents[1].glob("pluggy-*.dist-info"))
        tar.add(metadata, metadata.name)
        tar.add(Path(pytest.__file__).parents[1] / "py.py", "py.py")
    return out.getvalue()


class Lab:
    """One task of a folder, its host as an agent finds it, and what is handed in there."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        self.folder = folder
        write_folder(folder / "tasks/one", files)
        self.catalogue = Catalogue([folder / "tasks"])
        self.entry = self.catalogue.entries()[0]

    def after(self, *commands: str, evaluations: int = 1) -> list[Outcome]:
        """The outcomes once these commands ran in the host."""
        return asyncio.run(self._after(commands, evaluations))

    async def _after(self, commands: tuple[str, ...], evaluations: int) -> list[Outcome]:
        task, session = self.entry.task, f"test-{new_id()}"
        images = await built_images(self.catalogue, task, AgentSettings())
        image = images["main"]
        host = open_sandbox("docker", session, task.hosts[0], self.folder, image, home=HOME)
        try:
            await host.start()
            await HostFilling(task, self.catalogue).fill(host)
            for command in commands:
                ran = await host.run(["bash", "-c", command], cwd=host.workspace)
                assert ran.exit_code == 0, ran.output
            hosts = EvaluatorHosts(session, task.hosts[0], self.folder, HOME, image,
                                   own_image=own_image(task, images))
            handing_in = HandingIn(task, self.catalogue, host, hosts, folder=self.folder)
            return [(await handing_in.score())[0] for _ in range(evaluations)]
        finally:
            await host.remove()


def with_base(files: dict[str, str], base: str, **more: str) -> dict[str, str]:
    dockerfile = files["environment/Dockerfile"].replace("ARG BASE=base\nFROM ${BASE}:1", f"FROM {base}")
    return {**files, "environment/Dockerfile": dockerfile, **more}


def test_harbor_is_built_run_and_scored_on_the_state_that_is_left(base: str, tmp_path: Path) -> None:
    dockerfile = (f"FROM {base} AS maker\nRUN printf 'a\\nb\\nc\\n' > /made\nFROM {base}\nENV GREETING=hello\n"
                  "WORKDIR /app\nCOPY text /app/text\nCOPY --from=maker /made /app/made\n"
                  "RUN <<END\nset -e\ncat > heredoc <<'EOF'\n"
                  "$GREETING\nEOF\nEND\nRUN cat <<EOF > greeting\n$GREETING\nEOF\n")
    dockerfile += "RUN echo lab:x:77:77::/home/lab:/bin/sh >> /etc/passwd\nUSER lab\n"  # the agent's and the tests'
    test = ("test $(whoami) = lab && test $(cat heredoc) = '$GREETING' && test $(cat greeting) = hello && "
            "test $GREETING = hello && test $(wc -l < made) = 3 && test ! -e /tests/../left-by-agent && "
            "test $(cat count) = 2 && echo 0.5 > /logs/verifier/reward.txt\n")
    lab = Lab(tmp_path, {**HARBOR, "environment/Dockerfile": dockerfile, "tests/test.sh": test})
    (right,) = lab.after("wc -l < text > count", "sleep 1000 > /dev/null 2>&1 &", "! touch /etc/x /usr/bin/x /tests")
    assert right.total == 50.0 and not right.failed, right.message
    (wrong,) = lab.after("echo 7 > count")
    assert wrong.failed and "left no reward" in wrong.message


def test_a_verifier_of_its_own_gets_the_named_artifacts_and_nothing_else(base: str, tmp_path: Path) -> None:
    verifier = (f"FROM {base}\nRUN mkdir -p /srv/out && echo old > /srv/out/old\nWORKDIR /check\nCOPY . /tests/\n"
                "RUN echo made > /tests/by-the-build\n")
    test = ("test $(id -u) = 0 && test $PWD = /check && test $(cat /tests/by-the-build) = made && "
            "test $(cat /app/count) = 2 && test ! -e /app/other && test $(cat /srv/out/a/b) = deep && "
            "test $(find /srv/out | wc -l) = 3 && test $LEVEL = 3 && "
            "test $(cat /app/gathered) = late && echo 1 > /logs/verifier/reward.txt || "
            "echo 0 > /logs/verifier/reward.txt\n")
    text = HARBOR["task.toml"].replace("artifacts = []", 'artifacts = ["count", "gathered", "/srv/never", '
                                       '{ source = "/srv/out", exclude = ["*.pyc", "junk"] }]')
    text = text.replace("[verifier]\n", """[verifier]
env = { LEVEL = "3" }
collect = [{ command = "cat late > gathered" }, { command = "false" }, { command = "sleep 9", timeout_sec = 0.2 }]
""")
    dockerfile = f"FROM {base}\nRUN mkdir -m 777 -p /srv/out\nWORKDIR /app\nCOPY text text\n"
    lab = Lab(tmp_path, {**HARBOR, "environment/Dockerfile": dockerfile, "tests/Dockerfile": verifier,
                         "tests/test.sh": test,
                         "task.toml": text.replace("[verifier]\n", '[verifier]\nenvironment_mode = "separate"\n')})
    work = ("wc -l < text > count; touch other; mkdir -p /srv/out/a /srv/out/junk/x; echo deep > /srv/out/a/b; "
            "touch /srv/out/a/c.pyc /srv/out/junk/x/y; echo late > late")
    hostile = "ln -s /etc/shadow /srv/out/link; mkfifo /srv/out/pipe"
    right, again = lab.after(work, hostile, evaluations=2)
    assert right.total == again.total == 100.0, right
    (nothing,) = lab.after()
    assert (nothing.total, nothing.failed) == (0.0, False), nothing


def test_a_service_that_only_waits_is_a_host_that_the_agents_reaches_by_name(base: str, tmp_path: Path) -> None:
    compose = "services:\n  rows:\n    build: ./rows\n    command: sleep infinity\n"
    lab = Lab(tmp_path, with_base(HARBOR, base, **{
        "environment/docker-compose.yaml": compose,
        "environment/rows/Dockerfile": f"FROM {base}\nWORKDIR /rows\nRUN echo many > /rows/all\n"}))
    task, session = lab.entry.task, f"test-{new_id()}"
    asked = ("import time, urllib.request as u\nfor _ in range(50):\n try: print(u.urlopen('http://rows:5000/all')"
             ".read()); break\n except OSError: time.sleep(0.1)\n")

    async def scenario() -> bytes:
        images = await built_images(lab.catalogue, task, AgentSettings())
        main, rows = (open_sandbox("docker", session, host, tmp_path, images[host.name], home=HOME,
                                   links=HostLinks(has_peers=True)) for host in task.hosts)
        try:
            await main.start()
            await rows.start()
            await rows.terminals.open("serve")
            await rows.terminals.command("serve", "job", "python3 -m http.server 5000")
            return (await main.run(["python3", "-c", asked])).output
        finally:
            await main.remove()
            await rows.remove()

    assert asyncio.run(scenario()) == b"b'many\\n'\n"


def test_files_of_any_name_come_into_a_build_and_to_the_tests(base: str, tmp_path: Path) -> None:
    odd = (b"no utf-8 \xff", b"two\nlines", "right \u202e to left".encode(), b"n" * 255)
    test = ("test $(find /odd -mindepth 1 -print0 | tr -dc '\\0' | wc -c) = 4 && "
            "test -e /odd/$'no utf-8 \\xff' && test -e /tests/$'two\\nlines' && "
            "test $(cat /odd/* | wc -c) = 4 && echo 1 > /logs/verifier/reward.txt\n")
    lab = Lab(tmp_path, {**HARBOR, "environment/Dockerfile": f"FROM {base}\nCOPY odd /odd\nWORKDIR /app\n",
                         "tests/test.sh": test})
    for folder in ("environment/odd", "tests"):
        place = tmp_path / "tasks/one" / folder
        place.mkdir(exist_ok=True)
        for name in odd:
            (place / os.fsdecode(name)).write_bytes(b"x")
    (outcome,) = lab.after()
    assert outcome.total == 100.0, outcome


def test_the_whole_check_of_a_harbor_task_with_its_cheats(base: str, tmp_path: Path) -> None:
    test = ("cd /app && python3 -m pytest -q /tests/test_count.py\nif [ $? = 0 ]; then echo 1; else echo 0; fi "
            "> /logs/verifier/reward.txt\n")
    files = with_base(HARBOR, base, **{"tests/test.sh": test, "tests/test_count.py":
                      "def test_count():\n    assert open('/app/count').read().strip() == '2'\n"})
    lab = Lab(tmp_path, files)
    findings = prove(lab.entry, lab.catalogue, tmp_path, HOME)
    assert {f.check for f in findings} >= {"nothing", "hidden", "reference", "repeat", "cheat in general"}
    assert all(f.passed for f in findings), findings


def test_a_task_that_shows_its_tests_or_believes_its_agent_is_found_out(base: str, tmp_path: Path) -> None:
    test = "cp /app/verdict /logs/verifier/reward.txt # the agent's word\n"
    files = with_base(HARBOR, base, **{"tests/test.sh": test, "environment/leaked": test,
                      "solution/solve.sh": "echo 0.2 > /app/verdict\n"})
    files["environment/Dockerfile"] += "COPY leaked /app/.leaked\n"
    lab = Lab(tmp_path, files)
    found = {f.check: f for f in prove(lab.entry, lab.catalogue, tmp_path, HOME)}
    assert not found["hidden"].passed and "/app/.leaked" in found["hidden"].detail
    assert not found["reference"].passed and "20" in found["reference"].detail
    assert not found["nothing"].passed, "tests that leave no reward where nothing was done are a defect"


def test_terminal_benchs_first_form_is_scored_by_its_own_tests_as_root_of_a_copy(base: str, tmp_path: Path) -> None:
    mounted = TERMINAL_BENCH["docker-compose.yaml"].replace("volumes:\n", "volumes:\n      - ./tests:/app/tests\n")
    files = {**TERMINAL_BENCH, "Dockerfile": TERMINAL_BENCH["Dockerfile"].replace("base:1", base),
             "docker-compose.yaml": mounted}
    lab = Lab(tmp_path, files)
    lab.entry = closed(lab.entry)
    (right,) = lab.after("wc -l < text > count", "test $(id -u) != 0 && ! touch /root/x")
    assert (right.total, right.parts) == (100.0, {"passed": 2.0, "failed": 0.0}), right
    cheat = ("mkdir -p tests; for n in conftest.py tests/conftest.py; do echo 'import pytest\n"
             "def pytest_collection_modifyitems(items): items[:] = items[1:]' > $n; done; "
             "printf '[pytest]\\naddopts = --deselect tests/test_outputs.py::test_count\\n' > pytest.ini; "
             "chmod 000 text")
    (wrong,) = lab.after("echo 3 > count", cheat)
    assert (wrong.total, wrong.failed, wrong.parts) == (0.0, False, {"passed": 1.0, "failed": 1.0}), wrong


def closed(entry: CatalogueTask) -> CatalogueTask:
    """The task with a host that has no network."""
    host = msgspec.structs.replace(entry.task.hosts[0], network=False)
    return msgspec.structs.replace(entry, task=msgspec.structs.replace(entry.task, hosts=(host,)))


ATTEMPTS = """
mknod /tmp/disk b 8 0 && echo device
mount -t tmpfs x /mnt && echo mount
chroot / true && echo chroot
python3 -c "import socket; socket.create_connection(('1.1.1.1', 53), 2)" && echo network
test -e /var/run/docker.sock && echo engine
python3 -c "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)" && echo raw
echo 1 > /proc/sys/kernel/panic && echo kernel
cp /bin/sh /run/tiphys/sh && chmod 4755 /run/tiphys/sh && /run/tiphys/sh -c true && echo socket
"""


def test_root_tests_of_harbor_work_as_root_reach_nothing_and_the_agent_is_whom_the_task_names(
    base: str, tmp_path: Path
) -> None:
    dockerfile = (f"FROM {base}\nRUN echo first:x:1000:1000::/home/first:/bin/sh >> /etc/passwd && "
                  "echo li:x:1001:1001::/home/li:/bin/sh >> /etc/passwd && mkdir -p /home/li /srv/li && "
                  "echo x > /srv/li/own && chown -R 1001:1001 /home/li /srv/li\nWORKDIR /app\n")
    test = (f"got=$(\n{ATTEMPTS}\n)\ncase \"$got\" in *[a-z]*) echo got: $got; exit;; esac\n"
            "touch /usr/by-root && chown 77 /usr/by-root && "
            "test $(id -u) = 0 && test $HOME = /root && test $(stat -c %U /app/mine) = li && "
            "echo 1 > /logs/verifier/reward.txt\n")
    text = HARBOR["task.toml"].replace("[verifier]\n", '[verifier]\nuser = "root"\n')
    text = text.replace("[agent]\n", '[agent]\nuser = "li"\n')
    lab = Lab(tmp_path, {**HARBOR, "task.toml": text, "environment/Dockerfile": dockerfile, "tests/test.sh": test})
    (done,) = lab.after("test $(whoami) = li && echo more >> /srv/li/own && touch mine")
    assert done.total == 100.0, done
    missing = Lab(tmp_path / "b", {**HARBOR, "task.toml": text.replace('"li"', '"nobody-here"'),
                                   "environment/Dockerfile": f"FROM {base}\n"})
    with pytest.raises(ReportableError, match="has no user nobody-here"):
        missing.after()


def test_endless_terminals_runs_the_images_own_pytest(base: str, tmp_path: Path) -> None:
    lab = Lab(tmp_path, ENDLESS)
    with pytest.raises(NotFound) as missing:
        lab.after()
    assert "ubuntu:22.04" in missing.value.sentence and "container.def" in missing.value.sentence
    definition = ENDLESS["container.def"].replace("localimage", "docker").replace("./ubuntu_22.04.sif", base)
    (tmp_path / "tasks/one/container.def").write_text(definition)
    lab.entry = lab.catalogue.entries()[0]
    lab.entry = closed(lab.entry)
    (right,) = lab.after("printf done > /home/user/out")
    assert (right.total, right.parts) == (100.0, {"passed": 1.0}), right
    (wrong,) = lab.after("printf no > out; printf 'raise SystemExit(0)' > conftest.py")
    assert (wrong.total, wrong.failed) == (0.0, False), wrong


def test_a_dockerfile_that_fails_or_that_has_no_base_says_so(base: str, tmp_path: Path) -> None:
    broken = Lab(tmp_path / "a", {**HARBOR, "environment/Dockerfile": f"FROM {base}\nRUN echo broken-here; false\n"})
    with pytest.raises(ReportableError) as error:
        broken.after()
    assert error.value.code == "image_not_built" and "environment/Dockerfile" in error.value.sentence
    away = Lab(tmp_path / "b", {**HARBOR, "environment/Dockerfile": "FROM registry.invalid/none:1\n"})
    with pytest.raises(ReportableError) as error:
        away.after()
    assert error.value.code == "unknown_image" and "registry.invalid/none:1" in error.value.sentence


def test_a_build_has_no_network_that_the_host_has_not(base: str, tmp_path: Path) -> None:
    reach = "python3 -c 'import socket; socket.create_connection((\"1.1.1.1\", 53), 2)'"
    dockerfile = f"FROM {base}\nRUN ! {reach}\nRUN test ! -e /var/run/docker.sock\n"
    lab = Lab(tmp_path, {**HARBOR, "environment/Dockerfile": dockerfile})
    (outcome,) = lab.after()
    assert outcome.failed and "left no reward" in outcome.message


EVALUATION = """
import json, os
from evaluations.base.base_eval import BaseBenchmark
class TaskBenchmark(BaseBenchmark):
    def run_1(self):
        place = os.path.join(self.config.workspace, "data/outputs/answer.json")
        truth = json.load(open(os.path.join(self.config.eval_workspace, "task_30", "data/references/truth.json")))
        try:
            answers = json.load(open(place))
            assert len(answers) == len(truth)
        except (ValueError, AssertionError, OSError) as error:
            return {"error": f"answer.json has not the form asked for: {error!r}", "score": 0}
        right = sum(a == b for a, b in zip(answers, truth)) / len(truth) * 100
        print("noise of the evaluator")
        return {"error": None, "score": max(0.0, min(100.0, (right - 40) / (90 - 40) * 100)), "accuracy": right}
"""

def test_innovator_bench_checks_the_form_and_scores_from_baseline_to_reference(tmp_path: Path) -> None:
    need_engine()
    files = {**INNOVATOR, "evaluations/task_30/task/evaluation.py": EVALUATION, "evaluations/base/base_eval.py": BASE,
             "evaluations/task_30/task/config.py": CONFIG,
             "evaluations/task_30/data/references/truth.json": "[1,2,3,4,5]",
             "evaluations/task_99/task/evaluation.py": "raise SystemExit"}
    lab = Lab(tmp_path, files)
    with tarfile.open(tmp_path / "conda.tar", "w") as tar:
        info = tarfile.TarInfo("bin/tool")
        info.size = 3
        tar.addfile(info, io.BytesIO(b"yes"))
    (tmp_path / "tasks/one/conda/task_30").mkdir(parents=True)
    shutil.move(tmp_path / "conda.tar", tmp_path / "tasks/one/conda/task_30/conda.tar")
    lab.entry = next(e for e in lab.catalogue.entries() if e.task.id == "one-task_30")
    host = msgspec.structs.replace(lab.entry.task.hosts[0], cpus=1, memory_mb=512, disk_mb=1024)
    lab.entry = msgspec.structs.replace(lab.entry, task=msgspec.structs.replace(lab.entry.task, hosts=(host,)))
    (nothing,) = lab.after("cat task/scripts/train.py data/train.json && test $(cat conda/bin/tool) = yes",
                           "! ls -d evaluations")
    assert (nothing.total, nothing.reason) == (0.0, "not_handed_in")

    def answered(text: str) -> Outcome:
        return lab.after(f"mkdir -p data/outputs; echo '{text}' > data/outputs/answer.json")[0]

    formless, between = answered("[1]"), answered("[1,2,3,9,9]")
    assert formless.total == 0.0 and "not the form" in formless.message
    assert (between.total, between.parts) == (40.0, {"accuracy": 60.0})
    assert answered("[1,2,3,4,5]").total == 100.0, "better than the reference is not more"


def test_a_submission_of_500_megabytes_is_scored_in_little_memory(tmp_path: Path) -> None:
    need_engine()
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests")))}
    done = subprocess.run([sys.executable, str(ROOT / "tests/support/large_hand_in.py"), str(tmp_path), "100", "500"],
                          env=env, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["total"], found["parts"], found["stored"]) == (100.0, {"megabytes": 500.0}, 0), found
    assert found["peak_mb"] < 300, "600 MB went through"


SCRIPT = """
pace_s = 0.0
[[turn]]
thought = "I count the lines."
[[turn.calls]]
tool = "run_command"
[turn.calls.arguments]
command = "wc -l < text > count; pwd"
session_id = "main"
wait_for_completion = true
[[turn]]
thought = "Done."
[[turn.calls]]
tool = "finish"
"""


def test_a_whole_session_of_a_harbor_task(base: str, tmp_path: Path) -> None:
    """The server asks for the word first; then a real runner builds, starts the service, works, has the tests run when
    it stopped, in a copy that reaches the service, and ends all of it."""
    asked = "python3 -c \"import urllib.request as u; u.urlopen('http://web:8080/')\"\n"
    write_folder(tmp_path / "tasks/one", with_base(HARBOR, base, **{
        "tests/test.sh": f"set -e\n{asked}{HARBOR['tests/test.sh']}", "environment/docker-compose.yaml":
        f"services:\n  web:\n    image: {base}\n    working_dir: /srv\n    command: python3 -m http.server 8080\n"}))
    agent = AgentSettings(model=ModelSettings(kind="scripted", script=SCRIPT))

    async def scenario() -> tuple[object, object]:
        async with (serving(tmp_path, supervise=True) as server,
                    raw_peer(server.url, account(tmp_path, "li", "admin")) as peer):
            start = CreateSession(task="one", agent=agent)
            first = await peer.ask(Command(id="m1", cseq=1, session="s1", op=start))
            catalogue = Catalogue.of(tmp_path)
            entry = catalogue.find("one")
            rights = rights_of(entry.task, entry.agent)
            Allowances(tmp_path / "allowed").allow_task("one", catalogue.digest("one"), rights)
            second = await peer.ask(Command(id="m2", cseq=2, session="s2", op=start))
            await until(lambda: log.row(server.hub.reader, "s2").state in FINAL_STATES, "ended", seconds=100)
            while await unfinished(str(tmp_path), ["s2"]):  # all of it is ended; a test has its own limit of time
                await asyncio.sleep(0.2)
            return first, second

    first, second = asyncio.run(scenario())
    assert isinstance(first, Nak) and first.code == "task_not_allowed" and "environment" in first.sentence
    assert "its service web runs the programs of its image" in first.sentence
    assert isinstance(second, Ack)
    with contextlib.closing(connect(tmp_path / "server.db", readonly=True)) as conn:
        row = log.row(conn, "s2")
        facts = [decode_event(p.body).fact for p in log.read_all(conn, "s2")]
    scores = [fact for fact in facts if isinstance(fact, ScoreGiven)]
    assert (row.state, row.score) == ("finished", 100.0), (row, scores)
    assert all(NotSaved(kind="service", what="web") in f.not_saved for f in facts if isinstance(f, SnapshotTaken))
    for session in ("s1", "s2"):
        asyncio.run(remove(str(tmp_path), [session], []))


def test_an_image_without_python_is_worked_in_looked_through_and_scored(base: str, tmp_path: Path) -> None:
    test = "test $(cat count) = 2 && ! command -v python3 && echo 1 > /logs/verifier/reward.txt\n"
    dockerfile = f"FROM {base}\nRUN rm /usr/bin/python3*\nWORKDIR /app\nCOPY text text\n"
    lab = Lab(tmp_path, {**HARBOR, "environment/Dockerfile": dockerfile, "tests/test.sh": test})
    found = {f.check: f.passed for f in prove(lab.entry, lab.catalogue, tmp_path, HOME)}
    assert found.pop("nothing") is False, "a test that leaves no reward"
    assert found and all(found.values()), found


@pytest.mark.parametrize(("command", "bound", "word"), [
    ("sleep 1000", {}, "does not end within 1 s"),
    ("while :; do sleep 0.2; echo x; done", {}, "does not end"),
    ("yes", {"MOST_PRINTED": 1 << 16}, "prints more than"),
    ("cat /dev/zero > /large & sleep 1000", {"LEAST_FREE": 1 << 60}, "GiB are left"),
])
def test_a_build_that_goes_on_and_on_is_ended_with_what_it_runs(
    base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, bound: dict[str, float], word: str
) -> None:
    monkeypatch.setattr(built_image, "LOOK_S", 0.2)
    for name, value in bound.items():
        monkeypatch.setattr(built_image, name, value)
    mark = new_id()
    config = HARBOR["task.toml"] if bound else HARBOR["task.toml"].replace("sec = 600.0", "sec = 1.0")
    lab = Lab(tmp_path, {**HARBOR, "task.toml": config,
                         "environment/Dockerfile": f"FROM {base}\nRUN : {mark}; {command}\n"})
    with pytest.raises(ReportableError, match=word) as error:
        lab.after()
    assert error.value.code == "image_not_built"
    until_gone(mark)


def until_gone(mark: str) -> None:
    """The engine ends what it built with soon after its client is gone."""
    for _ in range(100):
        found = subprocess.run(["pgrep", "-f", mark], capture_output=True, text=True, check=False).stdout.split()
        if not [pid for pid in found if Path(f"/proc/{pid}").exists()]:
            return
        time.sleep(0.1)
    raise AssertionError("what the build ran goes on")


def test_tests_that_fill_the_disk_are_ended_and_score_nothing(
    base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_watch, "LOOK_S", 0.2)
    monkeypatch.setattr(disk_watch, "SHARE", 0)
    test = "for n in $(seq 1000); do head -c 40000000 /dev/zero > /app/$n; sleep 0.1; done\n"
    files = with_base(HARBOR, base, **{"tests/test.sh": test})
    files["task.toml"] = files["task.toml"].replace("storage_mb = 4096", "storage_mb = 100")
    (outcome,) = Lab(tmp_path, files).after()
    assert outcome.failed and "its task allows 100" in outcome.message, outcome


def test_an_image_is_built_anew_when_its_base_has_changed_and_found_when_the_base_is_gone(
    base: str, tmp_path: Path
) -> None:
    own = f"tiphys-test-base:changing-{new_id()[-8:]}"
    dockerfile = f"FROM {own}\nRUN cp /version /seen\nWORKDIR /app\nCOPY text text\n"
    lab = Lab(tmp_path, {**HARBOR, "environment/Dockerfile": dockerfile,
                         "tests/test.sh": "cat /seen > /logs/verifier/reward.txt\n"})

    def made_of(version: str) -> Outcome:
        with closing(open_engine()) as engine:
            if version:
                text = io.BytesIO(f"FROM {base}\nRUN echo {version} > /version\n".encode())
                engine.images.build(fileobj=text, tag=own, network_mode="none", rm=True)
            else:
                engine.images.remove(own, noprune=True)
        return lab.after()[0]

    assert [made_of(version).total for version in ("0.2", "0.6", "")] == [20.0, 60.0, 60.0]
