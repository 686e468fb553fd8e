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
import numpy as np
import pytest
from study import run
from study.base import neutral_texts
from study.book import Book, Line
from study.design import DESIGNS, designs, read_design
from study.intervals import holm, interval, paired, sign_flips
from study.policy import Policy
from study.reading import _exchanged, near_commands
from study.record import KINDS, Recorded, record, write_tasks
from study.results import WORDS
from study.reviewers import CHANCE, WRONG, judge
from study.session import BareSteps, Store, play, settings_for
from study.tasks import FAMILIES, FINISH, LETTERS, SPLITS, StudyTask, long_suite, short_suite
from study.train import VARIANTS
from study.units import Study
from study.world import Reply, Shell
from support.chinese_tables import lacking, twin

from core.export.samples import SampleCollector
from core.export.source import LogSource
from core.llm.model import estimate_tokens
from core.store.lock import FileLock

SHORT = {t.id: t for split in SPLITS for t in short_suite(split)}
LONG = {t.id: t for split in SPLITS for t in long_suite(split, 24)}
WIDE = settings_for("scripted", 60, 100_000)
NARROW = settings_for("scripted", 60, 500)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "home")
    yield made
    made.close()


def holds(task: StudyTask, shell: Shell) -> bool:
    """What the evaluator asks, asked here of all tasks without a process each."""
    return all(shell.files.get(n, "").strip() == t for c in task.chores for n, t in c.equal.items()) and \
        not any(n in shell.files for c in task.chores for n in c.absent)


def recorded(store: Store, task: StudyTask, kinds=KINDS, seed: int = 1, settings=WIDE) -> list[Recorded]:
    write_tasks(store.home.tasks, [task])
    return [asyncio.run(record(store, task, kind, seed, settings, estimate_tokens)) for kind in kinds]


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
    refused = ("'", "mv x", "cat den", "grep x a", "sed -i x y", "mv den/c no/", "echo x > den", "echo x > den/c/d")
    assert [shell.run(c).code for c in ("", *refused)] == [127, 2, *[1] * (len(refused) - 1)]


def test_no_name_or_value_of_a_task_is_on_both_sides_of_the_split() -> None:
    words = {}
    for split in ("train", "held-out"):
        tasks = [t for t in (*SHORT.values(), *LONG.values()) if t.split == split]
        assert {c.family for t in tasks for c in t.chores} == {f.name for f in FAMILIES}
        words[split] = {w for t in tasks for text in (*t.files, *t.files.values())
                        for w in text.replace("/", " ").replace(".", " ").split()}
    conventions = {"README", "word", "is", "in", "The", "conf", "name", "port", "notes", "versions", "todo", "install",
                   "txt", "log", "csv", "size", "color", "keep"}
    assert words["train"] & words["held-out"] - conventions <= set("0123456789")
    described = {split: {t.description for t in long_suite(split, 48)} for split in SPLITS}
    described["new"] = {t.description for t in long_suite("new", 48)}
    assert sum(map(len, described.values())) == len(set().union(*described.values())), "no task is in two of them"


def test_a_long_task_takes_ten_to_twenty_steps() -> None:
    assert all(10 <= len(t.path) <= t.steps <= 20 for t in LONG.values())


def test_the_good_path_solves_a_task_within_its_limit_and_no_slip_does() -> None:
    for task in (*SHORT.values(), *LONG.values()):
        shell = Shell(task.files)
        assert not holds(task, shell) and len(task.path) < task.steps and task.path[-1] == FINISH
        ends = [shell.run(c).code for c in task.path[:-1]]
        assert not any(ends) and holds(task, shell)
        for slip in (s for t in (task,) if not t.is_long for s in t.chores[0].slips):
            shell = Shell(task.files)
            shell.run(slip.command)
            assert not holds(task, shell)
            done = [shell.run(c).code for c in (*([slip.undo] if slip.undo else []), *task.path[:-1])]
            assert not any(done) and holds(task, shell)


