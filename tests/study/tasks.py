"""The suite: six families of short tasks, by names and values that never occur on both sides of the split.

Each task knows its good path and, for each place on it, the slips of an agent that does not work carefully.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

Split = Literal["train", "held-out"]

FINISH = "finish"
"""Not a command of the shell: the action that ends a session."""

TRAIN_EACH, HELD_OUT_EACH = 8, 8
"""Tasks of a family in either split."""

EXTRA_STEPS = 2
"""How many steps more than the good path a session may take."""


class Slip(msgspec.Struct, frozen=True):
    """A wrong action; `undo` repairs what it changed, where that has to be repaired."""

    command: str
    undo: str = ""


class StudyTask(msgspec.Struct, frozen=True, kw_only=True):
    """One task. `path` are the good actions in order; `slips` the wrong ones at the first place of it, where the agent
    has not looked yet. `equal` and `absent` are what the evaluator wants; `advice` is what a person would say."""

    id: str
    family: str
    split: Split
    description: str
    files: Mapping[str, str]
    path: tuple[str, ...]
    slips: tuple[Slip, ...]
    advice: tuple[str, ...]
    equal: Mapping[str, str] = {}
    absent: tuple[str, ...] = ()

    @property
    def steps(self) -> int:
        """The limit of steps."""
        return len(self.path) + EXTRA_STEPS


class Family(msgspec.Struct, frozen=True):
    """`make` draws a task; `skill` is how likely an unguided agent does the right thing at the first place."""

    name: str
    skill: float
    make: Callable[[str, Split, random.Random, int], StudyTask]


_WORDS: dict[str, dict[Split, str]] = {
    "service": {"train": "web mail auth cache proxy queue store search",
                "held-out": "login video chat maps radio music photo print"},
    "thing": {"train": "lamp door chair table shelf box cup plate",
              "held-out": "wall roof desk sofa bench clock rug vase"},
    "word": {"train": "amber river stone cloud maple tiger ocean candle falcon garden",
             "held-out": "silver forest rocket violet hammer island pepper dragon winter copper"},
    "color": {"train": "green gray black white brown pink", "held-out": "orange purple yellow golden beige teal"},
    "folder": {"train": "drafts attic office cellar", "held-out": "garage closet studio kitchen"},
    "package": {"train": "numpy flask redis click scipy django pandas celery",
                "held-out": "torch keras boto jinja sanic pillow lxml numba"},
    "ending": {"train": "tmp bak old log", "held-out": "swp out obj err"},
    "label": {"train": "alpha beta gamma delta", "held-out": "north south east west"},
}


def _pick(kind: str, split: Split, rng: random.Random, count: int) -> list[str]:
    return rng.sample(_WORDS[kind][split].split(), count)


def _nth(kind: str, split: Split, number: int) -> str:
    words = _WORDS[kind][split].split()
    return words[number % len(words)]


def _value(split: Split, rng: random.Random, low: int, high: int) -> int:
    """A number: even in training, odd in the held-out tasks."""
    return rng.randrange(low, high, 2) + (split == "held-out")


def _port(name: str, split: Split, rng: random.Random, number: int) -> StudyTask:
    service = _nth("service", split, number)
    other = next(s for s in _pick("service", split, rng, 2) if s != service)
    port, wrong = _value(split, rng, 3000, 7900), _value(split, rng, 8100, 9900)
    return StudyTask(
        id=name, family="port", split=split, description=f"Write the port of {service} into port.txt",
        files={f"{service}.conf": f"name {service}\nport {port}", f"{other}.conf": f"name {other}\nport {wrong}"},
        path=(f"cat {service}.conf", f"echo {port} > port.txt", FINISH),
        slips=(Slip("echo 8080 > port.txt"), Slip("echo 80 > port.txt")),
        advice=(f"Do not guess the port: look into {service}.conf first.", "Read the .conf file before you write."),
        equal={"port.txt": str(port)})


def _secret(name: str, split: Split, rng: random.Random, number: int) -> StudyTask:
    here, there = _pick("folder", split, rng, 2)
    word, wrong = _pick("word", split, rng, 2)
    file = _nth("thing", split, number)
    return StudyTask(
        id=name, family="secret", split=split, description="Write the secret word into word.txt",
        files={"README": f"The word is in {here}/{file}", f"{here}/{file}": word, f"{there}/{file}": wrong},
        path=("cat README", f"cat {here}/{file}", f"echo {word} > word.txt", FINISH),
        slips=(Slip("cat word.txt"), Slip("cat secret.txt"), Slip("echo secret > word.txt")),
        advice=("README says where the word is.", "Begin with README, it tells you where to look."),
        equal={"word.txt": word})


def _paint(name: str, split: Split, rng: random.Random, number: int) -> StudyTask:
    thing = _nth("thing", split, number)
    old, new = _pick("color", split, rng, 2)
    size = _value(split, rng, 2, 60)
    return StudyTask(
        id=name, family="paint", split=split, description=f"Change the color in {thing}.txt to {new}",
        files={f"{thing}.txt": f"size {size}\ncolor {old}", "notes.txt": f"size 1\ncolor {new}"},
        path=(f"cat {thing}.txt", f"sed -i s/{old}/{new}/ {thing}.txt", FINISH),
        slips=(Slip(f"sed -i s/red/{new}/ {thing}.txt"), Slip(f"sed -i s/blue/{new}/ {thing}.txt")),
        advice=("Look at the file before you change it.", f"You do not know its color yet: cat {thing}.txt first."),
        equal={f"{thing}.txt": f"size {size}\ncolor {new}"})


def _sort(name: str, split: Split, rng: random.Random, number: int) -> StudyTask:
    labels = _pick("label", split, rng, 3)
    words = _pick("word", split, rng, 3)
    folder = _nth("folder", split, number)
    at = number % 3
    right = f"{labels[at]}.log"
    return StudyTask(
        id=name, family="sort", split=split, description=f"Move the log with the word {words[at]} to {folder}",
        files={f"{a}.log": f"{w} {_value(split, rng, 10, 99)}" for a, w in zip(labels, words, strict=True)}
        | {f"{folder}/.keep": ""},
        path=(f"grep -l {words[at]} *.log", f"mv {right} {folder}", FINISH),
        slips=tuple(Slip(f"mv {a}.log {folder}", f"mv {folder}/{a}.log .") for a in labels if f"{a}.log" != right),
        advice=("Find out with grep which log holds the word.", "Search the logs first, do not move just any."),
        equal={f"{folder}/{right}": ""}, absent=tuple(f"{folder}/{a}.log" for a in labels if f"{a}.log" != right))


def _clean(name: str, split: Split, rng: random.Random, number: int) -> StudyTask:
    first, second = sorted(_pick("word", split, rng, 2))
    ending, kept = _nth("ending", split, number), _nth("thing", split, number)
    doomed = (f"{first}.{ending}", f"{second}.{ending}")
    return StudyTask(
        id=name, family="clean", split=split, description=f"Delete the two .{ending} files",
        files={doomed[0]: "1", doomed[1]: "2", f"{kept}.csv": "3"},
        path=("ls", f"rm {doomed[0]}", f"rm {doomed[1]}", FINISH),
        slips=(Slip(f"rm a.{ending}"), Slip(f"rm file.{ending}")),
        advice=("List the files before you delete any.", "Use ls to see their names."),
        equal={f"{kept}.csv": "3"}, absent=doomed)


def _install(name: str, split: Split, rng: random.Random, number: int) -> StudyTask:
    package = _nth("package", split, number)
    other = next(p for p in _pick("package", split, rng, 2) if p != package)
    version, wrong = (f"{rng.randint(2, 9)}.{_value(split, rng, 2, 40)}" for _ in range(2))
    lines = [f"{package} {version}", f"{other} {wrong}"]
    rng.shuffle(lines)
    return StudyTask(
        id=name, family="install", split=split, description=f"Install {package}",
        files={"versions.txt": "\n".join(lines), "todo.txt": f"install {package}"},
        path=("cat versions.txt", f"install {package} {version}", FINISH),
        slips=(Slip(f"install {package}"), Slip(f"install {package} 1.0"), Slip(f"install {package} latest")),
        advice=("The version that we use stands in versions.txt.", "Take the version from versions.txt."),
        equal={"installed.txt": f"{package} {version}"})


FAMILIES: tuple[Family, ...] = (
    Family("port", 0.6, _port), Family("secret", 0.3, _secret), Family("paint", 0.6, _paint),
    Family("sort", 0.6, _sort), Family("clean", 0.6, _clean), Family("install", 0.3, _install))
"""The two with little skill need something that only a person tells: where the project keeps its facts."""


def suite() -> list[StudyTask]:
    """All tasks, the same every time."""
    return [_task(family, split, number) for family in FAMILIES
            for split, count in (("train", TRAIN_EACH), ("held-out", HELD_OUT_EACH)) for number in range(count)]


def skill_of(task: StudyTask) -> float:
    """How likely an unguided agent begins the task well."""
    return next(f.skill for f in FAMILIES if f.name == task.family)


def _task(family: Family, split: Split, number: int) -> StudyTask:
    name = f"{family.name}-{'h' if split == 'held-out' else 't'}{number + 1}"
    task = family.make(name, split, random.Random(name), number)
    if family.name == "sort":  # the evaluator wants the file as it was
        moved = next(iter(task.equal))
        task = msgspec.structs.replace(task, equal={moved: task.files[moved.split("/")[1]]})
    return task
