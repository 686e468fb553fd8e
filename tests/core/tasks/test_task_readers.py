"""Task folders of other programs: what is read of them, and what they ask for that is refused by its name."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.foreign_tasks import ENDLESS, HARBOR, INNOVATOR, TERMINAL_BENCH
from support.tasks import write_folder

from core.domain.errors import InvalidInput
from core.domain.host_rights import rights_of
from core.domain.task import Data, Health, start_order
from core.tasks import readers
from core.tasks.catalogue import READERS, Catalogue, reader_of
from core.tasks.dockerfile import Dockerfile


def catalogue_of(tmp_path: Path, files: dict[str, str], name: str = "one") -> Catalogue:
    write_folder(tmp_path / "tasks" / name, files)
    return Catalogue([tmp_path / "tasks"])


def test_every_module_of_readers_is_found() -> None:
    modules = {p.stem for p in Path(readers.__file__).parent.glob("*.py")} - {"__init__"}
    assert {one.name for one in READERS} == modules


def test_harbor(tmp_path: Path) -> None:
    (entry,) = catalogue_of(tmp_path, HARBOR).entries()
    task, (host,) = entry.task, entry.task.hosts
    assert (entry.reader, task.id, task.title) == ("harbor", "one", "count-lines: Counts lines.")
    assert (task.domain, task.difficulty, task.limits.wall_s, task.limits.evaluations) == ("text", "easy", 900.0, 0)
    assert (host.build, host.bases, host.workdir) == ("environment", ("base:1",), "/app")
    assert (host.cpus, host.memory_mb, host.disk_mb, host.network) == (2.0, 3072, 4096, False)
    assert (task.evaluator.kind, task.evaluator.script, task.evaluator.timeout_s) == ("tests", "tests/test.sh", 60.0)
    assert entry.proof.solution == "solution/solve.sh" and task.description.startswith("Count the lines")
    assert {(r.kind, r.name) for r in rights_of(task, entry.agent)} == {
        ("image", "base:1"), ("build", "environment"), ("build_network", "environment"),
        ("root_tests", "tests/test.sh")}


def test_endless_terminals_as_generated_and_as_converted(tmp_path: Path) -> None:
    (entry,) = catalogue_of(tmp_path, ENDLESS).entries()
    assert (entry.reader, entry.task.hosts[0].bases, entry.task.hosts[0].workdir) == (
        "endless", ("ubuntu:22.04",), "/home/user")
    assert entry.task.evaluator.script == "test_final_state.py" and "truth" not in entry.task.description
    converted = {**HARBOR, "tests/test_final_state.py": ENDLESS["test_final_state.py"]}
    (entry,) = catalogue_of(tmp_path / "b", converted).entries()
    assert (entry.reader, entry.task.evaluator.script) == ("endless", "tests/test_final_state.py")


@pytest.mark.parametrize(("artifacts", "is_read"), [
    ('["/app/report.json", "out", "/app"]', True), ('["/etc/passwd"]', False), ('["../x"]', False),
    ('["/application"]', False), ('[{ source = "/app/x", destination = "y" }]', False)])
def test_harbors_artifacts_are_read_where_the_last_snapshot_holds_them(tmp_path: Path, artifacts: str,
                                                                       is_read: bool) -> None:
    text = HARBOR["task.toml"].replace("artifacts = []", f"artifacts = {artifacts}")
    catalogue = catalogue_of(tmp_path, {**HARBOR, "task.toml": text})
    assert bool(catalogue.entries()) is is_read
    assert is_read or "artifacts" in catalogue.problems()[0].sentence


def test_innovator_bench(tmp_path: Path) -> None:
    more = {"gym/task_31/task/task_description.md": "Two.", "evaluations/task_31/task/evaluation.py": "",
            "evaluations/task_31/task/config.py": "", "conda/task_31/conda.tar": ""}
    entries = {e.task.id: e.task for e in catalogue_of(tmp_path, {**INNOVATOR, **more}, "set").entries()}
    task = entries["set-task_30"]
    assert (task.title, task.workspace, task.packages) == ("task_30: Learn to add", "gym/task_30", "")
    assert (task.limits.wall_s, task.limits.steps, task.limits.evaluations) == (3600, 50, 3)
    assert (task.evaluator.kind, task.evaluator.submission) == ("benchmark", ("data/outputs",))
    assert entries["set-task_31"].packages == "conda/task_31/conda.tar"


def test_a_folder_of_folders_and_one_of_no_task(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_folder(tmp_path / "tasks/dataset" / name, HARBOR)
    write_folder(tmp_path / "tasks/notes", {"README.md": "no task"})
    assert [e.task.id for e in Catalogue([tmp_path / "tasks"]).entries()] == ["a", "b"]
    assert reader_of(tmp_path / "tasks/notes") is None


def test_our_own_folder_may_call_its_description_as_harbor_does(tmp_path: Path) -> None:
    files = {"task.toml": 'id = "mine"\ntitle = "Mine"\ndescription = "instruction.md"\n', "instruction.md": "Do it.\n"}
    (entry,) = catalogue_of(tmp_path, files).entries()
    assert (entry.reader, entry.task.description) == ("tiphys", "Do it.")


def test_terminal_benchs_first_form(tmp_path: Path) -> None:
    (entry,) = catalogue_of(tmp_path, TERMINAL_BENCH).entries()
    task, (host,) = entry.task, entry.task.hosts
    assert (entry.reader, task.description) == ("terminal_bench", "Count the lines of /app/text into /app/count.")
    assert (host.build, host.bases, host.workdir, host.network) == (".", ("base:1",), "/app", True)
    assert (task.evaluator.script, task.evaluator.as_root, task.evaluator.tests_at) == ("run-tests.sh", True, "")
    assert (task.limits.wall_s, task.evaluator.timeout_s, entry.proof.solution) == (900.0, 90.0, "solution.sh")
    assert [right.kind for right in rights_of(task, entry.agent)] == ["root_tests", "image", "build", "network"]
    mounted = TERMINAL_BENCH["docker-compose.yaml"].replace("volumes:\n", "volumes:\n      - ./tests:/app/tests:ro\n")
    several = "descriptions:\n  - {key: hints, description: easy}\n  - {key: base, description: hard}\n"
    (entry,) = catalogue_of(tmp_path / "b", {**TERMINAL_BENCH, "docker-compose.yaml": mounted,
                                             "task.yaml": several}).entries()
    assert (entry.task.evaluator.tests_at, entry.task.description) == ("/app/tests", "hard")


@pytest.mark.parametrize(("name", "old", "new", "words"), [
    ("task.yaml", "parser_name: pytest", "parser_name: swebench", "parser_name: swebench"),
    ("task.yaml", "same_shell: false", "same_shell: true", "run_tests_in_same_shell"),
    ("task.yaml", "instruction: |-", "was: |-", "there is no instruction"),
    ("task.yaml", "instruction: |-", "instruction: !!python/object/apply:os.system |-", "task.yaml is no YAML"),
    ("task.yaml", "instruction: |-", "a: &a [x, x]\nb: [*a, *a]\ninstruction: |-", "refers back to parts of itself"),
    ("task.yaml", "instruction: |-", f"a: {'[' * 50_000}\ninstruction: |-", "nested more than 20 deep"),
    ("task.yaml", "instruction: |-", f"a: {'1:' * 100_000}1\ninstruction: |-", "more than 128 KiB"),
    ("docker-compose.yaml", "services:", "services:\n  other:\n    image: x", "more than one service"),
    ("docker-compose.yaml", "services:", "networks: {a: {}}\nservices:", "networks"),
    ("docker-compose.yaml", "sleep infinity", "python serve.py", "command python serve.py"),
    ("docker-compose.yaml", "      - TEST_DIR", "      - KEY=${OPENAI_API_KEY}\n      - TEST_DIR", "environment KEY"),
    ("docker-compose.yaml", "    volumes:", "    privileged: true\n    volumes:", "privileged = True"),
    ("docker-compose.yaml", "    volumes:", "    volumes:\n      - /:/host", "the volume /:/host"),
    ("docker-compose.yaml", "    volumes:", "    volumes:\n      - .:/app", "the volume .:/app"),
    ("docker-compose.yaml", "    volumes:", "    volumes:\n      - ./tests:/etc", "evaluator.tests_at"),
    ("docker-compose.yaml", "dockerfile: Dockerfile", "context: https://h/x.git", "build = "),
    ("Dockerfile", "COPY text", "COPY --from=$X text", "Dockerfile, line 3"),
    ("docker-compose.yaml", "    image:", "    working_dir: /etc\n    image:", "hosts.workdir"),
])
def test_what_terminal_benchs_first_form_may_not_ask_for_is_named(tmp_path: Path, name: str, old: str, new: str,
                                                                  words: str) -> None:
    files = {**TERMINAL_BENCH, name: TERMINAL_BENCH[name].replace(old, new, 1)}
    (problem,) = catalogue_of(tmp_path, files).problems()
    assert words in problem.sentence and str(tmp_path / "tasks/one") in problem.sentence


@pytest.mark.parametrize(("line", "image", "is_root"), [
    ('user = "root"', "USER lab\n", True), ("user = 0", "", True), ("", "", True), ("", "USER lab\n", False),
    ('user = "li"', "", False),
])
def test_whom_harbors_tests_run_as(tmp_path: Path, line: str, image: str, is_root: bool) -> None:
    text = HARBOR["task.toml"].replace("[verifier]\n", f"[verifier]\n{line}\n")
    text = text.replace("[agent]\n", '[agent]\nuser = "li"\n').replace("gpus = 0", "gpus = 8")
    (entry,) = catalogue_of(tmp_path, {**HARBOR, "task.toml": text, "environment/Dockerfile":
                                       HARBOR["environment/Dockerfile"] + image}).entries()
    assert entry.task.evaluator.as_root is is_root
    assert (entry.task.hosts[0].user, entry.task.hosts[0].gpus) == ("li", 8)


DOCKERFILES = [
    ("RUN --mount=type=bind,source=/,target=/host cat /host/etc/shadow", "RUN --mount=type=bind"),
    ("RUN --security=insecure mount", "RUN --security=insecure"),
    ("RUN --network=host curl 127.0.0.1", "RUN --network=host"),
    ("RUN --device=/dev/kmsg true", "RUN --device"),
    ("ADD http://169.254.169.254/latest/meta-data /m", "the address http://169.254"),
    ("ADD git@github.com:a/b.git /m", "the address git@"),
    ("ADD [\"https://h/x\", \"/x\"]", "the address https://"),
    ("ADD $U /m", "ADD of $U, which may be an address"),
    ("ADD [\"${U}\", \"/m\"]", "ADD of ${U}, which may be an address"),
    ("COPY ../../../etc/passwd /p", "which lies outside"),
    ("COPY --chmod=4755 a /a", "COPY --chmod"),
    ("COPY --from=$X a /a", "neither an earlier stage nor an image"),
    ("COPY <<EOF /a\nx\nEOF", "COPY of a heredoc"),
    ("VOLUME /data", "VOLUME: what lies in a volume"),
    ("ONBUILD RUN true", "ONBUILD: it would run in later builds"),
    ("ENTRYPOINT [\"/entrypoint.sh\"]", "ENTRYPOINT /entrypoint.sh"),
    ("CMD python3 server.py", "CMD python3 server.py"),
    ("INCLUDE other", "INCLUDE"),
    ("FROM base:1 $(id)", ""),
    ("FROM --platform=windows/amd64 base", "the platform windows"),
    ("FROM ../escape", "no image has that name"),
    ("RUN cat <<EOF\nno end", "a heredoc without its end"),
]


@pytest.mark.parametrize(("line", "words"), [case for case in DOCKERFILES if case[1]])
def test_what_a_dockerfile_may_not_ask_for_is_named_with_its_line(tmp_path: Path, line: str, words: str) -> None:
    files = {**HARBOR, "environment/Dockerfile": f"FROM base:1\n\n# a comment\n{line}\n"}
    (problem,) = catalogue_of(tmp_path, files).problems()
    assert words in problem.sentence and "task.toml" in problem.sentence
    assert "line 4" in problem.sentence or "heredoc without" in words


@pytest.mark.parametrize(("head", "words"), [("# syntax=evil/frontend:1", "the builder evil/frontend"),
                                             ("# escape=`", "escape=`"), ("RUN true", "before the first FROM")])
def test_what_a_dockerfile_may_not_begin_with(tmp_path: Path, head: str, words: str) -> None:
    (problem,) = catalogue_of(tmp_path, {**HARBOR, "environment/Dockerfile": f"{head}\nFROM base\n"}).problems()
    assert words in problem.sentence


@pytest.mark.parametrize(("table", "line", "words"), [
    ("environment", 'env = { KEY = "${OPENAI_API_KEY}" }', "[environment] env"),
    ("environment", 'gpu_types = ["H100"]', "[environment] gpu_types"),
    ("environment", 'mcp_servers = [{ name = "m", url = "http://h" }]', "[environment] mcp_servers"),
    ("environment", 'skills_dir = "/root"', "[environment] skills_dir"),
    ("environment", 'os = "windows"', "only Linux"),
    ("environment", 'privileged = true', "[environment] privileged is no field"),
    ("environment", 'workdir = "/etc"', "hosts.workdir"),
    ("environment", 'workdir = "/usr/bin"', "hosts.workdir"),
    ("environment", 'workdir = "/app/../etc"', "hosts.workdir"),
    ("verifier", 'env = { KEY = "${SECRET}" }', "[verifier] env: KEY = ${SECRET} asks for a variable of the server"),
    ("verifier", 'env = { "K=Y" = "a" }', "evaluator.environment"), ("verifier", 'env = ["A"]', "is no table of texts"),
    ("verifier", 'collect = ["/app/count"]', "[[verifier.collect]]: /app/count is no command"),
    ("verifier", 'collect = [{ command = "a", service = "db" }]', "[[verifier.collect]]: service = db"),
    ("verifier", 'collect = [{ command = "a", user = "root" }]', "[[verifier.collect]]: user = root"),
    ("verifier", 'collect = [{ command = "a", timeout_sec = 1e6 }]', "evaluator.collects.timeout_s"),
    ("verifier", 'user = "other"', "[verifier] user = other"),
    ("verifier", 'environment_mode = "own"', "environment_mode = own"),
    ("verifier", 'environment_mode = "shared"\nenvironment = { cpus = 1 }', "do not agree"),
    ("verifier", 'environment = { docker_image = "v:1", env = { A = "${B}" } }', "[verifier.environment] env"),
    ("verifier", 'network_mode = "public"', "[verifier] network_mode = public"),
    ("agent", 'network_mode = "allowlist"\nallowed_hosts = ["10.0.0.0/8"]', "hosts.reach"),
    ("agent", 'user = "root"', "hosts.user"),
    ("solution", 'env = { A = "b" }', "[solution] env"),
])
def test_what_a_harbor_task_may_not_ask_for_is_named(tmp_path: Path, table: str, line: str, words: str) -> None:
    text = HARBOR["task.toml"].replace("gpus = 0\n", "").replace("mcp_servers = []\n", "") + "\n[solution]\n"
    text = text.replace(f"[{table}]\n", f"[{table}]\n{line}\n")
    (problem,) = catalogue_of(tmp_path, {**HARBOR, "task.toml": text}).problems()
    assert words in problem.sentence and str(tmp_path / "tasks/one") in problem.sentence


VERIFIER = "FROM verify:1\nWORKDIR /check\nCOPY . /tests/\n"


def with_verifier(lines: str, artifacts: str = '"count"', **more: str) -> dict[str, str]:
    text = HARBOR["task.toml"].replace("artifacts = []", f"artifacts = [{artifacts}]")
    return {**HARBOR, "task.toml": text.replace("[verifier]\n", f'[verifier]\nenvironment_mode = "separate"\n{lines}'),
            **more}


def test_variables_commands_and_exceptions_of_a_verifier_are_its_own(tmp_path: Path) -> None:
    lines = ('env = { LEVEL = "3" }\ncollect = [{ command = "git diff > /app/count" }, { command = "true", service = '
             '"main", timeout_sec = 5 }]\n')
    files = with_verifier(lines, '"count", { source = "/srv/out", exclude = ["*.pyc", "cache/*"] }',
                          **{"tests/Dockerfile": VERIFIER})
    files["task.toml"] = files["task.toml"].replace("[environment]\n", '[environment]\nenv = { LANG = "C" }\n')
    (entry,) = catalogue_of(tmp_path, files).entries()
    evaluator = entry.task.evaluator
    assert (evaluator.environment, entry.task.hosts[0].environment) == ({"LEVEL": "3"}, {"LANG": "C"})
    assert [(one.command, one.timeout_s) for one in evaluator.collects] == [("git diff > /app/count", 60), ("true", 5)]
    assert evaluator.left_out == {"/srv/out": ("*.pyc", "cache/*")}


def test_harbors_separate_verifier_is_a_host_of_the_tests(tmp_path: Path) -> None:
    both = '"count", { source = "/srv/out", destination = "out", service = "main" }'
    (own,) = catalogue_of(tmp_path / "a", with_verifier("", both, **{"tests/Dockerfile": VERIFIER})).entries()
    evaluator, host = own.task.evaluator, own.task.evaluator.host
    assert host and (host.build, host.bases, host.workdir, host.user) == ("tests", ("verify:1",), "/check", "")
    assert (evaluator.submission, evaluator.tests_within, evaluator.as_root) == (
        ("/logs/artifacts", "/app/count", "/srv/out"), True, True)
    assert (host.cpus, host.memory_mb, host.build_s, host.network) == (2.0, 3072, 600.0, False)
    assert {(r.kind, r.name) for r in rights_of(own.task, own.agent)} >= {("image", "verify:1"), ("build", "tests")}
    lines = 'user = "judge"\nenvironment = { docker_image = "v:2", memory_mb = 512, network_mode = "no-network" }\n'
    (image,) = catalogue_of(tmp_path / "b", with_verifier(lines, **{"tests/Dockerfile": VERIFIER})).entries()
    evaluator, host = image.task.evaluator, image.task.evaluator.host
    assert host and (host.image, host.build, host.memory_mb, host.user) == ("v:2", "", 512, "judge")
    assert (evaluator.tests_within, evaluator.as_root) == (True, False)
    (same,) = catalogue_of(tmp_path / "c", with_verifier('network_mode = "allowlist"\nallowed_hosts = ["PyPI.org"]\n')
                           ).entries()
    evaluator, host = same.task.evaluator, same.task.evaluator.host
    assert host and (host.name, host.build, host.reach) == ("verifier", "environment", ("pypi.org",))
    assert not evaluator.tests_within


@pytest.mark.parametrize(("artifact", "words"), [
    ('"/tests/x"', "artifacts: /tests/x cannot be handed over"), ('"/logs/verifier"', "cannot be handed over"),
    ('"/"', "cannot be handed over"), ('"/usr/bin/x"', "cannot be handed over"),
    ('"../../etc"', "cannot be handed over"),
    ('{ source = "count", exclude = "a" }', "artifacts: exclude = a is no list of patterns"),
    ('{ source = "/x", service = "db" }', "artifacts: service = db"), ('3', "artifacts: 3 is no path"),
])
def test_what_may_not_be_handed_over_is_named(tmp_path: Path, artifact: str, words: str) -> None:
    (problem,) = catalogue_of(tmp_path, with_verifier("", artifact)).problems()
    assert words in problem.sentence


COMPOSE = """
services:
  main:
    build: {context: "${CONTEXT_DIR}"}
    command: ["sh", "-c", "sleep infinity"]
    depends_on: {data: {condition: service_started}}
  data:
    build: ./data
    expose: ["5000"]