@pytest.mark.parametrize("name", ["sort-h1", "long-held-out-2"])
def test_a_session_is_scored_by_the_tasks_own_evaluator(store: Store, name: str) -> None:
    task = (SHORT | LONG)[name]
    write_tasks(store.home.tasks, [task])
    half = msgspec.structs.replace(task, chores=task.chores[: len(task.chores) // 2])
    for session, made in (("good", task), ("half", half)):
        policy = Policy(made, random.Random(1))
        policy._errs = lambda: False  # type: ignore[method-assign]
        asyncio.run(play(store, session, task.id, policy, WIDE))
    good, less = store.read("good").row, store.read("half").row
    assert (good.score, good.steps, good.reason) == (100.0, len(task.path), "finished")
    assert less.score == pytest.approx(100 * len(half.chores) / len(task.chores))


def test_a_watched_session_begins_as_its_twin_and_each_advice_is_followed(store: Store) -> None:
    alone, watched = recorded(store, SHORT["secret-t3"], ("unwatched", "watched"), 5)
    heads = ([e.head for e in store.read(r.session).steps] for r in (alone, watched))
    first, second = ([h.title.removeprefix("run_command ") if h.tools == ("run_command",) else h.tools[0]
                      for h in of_one] for of_one in heads)
    assert alone.good.count(False) > watched.good.count(False) == watched.guidance == 1
    assert second[0] == first[0] and tuple(second[1:]) == SHORT["secret-t3"].path
    [long] = recorded(store, LONG["long-train-2"], ("watched",), 1)
    assert 1 < long.guidance <= long.good.count(False) and long.solved


def test_a_long_session_sums_up_what_is_done_and_the_summary_is_trained(store: Store) -> None:
    task = LONG["long-train-3"]
    [one] = recorded(store, task, ("watched",), 1, NARROW)
    read = store.read(one.session)
    texts = [s.text for s in read.summaries.values()]
    assert one.summaries == len(texts) > 0 and all(t.startswith("done: ") for t in texts)
    assert "A" in texts[-1] and LETTERS[len(task.chores) - 1] not in texts[-1]
    with closing(LogSource(store.home.server_db)) as source:
        every = VARIANTS["unmasked"].options()
        samples = list(SampleCollector(source.trajectory(one.session), source, every).samples())
    assert [s.kind for s in samples].count("summary") == one.summaries
    assert sum(p.step is not None and p.trained for s in samples for p in s.parts) == len(one.good)


def test_verdicts_of_each_who_judges_decide_what_his_variant_trains(store: Store) -> None:
    sessions = recorded(store, LONG["long-train-2"])
    masked = asyncio.run(judge(store, sessions, 1))
    wrong = sum(not g for r in sessions for g in r.good)
    with closing(LogSource(store.home.server_db)) as source:
        trained = {v.name: [p.trained for r in sessions for s in
                            SampleCollector(source.trajectory(r.session), source, v.options()).samples()
                            for p in s.parts if p.step is not None] for v in VARIANTS.values()}
    steps = len(trained["unmasked"])
    assert all(trained["unmasked"]) and trained["reviewer"].count(False) == wrong
    assert trained["reviewer"] == [g for r in sessions for g in r.good]
    assert 0 < trained["rules"].count(False) < wrong
    assert trained["random"] != trained["reviewer"] and 0 < trained["random"].count(False) < steps / 2
    assert masked["reviewer"].right_masked == 0 < masked["reviewer"].wrong == masked["reviewer"].wrong_masked
    assert {*WRONG, "rules", "random"} == set(masked) and CHANCE not in masked


def test_imperfect_reviewers_err_as_often_as_they_are_said_to(store: Store) -> None:
    from study.reviewers import _seen

    one = Recorded(session="s", task="t", kind="alone", good=(True, False) * 2000, solved=False, guidance=0,
                   summaries=0)
    for name, wrong in WRONG.items():
        seen = _seen(one, name, wrong)
        assert sum(seen[n] != g for n, g in enumerate(one.good, 1)) / 4000 == pytest.approx(wrong, abs=0.02)


def test_the_context_of_a_step_is_the_beginning_of_the_context_that_is_trained(store: Store) -> None:
    """The progress note would stand before every answer that is asked for, and before the last trained one only."""
    assert "begin" in vars(BareSteps)
    [one] = recorded(store, SHORT["clean-t1"], ("watched",))
    read = store.read(one.session)
    contexts = [[r.hash for r in read.contexts.at(i)] for i in range(len(read.steps))]
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(contexts))


def test_neutral_text_has_no_task_in_it() -> None:
    described = {c.description for t in LONG.values() for c in t.chores}
    texts = ["\n".join(m.content for m in text) for text in neutral_texts(60)]
    assert not any(d in text for d in described for text in texts if len(d.split()) > 2)
    assert any("<state_snapshot>done: " in t for t in texts) and any("exit code 1]" in t for t in texts)


def test_intervals_and_tests_are_those_of_the_books() -> None:
    solved = {(s, str(t)): float(t % 2 == 0) for s in range(1, 5) for t in range(20)}
    worse = {key: value * (key[0] < 3) for key, value in solved.items()}
    low, high = interval(solved, 2000)
    assert 0.2 < low < 0.5 < high < 0.8 and interval(dict.fromkeys(solved, 1.0), 50) == pytest.approx((1.0, 1.0))
    found = paired(solved, worse, 2000)
    assert found.mean == 0.25 and found.low <= 0.0 < found.high and found.seeds == 4
    assert found.p_seeds == found.p == 0.5 and found.p_tasks < 0.05  # two of four seeds differ: 8 of 16 signs
    assert sign_flips([1.0] * 10) == pytest.approx(2 / 1024)
    assert sign_flips([1.0, -1.0] * 10, 200) == pytest.approx(1.0)
    assert holm([0.01, 0.04, 0.03], 3) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.01], 4) == [0.04]


