"""The suites: six families of chores, by names and values that never occur on both sides of the split.

Each chore knows its good path and, for the place where it begins, the slips of an agent that does not look first. A
short task is one chore, a long one several of them, one after the other.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

Split = Literal["train", "tune", "new", "held-out"]
"""`tune` and `new` have the words of `train` in other tasks, which nothing is trained on: in `tune` learning rates are
chosen, `new` is held out from models that cannot carry over to words they were not trained on."""

SPLITS: tuple[Split, ...] = ("train", "tune", "held-out")
"""Those that bring words."""

FINISH = "finish"
"""Not a command of the shell: the action that ends a session."""

EXTRA_STEPS = {"short": 2, "long": 5}
"""How many steps more than the good path a session may take."""


LETTERS = "ABCDEFGHI"
"""What chores are named by where there are several."""


def lettered(texts: Sequence[str]) -> str:
    """Several things to do, each with its letter."""
    return " ".join(f"{letter}: {text}." for letter, text in zip(LETTERS, texts, strict=False))


class Slip(msgspec.Struct, frozen=True):
    """A wrong action; `undo` repairs what it changed, where that has to be repaired."""

    command: str
    undo: str = ""


class Chore(msgspec.Struct, frozen=True, kw_only=True):
    """`path` are the good actions in order; `slips` the wrong ones at its beginning, where the agent has not looked.
    `equal` and `absent` are what the evaluator wants; `advice` is what a person would say."""

    family: str
    description: str
    files: Mapping[str, str]
    path: tuple[str, ...]
    slips: tuple[Slip, ...]
    advice: tuple[str, ...]
    equal: Mapping[str, str] = {}
    absent: tuple[str, ...] = ()


class StudyTask(msgspec.Struct, frozen=True, kw_only=True):
    """One task: its chores, in the order in which they are asked for."""

    id: str
    split: Split
    chores: tuple[Chore, ...]

    @property
    def is_long(self) -> bool:
        """Whether it has several chores."""
        return len(self.chores) > 1

    @property
    def family(self) -> str:
        """The family of a short task; of a long one how many chores it has."""
        return f"{len(self.chores)} chores" if self.is_long else self.chores[0].family

    @property
    def description(self) -> str:
        """What is asked for."""
        return lettered([c.description for c in self.chores]) if self.is_long else self.chores[0].description

    @property
    def files(self) -> dict[str, str]:
        """The world at the beginning."""
        return {name: text for chore in self.chores for name, text in chore.files.items()}

    @property
    def path(self) -> tuple[str, ...]:
        """All good actions, with the end."""
        return (*(command for chore in self.chores for command in chore.path), FINISH)

    @property
    def steps(self) -> int:
        """The limit of steps."""
        return len(self.path) + EXTRA_STEPS["long" if self.is_long else "short"]


class Family(msgspec.Struct, frozen=True):
    """`make` draws a chore; `skill` is how likely an unguided agent does the right thing at its beginning."""

    name: str
    skill: float
    make: Callable[[Split, random.Random, int], Chore]


_WORDS: dict[str, tuple[str, str]] = {
    "service": ("web mail auth cache proxy queue store search", "login video chat maps radio music photo print"),
    "thing": ("lamp door chair table shelf box cup plate", "wall roof desk sofa bench clock rug vase"),
    "word": ("amber river stone cloud maple tiger ocean candle falcon garden",
             "silver forest rocket violet hammer island pepper dragon winter copper"),
    "color": ("green gray black white brown pink", "orange purple yellow golden beige teal"),
    "folder": ("drafts attic office cellar", "garage closet studio kitchen"),
    "package": ("numpy flask redis click scipy django pandas celery", "torch keras boto jinja sanic pillow lxml numba"),
    "ending": ("tmp bak old log", "swp out obj err"),
    "label": ("alpha beta gamma delta", "north south east west"),
}


def _words(kind: str, split: Split) -> list[str]:
    return _WORDS[kind][split == "held-out"].split()


def _pick(kind: str, split: Split, rng: random.Random, count: int) -> list[str]:
    return rng.sample(_words(kind, split), count)


def _nth(kind: str, split: Split, number: int) -> str:
    words = _words(kind, split)
    return words[number % len(words)]


def _value(split: Split, rng: random.Random, low: int, high: int) -> int:
    """A number: even in training, odd in the held-out tasks."""
    return rng.randrange(low, high, 2) + (split == "held-out")


def _port(split: Split, rng: random.Random, number: int) -> Chore:
    service = _nth("service", split, number)
    other = next(s for s in _pick("service", split, rng, 2) if s != service)
    port, wrong = _value(split, rng, 3000, 7900), _value(split, rng, 8100, 9900)
    return Chore(
        family="port", description=f"Write the port of {service} into port.txt",
        files={f"{service}.conf": f"name {service}\nport {port}", f"{other}.conf": f"name {other}\nport {wrong}"},
        path=(f"cat {service}.conf", f"echo {port} > port.txt"),
        slips=(Slip("echo 8080 > port.txt"), Slip("echo 80 > port.txt")),
        advice=(f"Do not guess the port: look into {service}.conf first.", "Read the .conf file before you write."),
        equal={"port.txt": str(port)})


def _secret(split: Split, rng: random.Random, number: int) -> Chore:
    here, there = _pick("folder", split, rng, 2)
    word, wrong = _pick("word", split, rng, 2)
    file = _nth("thing", split, number)
    return Chore(
        family="secret", description="Write the secret word into word.txt",
        files={"README": f"The word is in {here}/{file}", f"{here}/{file}": word, f"{there}/{file}": wrong},
        path=("cat README", f"cat {here}/{file}", f"echo {word} > word.txt"),
        slips=(Slip("cat word.txt"), Slip("cat secret.txt"), Slip("echo secret > word.txt")),
        advice=("README says where the word is.", "Begin with README, it tells you where to look."),
        equal={"word.txt": word})


def _paint(split: Split, rng: random.Random, number: int) -> Chore:
    thing = _nth("thing", split, number)
    old, new = _pick("color", split, rng, 2)
    size = _value(split, rng, 2, 60)
    return Chore(
        family="paint", description=f"Change the color in {thing}.txt to {new}",
        files={f"{thing}.txt": f"size {size}\ncolor {old}", "notes.txt": f"size 1\ncolor {new}"},
        path=(f"cat {thing}.txt", f"sed -i s/{old}/{new}/ {thing}.txt"),
        slips=(Slip(f"sed -i s/red/{new}/ {thing}.txt"), Slip(f"sed -i s/blue/{new}/ {thing}.txt")),
        advice=("Look at the file before you change it.", f"You do not know its color yet: cat {thing}.txt first."),
        equal={f"{thing}.txt": f"size {size}\ncolor {new}"})


def _sort(split: Split, rng: random.Random, number: int) -> Chore:
    labels = _pick("label", split, rng, 3)
    words = _pick("word", split, rng, 3)
    folder = _nth("folder", split, number)
    at = number % 3
    right = f"{labels[at]}.log"
    files = {f"{a}.log": f"{w} {_value(split, rng, 10, 99)}" for a, w in zip(labels, words, strict=True)}
    return Chore(
        family="sort", description=f"Move the log with the word {words[at]} to {folder}",
        files=files | {f"{folder}/.keep": ""},
        path=(f"grep -l {words[at]} *.log", f"mv {right} {folder}"),
        slips=tuple(Slip(f"mv {a}.log {folder}", f"mv {folder}/{a}.log .") for a in labels if f"{a}.log" != right),
        advice=("Find out with grep which log holds the word.", "Search the logs first, do not move just any."),
        equal={f"{folder}/{right}": files[right]},
        absent=tuple(f"{folder}/{a}.log" for a in labels if f"{a}.log" != right))


def _clean(split: Split, rng: random.Random, number: int) -> Chore:
    first, second = sorted(_pick("word", split, rng, 2))
    ending, kept = _nth("ending", split, number), _nth("thing", split, number)
    doomed = (f"{first}.{ending}", f"{second}.{ending}")
    return Chore(
        family="clean", description=f"Delete the two .{ending} files",
        files={doomed[0]: "1", doomed[1]: "2", f"{kept}.csv": "3"},
        path=("ls", f"rm {doomed[0]}", f"rm {doomed[1]}"),
        slips=(Slip(f"rm a.{ending}"), Slip(f"rm file.{ending}")),
        advice=("List the files before you delete any.", "Use ls to see their names."),
        equal={f"{kept}.csv": "3"}, absent=doomed)


def _install(split: Split, rng: random.Random, number: int) -> Chore:
    package = _nth("package", split, number)
    other = next(p for p in _pick("package", split, rng, 2) if p != package)
    version, wrong = (f"{rng.randint(2, 9)}.{_value(split, rng, 2, 40)}" for _ in range(2))
    lines = [f"{package} {version}", f"{other} {wrong}"]
    rng.shuffle(lines)
    return Chore(
        family="install", description=f"Install {package}",
        files={"versions.txt": "\n".join(lines), "todo.txt": f"install {package}"},
        path=("cat versions.txt", f"install {package} {version}"),
        slips=(Slip(f"install {package}"), Slip(f"install {package} 1.0"), Slip(f"install {package} latest")),
        advice=("The version that we use stands in versions.txt.", "Take the version from versions.txt."),
        equal={"installed.txt": f"{package} {version}"})


FAMILIES: tuple[Family, ...] = (
    Family("port", 0.6, _port), Family("secret", 0.3, _secret), Family("paint", 0.6, _paint),
    Family("sort", 0.6, _sort), Family("clean", 0.6, _clean), Family("install", 0.3, _install))
"""The two with little skill need something that only a person tells: where the project keeps its facts."""

_SHORT_EACH = 8
_CHORES = (4, 5, 6)


def short_suite(split: Split) -> list[StudyTask]:
    """Tasks of one chore, the same every time."""
    mark = {"train": "t", "tune": "v", "new": "n", "held-out": "h"}[split]
    names = [(family, number, f"{family.name}-{mark}{number + 1}") for family in FAMILIES
             for number in range(_SHORT_EACH)]
    return [StudyTask(id=name, split=split, chores=(family.make(split, random.Random(name), number),))
            for family, number, name in names]


def long_suite(split: Split, count: int) -> list[StudyTask]:
    """Tasks of four to six chores of different families, the same every time; their good paths have 10 to 15 steps."""
    return [_long(split, number) for number in range(count)]


def _long(split: Split, number: int) -> StudyTask:
    rng = random.Random(f"{split} {number}")
    while True:  # two chores may not want the same file
        families = rng.sample(FAMILIES, _CHORES[number % len(_CHORES)])
        chores = tuple(family.make(split, rng, rng.randrange(100)) for family in families)
        names = [name for chore in chores for name in {*chore.files, *chore.equal}]
        endings = {name.rsplit(".", 1)[-1] for c in chores if c.family == "clean" for name in c.absent}
        if len(set(names)) == len(names) and not (endings & {"log"}) and sum(len(c.path) for c in chores) >= 9:
            return StudyTask(id=f"long-{split}-{number + 1}", split=split, chores=chores)


def skill_of(chore: Chore) -> float:
    """How likely an unguided agent begins the chore well."""
    return next(f.skill for f in FAMILIES if f.name == chore.family)
