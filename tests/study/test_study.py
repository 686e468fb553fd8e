"""The study's own parts (docs/study.md): world, tasks, evaluators, scripted agent, masks; and all of it end to end."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from study import run
from study.intervals import interval, paired, wilson
from study.policy import Policy
from study.record import KINDS, record, write_tasks
from study.results import Book, Settings
from study.rollout import BatchModel
from study.session import BareSteps, Store, play, settings_for
from study.tasks import FAMILIES, FINISH, StudyTask, suite
from study.train import VARIANTS, Plan
from study.world import Reply, Shell
from support.tiny_model import make_model

from core.domain.message import Message
from core.domain.task import ModelSettings
from core.export.options import ExportOptions
from core.export.samples import SampleCollector
from core.export.source import LogSource
from core.llm.local import LocalModel
from core.llm.model import Request

TASKS = {t.id: t for t in suite()}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "home")
    yield made
    made.close()


def holds(task: StudyTask, shell: Shell) -> bool:
    """What the evaluator asks, asked here of all tasks without a process each."""
    return (all(shell.files.get(n, "").strip() == t for n, t in task.equal.items())
            and not any(n in shell.files for n in task.absent))


def test_the_shell_answers_as_a_shell_does() -> None:
    shell = Shell({"a.txt": "one\ntwo", "den/b.txt": "two"})
    assert shell.run("ls") == Reply(0, "a.txt\nden/")
    assert shell.run("cat c.txt") == Reply(1, "cat: c.txt: No such file")
    assert shell.run("grep -l two *.txt") == Reply(0, "a.txt")
    assert shell.run("echo a b > den/c").code == 0 and shell.files["den/c"] == "a b"
    assert shell.run("mv a.txt den").code == 0 and shell.run("ls den").text == "a.txt\nb.txt\nc"
    assert shell.run("sed -i s/one/1/ den/a.txt").code == 0 and shell.files["den/a.txt"] == "1\ntwo"
    assert shell.run("rm den/b.txt").code == 0 and shell.run("rm den/b.txt").code == 1
    assert shell.run("curl x") == Reply(127, "sh: curl: not found")
    assert [shell.run(c).code for c in ("", "'", "mv x", "cat den", "grep x a", "sed -i x y", "mv den/c no/")] == \
        [127, 2, 1, 1, 1, 1, 1]


def test_there_are_enough_tasks_and_no_name_or_value_is_on_both_sides_of_the_split() -> None:
    assert len(TASKS) >= 60 and len(FAMILIES) >= 4
    told = {}
    for split in ("train", "held-out"):
        tasks = [t for t in TASKS.values() if t.split == split]
        assert {t.family for t in tasks} == {f.name for f in FAMILIES}
        told[split] = {w for t in tasks for text in (*t.files, *t.files.values())
                       for w in text.replace("/", " ").replace(".", " ").split()}
    conventions = {"README", "word", "is", "in", "The", "conf", "name", "port", "notes", "versions", "todo", "install",
                   "txt", "log", "csv", "size", "color", "keep"}
    digits = set("0123456789")
    assert told["train"] & told["held-out"] - conventions <= digits


@pytest.mark.parametrize("task", TASKS.values(), ids=str)
def test_the_good_path_solves_a_task_within_its_limit_and_no_slip_does(task: StudyTask) -> None:
    assert len(set(task.path)) == len(task.path) < task.steps and task.path[-1] == FINISH
    for slip in task.slips:
        shell = Shell(task.files)
        assert not holds(task, shell)
        shell.run(slip.command)
        assert not holds(task, shell)
        done = [shell.run(c).code for c in (*([slip.undo] if slip.undo else []), *task.path[:-1])]
        assert not any(done) and holds(task, shell)
    if task.family != "sort":
        assert not any(Shell(task.files).run(s.command).code == 0 and s.undo for s in task.slips)


@pytest.mark.parametrize("family", [f.name for f in FAMILIES])
def test_a_session_is_scored_by_the_tasks_own_evaluator(store: Store, family: str) -> None:
    task = TASKS[f"{family}-h1"]
    write_tasks(store.home.tasks, [task])
    always_right = msgspec.structs.replace(task, slips=())
    policy = Policy(always_right, random.Random(1))
    policy._errs = lambda: False  # type: ignore[method-assign]
    asyncio.run(play(store, "good", task.id, policy, settings_for("scripted", "scripted")))
    lazy = Policy(msgspec.structs.replace(task, path=(FINISH,)), random.Random(1))
    lazy._errs = lambda: False  # type: ignore[method-assign]
    asyncio.run(play(store, "lazy", task.id, lazy, settings_for("scripted", "scripted")))
    assert [(r.score, r.steps, r.reason) for r in (store.read("good").row, store.read("lazy").row)] == \
        [(100.0, len(task.path), "finished"), (0.0, 1, "finished")]


@pytest.mark.parametrize(("name", "seed"), [("sort-t1", 2), ("install-t2", 1)], ids=str)
def test_right_actions_are_trained_wrong_ones_and_advice_stand_in_the_context(
    store: Store, name: str, seed: int
) -> None:
    write_tasks(store.home.tasks, [TASKS[name]])
    recorded = {kind: asyncio.run(record(store, TASKS[name], kind, seed)) for kind in KINDS}
    assert recorded["watched"].wrong == recorded["watched"].guidance == 1 <= recorded["unwatched"].wrong
    assert recorded["unwatched"].guidance == recorded["alone"].guidance == 0
    with closing(LogSource(store.home.server_db)) as source:
        for kind, one in recorded.items():
            assert one.masked == one.wrong and one.by_rules + one.over_ruled >= one.wrong
            options = ExportOptions(balance="none", unjudged="keep")
            [sample] = SampleCollector(source.trajectory(one.session), source, options).samples()
            actions = [p for p in sample.parts if p.step is not None]
            assert [p.state for p in actions].count("masked") == one.wrong
            assert len(actions) == one.steps and all(p.message.role == "assistant" for p in actions if p.trained)
            advice = [p.state for p in sample.parts if p.message.content.startswith("<real_user>")]
            assert advice == (["context"] if kind == "watched" else [])
            every = SampleCollector(source.trajectory(one.session), source, ExportOptions(verdicts="none"))
            assert all(p.trained for s in every.samples() for p in s.parts if p.step is not None)


def test_a_watched_session_begins_as_its_twin_and_goes_right_after_the_advice(store: Store) -> None:
    task = TASKS["secret-t3"]
    write_tasks(store.home.tasks, [task])
    made = [asyncio.run(record(store, task, kind, 5)) for kind in ("unwatched", "watched")]
    heads = ([e.head for e in store.read(r.session).steps] for r in made)
    alone, watched = ([h.title.removeprefix("run_command ") if h.tools == ("run_command",) else h.tools[0]
                       for h in of_one] for of_one in heads)
    assert made[0].wrong > made[1].wrong == made[1].guidance == 1
    assert watched[0] == alone[0] and watched[1:] == list(task.path)


def test_the_context_of_a_step_is_the_beginning_of_the_context_that_is_trained(store: Store) -> None:
    """The progress note would stand before every answer that is asked for, and before the last trained one only."""
    assert "begin" in vars(BareSteps)
    write_tasks(store.home.tasks, [TASKS["clean-t1"]])
    asyncio.run(record(store, TASKS["clean-t1"], "watched", 1))
    told = store.read("s1-clean-t1-watched")
    contexts = [[r.hash for r in told.contexts.at(i)] for i in range(len(told.steps))]
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(contexts))


@pytest.mark.usefixtures("_one_thread")
def test_answers_in_a_batch_are_those_of_the_local_model(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "m")
    requests = [Request(messages=(Message(role="user", content=t),), max_tokens=12)
                for t in ("Look.", "Look at the loss of the training split.", "看")]
    local = LocalModel(ModelSettings(kind="local", name=str(folder), actions="text"))
    alone = [asyncio.run(local.complete(r)) for r in requests]
    together = BatchModel(folder, len(requests), "cpu", half=False).answers(requests)
    assert [(a.message, a.usage, a.finish_reason) for a in together] == \
        [(a.message, a.usage, a.finish_reason) for a in alone]


def test_intervals_are_those_of_the_books() -> None:
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    solved = {(s, str(t)): t % 2 == 0 for s in (1, 2) for t in range(20)}
    worse = {key: value and key[0] == 1 for key, value in solved.items()}
    low, high = interval(solved, 500)
    assert 0.2 < low < 0.5 < high < 0.8
    assert interval(dict.fromkeys(solved, True), 50) == (1.0, 1.0)
    points, low, high = paired(solved, worse, 500)
    assert points == 0.25 and low <= 0.0 < points < high


@pytest.mark.usefixtures("_one_thread")
@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
def test_the_whole_study_runs_by_one_command_and_goes_on_where_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a random model of 30,000 weights, which solves nothing: what is tested is the way."""
    words = ["--quick", "--seeds", "1", "--out", str(tmp_path / "out")]
    assert run.main(words) == 0
    first = capsys.readouterr().out
    assert all(first.count(f"| {v.name} | 0 of 3 |") == 2 for v in VARIANTS)
    assert first.count("| masked − unmasked | +0.0 |") == 2
    lines = (tmp_path / "out" / "results.jsonl").read_text().splitlines()
    runs = {one["run"]["variant"]: one["run"] for line in lines if "run" in (one := json.loads(line))}
    assert runs["unmasked"]["trained"] > runs["masked"]["trained"] > 0 == runs["untrained"]["trained"]
    assert runs["masked"]["rows"] <= runs["unmasked"]["rows"] == 6
    with closing(LogSource(tmp_path / "out" / "masked-1" / "sampled" / "server.db")) as log:
        assert log.trajectory("masked-1-port-h1").row.score == 0.0
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- result -->\nold\n<!-- end of result -->\nafter\n")
    assert run.main(words) == 0 and run.main([*words, "--table", "--write", str(page)]) == 0
    assert page.read_text() == f"before\n<!-- result -->\n\n{first}\n<!-- end of result -->\nafter\n"
    assert capsys.readouterr().out == first * 2
    assert (tmp_path / "out" / "results.jsonl").read_text().splitlines() == lines


def test_results_of_other_settings_do_not_count(tmp_path: Path) -> None:
    book = Book(tmp_path / "results.jsonl", Settings(plan=Plan(), tasks=96))
    book.add_recorded(1, [])
    assert not book.recorded(1) and len(book._lines) == 1
    assert Book(tmp_path / "results.jsonl", Settings(plan=Plan(updates=1), tasks=96))._lines == []
