"""Does a small policy learn an environment by the product's own commands? Demonstrations (`tiphys rollout --plan`),
supervised training on them (`export`, `train`), reinforcement from there (`rl`), and plays of items that were held out.

`python -m study.climb DESIGN FOLDER` runs what is not there yet and writes result.md and curve.svg; what was cut off
goes on. Nothing but the first model's random weights is made otherwise than by a command that a user has.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
from study.climb_curve import drawn
from study.intervals import Tried, interval, mean, paired
from study.people_design import Items
from study.small_policy import make

from core import program

DESIGNS = Path(__file__).parent / "climb_designs"


class Lesson(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A supervised training on the demonstrations of items, in the games of the seeds `games` and with the
    environment's `options`, of at most `steps`."""

    shown: tuple[Items, ...]
    train: dict[str, int | float]
    games: tuple[int, ...] = (0,)
    options: dict[str, str] = {}
    steps: int = 1_000


class Climb(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One study, written down before its runs. `words` are items whose words the policy knows, `sharpness` how well it
    copies before it is taught anything (0: not at all, see `lay_copying_in`), `lessons` what it is shown; `learn` are
    the items that reinforcement plays, `held` those that nothing is learnt from, each played `plays` times by the start
    and by what each of `seeds` ends with."""

    title: str
    kind: str
    width: int
    sharpness: float = 0.0
    words: tuple[Items, ...]
    lessons: tuple[Lesson, ...]
    learn: Items
    held: Items
    limit: int
    max_tokens: int
    plays: int
    rl: dict[str, int | float | str]
    seeds: tuple[int, ...]


def read_climb(name: str) -> Climb:
    """A design by its name."""
    return msgspec.toml.decode((DESIGNS / f"{name}.toml").read_bytes(), type=Climb)


class Climbing:
    """A study in its folder."""

    def __init__(self, design: Climb, folder: Path) -> None:
        self._design, self._folder = design, folder.absolute()

    def start(self) -> Path:
        """The model that reinforcement begins with: random weights, trained by each lesson in turn."""
        design, model = self._design, self._folder / "words"
        if not (model / "config.json").is_file():
            make(design.kind, model, width=design.width, items=_numbers(design.words), sharpness=design.sharpness)
        for number, lesson in enumerate(design.lessons, 1):
            trained = self._folder / f"sft-{number}"
            if not (trained / "model" / "config.json").is_file():
                self._tiphys("train", str(self._exported(number, lesson)), "--model", str(model), "--out", str(trained),
                             "--device", "cpu", *_set(lesson.train))
            model = trained / "model"
        return model

    def climb(self, seed: int) -> Path:
        """The model after reinforcement."""
        design, run = self._design, self._folder / f"run-{seed}"
        if not (run / "model" / "config.json").is_file():
            self._tiphys("rl", design.kind, "--model", str(self.start()), "--out", str(run), *_set({
                "items": _named(design.learn.numbers), "test_items": _named(design.held.numbers),
                "limit": design.limit, "max_tokens": design.max_tokens, "test_group": design.plays, "device": "cpu",
                "seed": seed, **design.rl}))
        return run / "model"

    def played(self, name: str, model: Path, seed: int) -> dict[str, float]:
        """The share of the plays of each held-out item that reached the goal."""
        design, path = self._design, self._folder / f"{name}.jsonl"
        self._kept(path, "rollout", design.kind, "--items", _named(design.held.numbers), "--group-size",
                   str(design.plays), "--local", str(model), "--steps", str(design.limit), "--max-tokens",
                   str(design.max_tokens), "--seed", str(1000 + seed), "--json")
        shares: dict[str, list[bool]] = {}
        for one in _sessions(path):
            shares.setdefault(str(one["item"]), []).append(one["score"] == 100.0)
        return {item: sum(won) / len(won) for item, won in shares.items()}

    def tested(self, seed: int) -> dict[int, float]:
        """The share of the held-out plays that reached the goal, by update."""
        lines = (self._folder / f"run-{seed}" / "metrics.jsonl").read_bytes().splitlines()
        return {one["update"]: one["test_solved"] for one in map(json.loads, lines) if one.get("test_sessions")}

    def _exported(self, number: int, lesson: Lesson) -> Path:
        data, sessions = self._folder / f"data-{number}", []
        for game in lesson.games:
            for items in lesson.shown:
                path = self._folder / f"shown-{items.first}-{items.count}-{items.step}-{game}.jsonl"
                self._kept(path, "rollout", self._design.kind, "--plan", "--items", _named(items.numbers), "--env-seed",
                           str(game), *(w for name in lesson.options.items() for w in ("--option", "=".join(name))),
                           "--json")
                sessions += [one["session"] for one in _sessions(path) if one["steps"] <= lesson.steps]
        if not (data / "manifest.json").is_file():
            self._tiphys("export", *sessions, "--to", "trl", "--model", str(self._folder / "words"), "--unjudged",
                         "keep", "--balance", "none", "--out", str(data))
        return data

    def _kept(self, path: Path, *arguments: str) -> None:
        """What a command prints, in a file that is there once it is whole."""
        if not path.is_file():
            part = path.with_suffix(".part")
            part.write_bytes(self._tiphys(*arguments))
            part.replace(path)

    def _tiphys(self, *arguments: str) -> bytes:
        """What a command prints. Raises CalledProcessError."""
        sys.stderr.write(f"tiphys {' '.join(arguments)[:200]}\n")
        environment = os.environ | {"TIPHYS_HOME": str(self._folder / "home")}
        return subprocess.run(program.command("tiphys", *arguments), env=environment, stdout=subprocess.PIPE,
                              check=True).stdout


def _numbers(several: Sequence[Items]) -> list[int]:
    return sorted({number for items in several for number in items.numbers})


def _named(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


def _set(values: Mapping[str, object]) -> list[str]:
    return [word for name, value in values.items() for word in ("--set", f"{name}={value}")]


def _sessions(path: Path) -> list[dict]:
    return [one for line in path.read_text(encoding="utf-8").splitlines() if "session" in (one := json.loads(line))]


def results(design: Climb, before: Sequence[dict[str, float]], after: Sequence[dict[str, float]]) -> list[str]:
    """The table's lines: shares of plays, with 95 % by a bootstrap over seeds and items."""
    first, last = _by_seed(design, before), _by_seed(design, after)
    plays = len(design.held.numbers) * design.plays
    lines = [f"| {design.title}, {plays} held-out plays a seed | share | 95 % |", "|---|---|---|"]
    for name, tried in (("after supervised training", first), ("after reinforcement", last)):
        low, high = interval(tried)
        lines.append(f"| {name} | {mean(tried):.0%} | {low:.0%} to {high:.0%} |")
    more = paired(last, first)
    seeds = ", ".join(f"{_mean(a):.0%} → {_mean(b):.0%}" for a, b in zip(before, after, strict=True))
    return [*lines, f"| more, paired by seed and item | {more.mean:+.0%} | {more.low:+.0%} to {more.high:+.0%} |",
            f"| by seed | {seeds} | |"]


def _by_seed(design: Climb, found: Sequence[dict[str, float]]) -> Tried:
    return {(seed, item): share for seed, one in zip(design.seeds, found, strict=True) for item, share in one.items()}


def _mean(shares: Mapping[str, float]) -> float:
    return sum(shares.values()) / len(shares)


def main() -> None:
    """Run what is missing; seeds side by side, as many as there are cores asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("design", choices=sorted(path.stem for path in DESIGNS.glob("*.toml")))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--at-once", type=int, default=1, help="seeds side by side")
    given = parser.parse_args()
    design, study = read_climb(given.design), Climbing(read_climb(given.design), given.folder)
    given.folder.mkdir(parents=True, exist_ok=True)
    start = study.start()
    with ThreadPoolExecutor(given.at_once) as pool:
        ends = list(pool.map(study.climb, design.seeds))
    before = [study.played(f"start-{seed}", start, seed) for seed in design.seeds]
    after = [study.played(f"end-{seed}", end, seed) for seed, end in zip(design.seeds, ends, strict=True)]
    lines = results(design, before, after)
    (given.folder / "result.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    picture = drawn(design.title, [study.tested(seed) for seed in design.seeds],
                    len(design.held.numbers) * design.plays)
    (given.folder / "curve.svg").write_text(picture, encoding="utf-8")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