def test_every_design_can_be_read_and_compares_what_it_trains() -> None:
    for name in designs():
        design, digest = read_design(DESIGNS / f"{name}.toml")
        assert len(digest) == 64 and set(design.variants) <= set(VARIANTS) and design.tune_seed not in design.seeds
        assert {v for pair in design.pairs for v in pair} <= set(design.variants)
        # the least p that so many seeds can give has to be able to stand after the correction
        if name == "small":
            assert len(design.seeds) >= 10
            assert 2 ** (1 - len(design.seeds)) * len(design.pairs) * len(design.decodings) < 0.05


@pytest.mark.usefixtures("_one_thread")
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
def test_the_whole_study_runs_by_one_command_and_goes_on_where_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a random model, which solves nothing: what is tested is the way."""
    words = ["quick", "--out", str(tmp_path / "out")]
    page = tmp_path / "page.md"
    for one in (page, twin(page)):
        one.write_text("before\n<!-- result of quick -->\nold\n<!-- end of result of quick -->\nafter\n")
    assert run.main(words) == 0
    first = capsys.readouterr().out
    assert all(first.count(f"| {name} | 0 of 2 |") == 2 for name in ("untrained", "unmasked", "reviewer"))
    assert first.count("reviewer − unmasked | +0.0 |") == 2
    lines = (tmp_path / "out" / "results.jsonl").read_text().splitlines()
    units = [json.loads(line)["unit"] for line in lines]
    tuned = [f"tune-{v}-{r}" for r in (0.001, 0.002) for v in ("unmasked", "reviewer")]
    ran = [f"{v}-1-{d}" for v in ("untrained", "unmasked", "reviewer") for d in ("greedy", "sampled")]
    assert units == ["base", "record-0", *tuned, "record-1", *ran]
    runs = {one["run"]["variant"]: one["run"] for line in lines if "run" in (one := json.loads(line))}
    assert runs["unmasked"]["trained"] > runs["reviewer"]["trained"] > 0 == runs["untrained"]["trained"]
    with closing(LogSource(tmp_path / "out" / "reviewer-1" / "sampled" / "server.db")) as log:
        assert log.trajectory("reviewer-1-long-held-out-1").row.steps > 0
    (tmp_path / "out" / "results.jsonl").write_text("\n".join(lines[:-1]) + "\n" + lines[-1][:50])  # killed at the last
    assert run.main([*words, "--write", str(page)]) == 0
    again = capsys.readouterr().out
    assert again.splitlines()[2:] == first.splitlines()[2:] and "13 of 13 units" in again
    assert page.read_text() == f"before\n<!-- result of quick -->\n\n{again}\n<!-- end of result of quick -->\nafter\n"
    chinese = twin(page).read_text()
    assert chinese.count("\n") == page.read_text().count("\n") and "13 个单元中完成 13 个" in chinese
    assert "| untrained | 0/2 |" in chinese and "未能证明多于或少于" in chinese
    assert lacking(again.partition("\n")[2], WORDS) == set()


def test_two_processes_never_write_into_one_folder(tmp_path: Path) -> None:
    """A model's decodings share its training: each removed the other's rows once."""
    design, digest = read_design(DESIGNS / "quick.toml")
    study = Study(tmp_path, design, digest, Book(tmp_path / "results.jsonl", digest))
    greedy, sampled, other = (FileLock(tmp_path / study.lock(unit))
                              for unit in ("reviewer-1-greedy", "reviewer-1-sampled", "unmasked-1-greedy"))
    assert greedy.take() and other.take() and not sampled.take()
    greedy.release()
    assert sampled.take()
    sampled.release()
    other.release()


def test_results_of_other_designs_do_not_count(tmp_path: Path) -> None:
    book = Book(tmp_path / "results.jsonl", "a")
    book.add(Line(design="a", unit="base", cpu_s=1.0, wall_s=1.0))
    assert book.has("base") and not Book(tmp_path / "results.jsonl", "b").has("base")


def test_words_are_exchanged_alike_in_what_is_read_and_what_is_answered() -> None:
    """What a policy is taught of TextCraft is to copy: no word means anything in two sessions."""
    words, ids, labels = np.arange(4, 90), [1, 4, 5, 4, 2, 5, 6], [-100, -100, -100, 4, 2, 5, -100]
    read, answered = _exchanged(ids, labels, words, 100, np.random.default_rng(3))
    assert read.tolist() != ids and [one for one in read if one < 4] == [1, 2]
    assert read[1] == read[3] == answered[3] and read[2] == read[5] == answered[5] and read[1] != read[2]
    assert answered[[0, 1, 2, 6]].tolist() == [-100] * 4 and answered[4] == 2
    told = "Crafting commands:\ncraft 3 lead using 4 string, 1 slime ball\ncraft 1 bow using 3 string\n\nGoal: lead."
    assert near_commands(told) == ["craft 3 lead using 4 string, 1 slime ball", "craft 1 bow using 3 string",
                                   "get 4 string", "get 1 slime ball", "get 3 string"]
