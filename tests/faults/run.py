"""The whole product under faults, from a seed; prints one line of JSON per run and fails when a promise was broken.

make faults                              one run of a minute
python tests/faults/run.py --seed 7 --seconds 60
python tests/faults/run.py --without R2  the same with a delivery rule removed: the harm that the rule prevents
python tests/faults/run.py --compare     the same faults with all rules, and without each of them in turn
python tests/faults/run.py --every-boundary   a death at every COMMIT and send of each party
python tests/faults/run.py --long --seconds 4500    ten thousand kills, a hundred thousand messages, in one run
python tests/faults/run.py --containers --seconds 30    containers and their engine killed with everybody else
python tests/faults/run.py --elsewhere --seconds 25     backups restored often, and no runner's journal at hand
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from faults import deaths  # noqa: E402
from faults.chaos import disturb  # noqa: E402
from faults.evidence import Evidence  # noqa: E402
from faults.invariants import Shown, check, tally  # noqa: E402
from faults.mutants import AIMS  # noqa: E402
from faults.stand import Settings  # noqa: E402

LONG = Settings(
    name="long", clients=6, following=2, rate=20.0, burst=8, backlog=60, steps=60, margin=20, pace_s=0.3,
    pause_s=0.07, patience_s=300.0,
    kills=10_000, messages=100_000, events_per_kill=30.0,
    weights={"kill server": 1.2, "kill runner": 8.0, "kill client": 8.0, "black hole": 0.1, "stop and continue": 0.5,
             "reset": 1.0, "cut in a frame": 1.0, "broken disk": 0.3, "late bytes": 0.4},
)  # fmt: skip
"""Ten thousand kills and a hundred thousand messages, in one run: rather of one party than of what all wait for."""


CONTAINERS = Settings(
    name="containers", clients=2, rate=8.0, steps=14, pace_s=0.2, pause_s=1.0, sandbox="docker", patience_s=120.0,
    faults=("kill container", "kill engine", "kill runner", "kill server", "kill client", "reset"),
)  # fmt: skip
"""Agents that act in real containers, which are killed too."""


ELSEWHERE = Settings(
    name="elsewhere", rate=40.0, burst=6, steps=60, pace_s=0.05, elsewhere=True, weights={"restored backup": 3.0},
    faults=("restored backup", "reset", "kill runner", "kill client", "late bytes", "stop and continue"),
)  # fmt: skip
"""A restored log is told of steps and sessions by those who come back, in whatever order they come."""


def one(settings: Settings, folder: Path) -> dict[str, Any]:
    """One run and its judgement."""
    began = time.monotonic()
    told = asyncio.run(disturb(folder, settings))
    evidence = Evidence(folder)
    violations = check(evidence)
    kinds = Counter(m.kind for m in evidence.messages)
    seen = sum(len(Shown(evidence, session).first) for session in evidence.events)
    return {
        "at": datetime.now(UTC).isoformat(timespec="minutes"),
        "run": settings.name,
        "seed": settings.seed,
        "aimed": settings.faults,
        "without": settings.without,
        "seconds": round(time.monotonic() - began, 1),
        "messages": sum(kinds.values()),
        "kinds": dict(kinds),
        "seen_by_the_model": seen,
        "sessions": len(evidence.rows),
        "steps": sum(r.steps for r in evidence.rows.values()),
        "acts": len(evidence.acts),
        "questions": sum(map(len, evidence.prompts.values())),
        **told,
        **tally(violations),
    }


def every_boundary(folder: Path, without: str, upto: int) -> dict[str, Any]:
    """One session of three steps per boundary of each party, and one death in each."""
    began = time.monotonic()
    died = [d for d in deaths.run(folder, deaths.every(upto), without) if d.at or d.violations]
    told = tally([v for d in died for v in d.violations])
    return {
        "at": datetime.now(UTC).isoformat(timespec="minutes"),
        "run": "every boundary",
        "boundaries": dict(Counter(d.party for d in died)),
        "kills": sum(bool(d.at) for d in died),
        "without": without,
        "seconds": round(time.monotonic() - began, 1),
        **told,
        "died_badly": [f"{d.party} {d.number} {d.at}" for d in died if d.violations][:20],
    }


def _runs(told: argparse.Namespace, folder: Path) -> Iterator[dict[str, Any]]:
    given = Settings(seconds=told.seconds, pause_s=told.pause, rate=told.rate, clients=told.clients, steps=told.steps)
    if told.long or told.containers or told.elsewhere:
        kind = LONG if told.long else CONTAINERS if told.containers else ELSEWHERE
        given = msgspec.structs.replace(kind, seconds=told.seconds)
    for seed in range(told.seed, told.seed + told.runs):
        place = folder / f"seed-{seed}"
        place.mkdir(parents=True)
        yield one(msgspec.structs.replace(given, seed=seed, without=told.without), place)


def compared(told: argparse.Namespace, folder: Path) -> Iterator[dict[str, Any]]:
    """The faults that rules stand against: with every rule, then without each of these.

    Deaths at boundaries end with the second that does harm; with every rule they are what `--every-boundary` does.
    """
    for aim in AIMS:
        wanted = [rule for rule in aim.rules if not told.rules or rule in told.rules.split(",")]
        for without in wanted if aim.party or not wanted else ["", *wanted]:
            place = folder / f"{'-'.join(aim.rules)}-{without or 'all'}"
            place.mkdir(parents=True)
            if aim.party:
                yield at_boundaries(place, without, aim.party, aim.upto)
            else:
                settings = Settings(name="aimed", seed=told.seed, seconds=told.seconds, clock=False, without=without)
                yield one(msgspec.structs.replace(settings, **aim.chaos), place)
            shutil.rmtree(place)


def at_boundaries(folder: Path, without: str, party: str, upto: int) -> dict[str, Any]:
    """Deaths of one party at its first boundaries, until two did harm."""
    began = time.monotonic()
    points = [(party, n) for n in range(1, upto + 1)]
    died = [d for d in deaths.run(folder, points, without, enough=2) if d.at or d.violations]
    return {
        "at": datetime.now(UTC).isoformat(timespec="minutes"),
        "run": "aimed",
        "aimed": [f"{party} dies at a boundary"],
        "kills": sum(bool(d.at) for d in died),
        "messages": 8 * len(died),
        "without": without,
        "seconds": round(time.monotonic() - began, 1),
        "settled_s": 0.0,
        **tally([v for d in died for v in d.violations]),
    }


def _tell(result: dict[str, Any], results: str) -> None:
    line = json.dumps(result, ensure_ascii=False)
    print(line, flush=True)  # noqa: T201
    if results:
        with Path(results).open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def main() -> int:
    """Run; the exit status says whether every promise was kept (or, without a rule, whether harm was seen)."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--runs", type=int, default=1, help="That many runs, with the seeds that follow.")
    parser.add_argument("--pause", type=float, default=0.1, help="Mean seconds between two faults.")
    parser.add_argument("--rate", type=float, default=30.0, help="Messages per second and client.")
    parser.add_argument("--steps", type=int, default=40, help="Steps of each session.")
    parser.add_argument("--clients", type=int, default=3)
    parser.add_argument("--long", action="store_true", help="Ten thousand kills, a hundred thousand messages.")
    parser.add_argument("--containers", action="store_true", help="Agents in real containers, which are killed too.")
    parser.add_argument("--elsewhere", action="store_true", help="Restored backups, no runner's journal at hand.")
    parser.add_argument("--results", default="", help="A file to which each line is appended (table.py reads it).")
    parser.add_argument("--without", default="", help="A rule to remove: R1 … R12.")
    parser.add_argument("--keep", default="", help="A folder in which the files are left.")
    parser.add_argument(
        "--every-boundary",
        type=int,
        nargs="?",
        const=2000,
        default=0,
        metavar="UPTO",
        help="Die at every COMMIT and send instead (of each party, up to so many).",
    )
    parser.add_argument("--rules", default="", help="Compare these alone, such as R3,R7.")
    parser.add_argument(
        "--compare",
        action="store_true",
        help="Aimed faults: with all rules, then without each that stands against them.",
    )
    told = parser.parse_args()
    if told.every_boundary:
        with tempfile.TemporaryDirectory(prefix="faults-") as made:
            result = every_boundary(Path(told.keep or made), told.without, told.every_boundary)
        _tell(result, told.results)
        return int(bool(result["died_badly"]) != bool(told.without))
    with tempfile.TemporaryDirectory(prefix="faults-") as made:
        folder = Path(told.keep or made)
        broken = 0
        for result in compared(told, folder) if told.compare else _runs(told, folder):
            _tell(result, told.results)
            harm = result["lost"] + result["repeated"] + result["disordered"] + result["other"]
            broken += bool(harm or "settled_s" not in result) != bool(result["without"])
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