"""


@pytest.mark.parametrize("name", ["docker-compose.yaml", "docker-compose.yml"])
def test_services_that_only_wait_are_hosts_beside(tmp_path: Path, name: str) -> None:
    (entry,) = catalogue_of(tmp_path, {**HARBOR, f"environment/{name}": COMPOSE,
                                       "environment/data/Dockerfile": "FROM other:1\nWORKDIR /rows\n"}).entries()
    main, data = entry.task.hosts
    assert (main.name, data.name, entry.task.peers) == ("main", "data", True)
    assert (data.build, data.bases, data.workdir, data.cpus) == ("environment/data", ("other:1",), "/rows", 2.0)
    assert ("image", "other:1") in {(r.kind, r.name) for r in rights_of(entry.task, entry.agent)}


@pytest.mark.parametrize(("old", "new", "words"), [
    ("    command:", "    privileged: true\n    command:", "services.main.privileged = True"),
    ("    command:", "    volumes: ['/:/host']\n    command:", "services.main.volumes"),
    ("${CONTEXT_DIR}", "/etc", "services.main.build"),
    ("sleep infinity", "python3 serve.py", "command python3 serve.py"),
    ("build: ./data", "build: ../../etc", "services.data.build.context = ../../etc"),
    ("build: ./data", "build: {context: ./data, network: host}", "services.data.build"),
    ("build: ./data", "image: ''", "services.data.image =  names no image"),
    ("    expose:", "    image: a\n    environment: [KEY]\n    expose:", "services.data.environment.KEY"),
    ("    expose:", "    environment: {A: '${HOME}'}\n    expose:", "asks for a variable of the server"),
    ("    expose:", "    volumes: ['/etc:/x:ro']\n    expose:", "services.data.volumes = /etc:/x:ro"),
    ("    expose:", "    volumes: ['./../../x:/x:ro']\n    expose:", "services.data.volumes = ./../../x:/x:ro"),
    ("    expose:", "    restart: hourly\n    expose:", "services.data.restart = hourly"),
    ("    expose:", "    healthcheck: {test: [NONE]}\n    expose:", "services.data.healthcheck.test"),
    ("    expose:", "    healthcheck: {test: a, interval: soon}\n    expose:", "must be a span such as 1m30s"),
    ("    expose:", "    hostname: other\n    expose:", "services.data.hostname = other"),
    ("{data: {", "{gone: {", "depends_on = gone names no service"),
    ("service_started", "service_completed_successfully", "what only waits never ends"),
    ("expose:", "ports:", "services.data.ports"), ("services:", "networks: {a: {}}\nservices:", "networks"),
    ("service_started", "service_gone", "the condition {'condition': 'service_gone'}"),
])
def test_what_a_service_may_not_ask_for_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    files = {**HARBOR, "environment/docker-compose.yaml": COMPOSE.replace(old, new, 1),
             "environment/data/Dockerfile": "FROM other:1\n", "environment/served/Dockerfile":
             "FROM other:1\nCMD [\"python3\", \"serve.py\"]\n"}
    (problem,) = catalogue_of(tmp_path, files).problems()
    assert words in problem.sentence and str(tmp_path / "tasks/one") in problem.sentence


@pytest.mark.parametrize(("text", "words"), [
    ("services: [1]", "services is '[1]' and must be a table of services"),
    ("services: 3", "services is '3' and must be"),
    ("services: {a: [1]}", "services.a is '[1]' and must be a table"),
    ("services: {main: 3}", "services.main is '3' and must be a table"),
    ("services: {main: {depends_on: {b: 3}}}", "services.main.depends_on.b is '3' and must be a table"),
    ("services: {main: {depends_on: 3}}", "services.main.depends_on is '3' and must be a table"),
    ("services: {main: {command: 3}}", "command is '3' and must be a text or a list"),
    ("services: {main: {environment: 3}}", "services.main.environment is '3' and must be a table"),
    ("services: {a: {image: b, environment: {c: [1]}}}", "services.a.environment.c is '[1]' and must be a text"),
    ("services: {a: {image: b, command: {c: 1}}}", "services.a.command is"),
    ("services: {a: {image: b, command: 'c \"'}}", "is no command"),
    ("services: {a: {image: b, volumes: 3}}", "services.a.volumes is '3' and must be a list"),
    ("services: {a: {image: b, healthcheck: 3}}", "services.a.healthcheck is '3' and must be a table"),
    ("services: {a: {image: b, healthcheck: {test: c, retries: [1]}}}", "retries is '[1]' and must be a number"),
    ("services: {a: {build: [1], image: [1]}}", "services.a.image is '[1]' and must be a text"),
    ("services: {a: {build: [1]}}", "services.a.build = [1]"),
    ("[1]", "holds no table"),
    ("services: {3: {image: a, command: sleep infinity, tty: 1}, '../x': {image: a}}", "name"),
])
@pytest.mark.parametrize(("base", "name"), [("harbor", "environment/docker-compose.yaml"),
                                            ("terminal_bench", "docker-compose.yaml")])
def test_a_compose_file_of_another_shape_is_named_in_plain_words(tmp_path: Path, base: str, name: str, text: str,
                                                                 words: str) -> None:
    (problem,) = catalogue_of(tmp_path, {**(HARBOR if base == "harbor" else TERMINAL_BENCH), name: text}).problems()
    assert "docker-compose.yaml" in problem.sentence or words == "name"
    assert "attribute" not in problem.sentence and "NoneType" not in problem.sentence
    assert base != "harbor" or words in problem.sentence


SERVED = """
services:
  main:
    depends_on: {web: {condition: service_healthy}, seed: {condition: service_completed_successfully}}
    environment: [WEB=http://web:80]
  web:
    build: {context: ./web}
    environment: {PORT: 80, MONEY: $$5, LOUD: true}
    depends_on: [db]
    healthcheck: {test: [CMD, curl, -f, localhost], interval: 1m30s, timeout: 500ms, retries: 5, start_period: 2}
    restart: on-failure:3
  db:
    image: postgres:16
    command: -c "shared_buffers=1 MB"
    user: 70
    volumes: [./rows.sql:/docker-entrypoint-initdb.d/rows.sql:ro]
    healthcheck: {test: pg_isready -U postgres}
  seed:
    image: seeds
    entrypoint: [/bin/seed, "7"]
    depends_on: {db: {condition: service_healthy}}
"""


def test_services_with_programs_run_beside_the_agents_host(tmp_path: Path) -> None:
    (entry,) = catalogue_of(tmp_path, {
        **HARBOR, "environment/docker-compose.yaml": SERVED, "environment/rows.sql": "select 1;",
        "environment/web/Dockerfile": "FROM other:1\nHEALTHCHECK --interval=5s CMD true\nCMD [\"python3\", \"-m\", "
                                      "\"http.server\"]\n"}).entries()
    task = entry.task
    web, db, seed = task.services
    assert [host.name for host in task.hosts] == ["main"] and task.hosts[0].environment == {"WEB": "http://web:80"}
    assert (web.build, web.bases, web.environment) == ("environment/web", ("other:1",),
                                                       {"PORT": "80", "MONEY": "$5", "LOUD": "true"})
    assert (web.program.after, web.program.restarts, web.program.ends) == ({"db": "started"}, "failed", False)
    assert web.program.health == Health(command=("curl", "-f", "localhost"), every_s=90, timeout_s=0.5, retries=5,
                                        begins_s=2)
    assert (db.image, db.program.command, db.program.user) == ("postgres:16", ("-c", "shared_buffers=1 MB"), "70")
    assert db.data == (Data(source="environment/rows.sql", target="/docker-entrypoint-initdb.d/rows.sql"),)
    assert db.program.health.command == ("/bin/sh", "-c", "pg_isready -U postgres")
    assert (seed.program.entrypoint, seed.program.after, seed.program.ends) == (("/bin/seed", "7"), {"db": "healthy"},
                                                                                True)
    assert [one.name for one in start_order(task.services)].index("seed") > 0
    assert {r.name for r in rights_of(task, entry.agent) if r.kind == "service"} == {"web", "db", "seed"}
    plain = Dockerfile((entry.folder / "environment/web/Dockerfile").read_text(), "Dockerfile", is_service=True).plain()
    assert b'CMD ["python3"' in plain and b"HEALTHCHECK --interval=5s CMD true" in plain


@pytest.mark.parametrize(("old", "new", "words"), [
    ("  db:\n", "  db:\n    depends_on: [web]\n", "without a circle"),
    ("user: 70", "user: '../x'", "services.db.program.user"), ("[WEB=", "[W B=x, WEB=", "hosts.environment"),
    ("retries: 5", "retries: 5000", "services.web.program.health.retries of a task cannot be '5000'"),
    ("interval: 1m30s", "interval: 2h", "services.web.program.health.every_s of a task cannot be '7200.0'"),
    ("rows.sql:/docker-entrypoint-initdb.d", "rows.sql:/etc/x", "hosts.data.target"),
])
def test_what_services_may_not_be_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    (problem,) = catalogue_of(tmp_path, {
        **HARBOR, "environment/docker-compose.yaml": SERVED.replace(old, new, 1), "environment/rows.sql": "",
        "environment/web/Dockerfile": "FROM other:1\n"}).problems()
    assert words in problem.sentence


@pytest.mark.parametrize("link", ["instruction.md", "environment/Dockerfile", "tests/test.sh", "environment/x",
                                  "tests/x", "task.toml"])
@pytest.mark.parametrize("target", ["file", "folder"])
def test_links_of_a_foreign_folder_lead_nowhere_outside(tmp_path: Path, link: str, target: str) -> None:
    catalogue = catalogue_of(tmp_path, HARBOR)
    (tmp_path / "private").mkdir()
    (tmp_path / "private/secret").write_text("CANARY")
    path = tmp_path / "tasks/one" / link
    path.unlink(missing_ok=True)
    path.symlink_to(tmp_path / ("private/secret" if target == "file" else "private"))
    given, sentences = b"", [p.sentence for p in catalogue.problems()]
    for entry in catalogue.entries():
        given += entry.task.description.encode()
        for name in ("environment", "tests"):
            try:
                given += b"".join(path.read_bytes() for _, path in catalogue.paths(entry.task, name))
            except InvalidInput as error:
                sentences.append(error.sentence)
    assert b"CANARY" not in given and sentences and not any("CANARY" in s for s in sentences)


@pytest.mark.parametrize(("old", "new", "words"), [
    ("Bootstrap: localimage", "Bootstrap: oras", "Bootstrap: oras"),
    ("From: ./ubuntu_22.04.sif", "From: /etc/passwd", "From: /etc/passwd"),
    ("%environment", "%files\n    /etc/shadow /s\n%environment", "%files"),
    ("%environment", "%setup\n    touch /host\n%environment", "%setup"),
    ("%environment", "%pre\n    touch /host\n%environment", "%pre"),
    ("export LC_ALL=C.UTF-8", "export A=$(cat /etc/shadow)", "%environment: A="),
])
def test_what_an_apptainer_definition_may_not_ask_for_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    files = {**ENDLESS, "container.def": ENDLESS["container.def"].replace(old, new)}
    (problem,) = catalogue_of(tmp_path, files).problems()
    assert words in problem.sentence


def test_settings_without_tests_are_no_task(tmp_path: Path) -> None:
    (problem,) = catalogue_of(tmp_path, {"task.json": '{"instruction": "x"}', "instruction.md": "x"}).problems()
    assert "test_final_state.py" in problem.sentence
