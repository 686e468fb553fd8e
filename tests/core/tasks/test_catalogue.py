"""Task files and the catalogue; the demonstration's numbers."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest
from support.tasks import named

from core.domain.errors import InvalidInput, NotFound
from core.domain.events import GuidanceQueued, Placed, ScoreGiven, SessionStateChanged, encode_event, make_event
from core.domain.trajectory import fold
from core.domain.verdict import Author
from core.llm.scripted import read_script
from core.tasks.catalogue import Catalogue
from core.tasks.demo import GUIDANCE, TASK, demonstration, guidance_due
from core.tasks.evaluation import Given, evaluate

PLAIN = 'id = "mine"\ntitle = "Mine"\ndescription = "Do it."\n'


def write(home: Path, name: str, text: str) -> Path:
    folder = home / "tasks" / name
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text(text)
    return folder


def test_a_persons_tasks_stand_beside_the_programs(tmp_path: Path) -> None:
    write(tmp_path, "mine", PLAIN)
    catalogue = Catalogue.of(tmp_path)
    assert {"mine", TASK, "sum-numbers"} <= {e.task.id for e in catalogue.entries()}
    assert catalogue.find("mine").task.limits.evaluations == 4
    assert catalogue.problems() == []
    with pytest.raises(NotFound):
        catalogue.find("nowhere")


def test_a_broken_task_is_a_problem_and_hides_no_other(tmp_path: Path) -> None:
    write(tmp_path, "a", PLAIN + "surprise = 1")
    write(tmp_path, "b", PLAIN.replace('"mine"', '"../up"'))
    write(tmp_path, "c", "not toml")
    catalogue = Catalogue.of(tmp_path)
    assert len(catalogue.problems()) == 3 and catalogue.entries()


def test_files_of_a_task_stay_in_its_folder(tmp_path: Path) -> None:
    folder = write(tmp_path, "mine", PLAIN)
    (tmp_path / "secret").write_text("x")
    (folder / "link").symlink_to(tmp_path / "secret")
    catalogue = Catalogue.of(tmp_path)
    task = catalogue.find("mine").task
    assert catalogue.file(task, "task.toml") == folder / "task.toml"
    for name in ("../../secret", "link", "missing"):
        with pytest.raises(InvalidInput):
            catalogue.file(task, name)


def test_a_description_may_be_a_file_beside(tmp_path: Path) -> None:
    folder = write(tmp_path, "mine", PLAIN.replace("Do it.", "long.md"))
    (folder / "long.md").write_text("A long text.\n")
    assert Catalogue.of(tmp_path).find("mine").task.description == "A long text."


def model_of(rows: list[dict[str, str]]) -> bytes:
    """A perceptron over words, ten passes, averaged."""
    weights: dict[str, float] = {}
    total: dict[str, float] = {}
    for _ in range(10):
        for row in rows:
            words = set(re.findall(r"[a-z]+", row["text"].lower()))
            good = 1.0 if row["label"] == "good" else -1.0
            if sum(weights.get(w, 0.0) for w in words) * good <= 0:
                weights.update({w: weights.get(w, 0.0) + good for w in words})
        total = {w: total.get(w, 0.0) + weight for w, weight in weights.items()}
    return json.dumps({"bias": 0.0, "weights": total}).encode()


@pytest.mark.parametrize(("split", "least", "most"), [("test", 0, 40), ("train", 60, 100)])
def test_the_demonstration_rewards_the_training_split(tmp_path: Path, split: str, least: float, most: float) -> None:
    catalogue = Catalogue.of()
    task = catalogue.find(TASK).task
    data = catalogue.file(task, "workspace") / "data" / f"{split}.jsonl"
    rows = [json.loads(line) for line in data.read_text().splitlines()]
    given = Given(script=catalogue.file(task, task.evaluator.script),
                  submission=named(tmp_path, {"model.json": model_of(rows)}),
                  references=catalogue.paths(task, task.evaluator.references))
    outcome = asyncio.run(evaluate(given, task, None))
    assert outcome.total is not None and least <= outcome.total <= most, outcome


def test_the_hidden_reviews_are_not_in_the_workspace() -> None:
    catalogue = Catalogue.of()
    task = catalogue.find(TASK).task
    shown = "".join(path.read_text() for _, path in catalogue.paths(task, "workspace")).splitlines()
    hidden = (catalogue.file(task, "references") / "hidden.jsonl").read_text().splitlines()
    assert not set(shown) & set(hidden)


def test_advice_is_due_when_the_mistake_shows() -> None:
    person, name = Author(kind="person", name="a"), "s"
    facts = [SessionStateChanged(state="running"), ScoreGiven(ordinal=1, step=11, total=11.5),
             GuidanceQueued(guidance="g", text=GUIDANCE)]
    placed = [Placed(session=name, seq=n, body=encode_event(make_event(f, person))) for n, f in enumerate(facts, 1)]
    assert [guidance_due(fold(name, placed[:n])) for n in range(4)] == [None, None, GUIDANCE, None]
    task, agent = demonstration()
    script = read_script(Catalogue.of().file(Catalogue.of().find(task).task, agent.model.script).read_text())
    assert re.search(script.branch[0].when, GUIDANCE) and re.search(script.branch[0].when, "请用训练集")
