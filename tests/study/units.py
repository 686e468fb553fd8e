"""The units of a study, in their order: each is done once, needs others, and ends with a line in the book.

The base is taught; each seed's sessions are recorded and judged; learning rates are tried on tasks of their own; then
every variant is trained with every seed, and rolled out on the held-out tasks.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path

import msgspec
from study.base import make_base, teach_base
from study.book import Book, Line, Run
from study.design import Decoding, Design
from study.record import KINDS, Recorded, record, write_tasks
from study.reviewers import judge
from study.rollout import load_policy, roll_out
from study.session import Store, settings_for
from study.tasks import StudyTask
from study.train import VARIANTS, Variant, export_rows, train

from core.workers.export import Report

TEMPERATURE: Mapping[Decoding, float] = {"greedy": 0.0, "sampled": 1.0}
_AT_ONCE = 8


class Unit(msgspec.Struct, frozen=True):
    """`needs` are units that come before; `do` gives the line that tells of it, but for what it cost.

    `place` names the folder that it writes: units of one place (a model and its decodings) are never done at once.
    """

    needs: tuple[str, ...]
    do: Callable[[], Line]
    place: str = ""


class Study:
    """One folder with everything that a study makes."""

    def __init__(self, out: Path, design: Design, digest: str, book: Book) -> None:
        self._out, self._design, self._digest, self.book = out, design, digest, book
        out.mkdir(parents=True, exist_ok=True)
        self.units = dict(self._all())

    def left(self) -> list[str]:
        """The units that are not done, in their order."""
        return [name for name in self.units if not self.book.has(name)]

    def is_ready(self, unit: str) -> bool:
        """Whether all that it needs is done. Raises RuntimeError where the held-out tasks may not be touched."""
        tuned = {name for name in self.units if name.startswith("tune-")}
        if self.units[unit].needs and not unit.startswith("tune-") and tuned and all(map(self.book.has, tuned)):
            self._check_tuned()
        return all(self.book.has(name) for name in self.units[unit].needs)

    def lock(self, unit: str) -> str:
        """The name of the lock that whoever does this unit has to hold."""
        return self.units[unit].place or unit

    def do(self, unit: str) -> None:
        """Do a unit and write it down."""
        began, used = time.monotonic(), _used()
        line = self.units[unit].do()
        self.book.add(msgspec.structs.replace(
            line, unit=unit, cpu_s=round(_used() - used, 1), wall_s=round(time.monotonic() - began, 1)))

    def _check_tuned(self) -> None:
        best = max(score for name in self._design.variants for score in self.book.tuned(name).values())
        if best < self._design.least_tuned:
            raise RuntimeError(f"No variant does {self._design.least_tuned:g} % of the tuning tasks' chores (the best "
                               f"{best:.1f} %): the held-out tasks are not touched.")

    def _all(self) -> list[tuple[str, Unit]]:
        design = self._design
        trained = [VARIANTS[name] for name in design.variants if VARIANTS[name].kinds]
        tuned = {v.name: tuple(f"tune-{v.name}-{rate:g}" for rate in design.rates) if len(design.rates) > 1 else ()
                 for v in trained}
        units = [("base", Unit((), self._base))] if design.base else []
        start = tuple(name for name, _ in units)
        if any(tuned.values()):
            units.append(self._recording(design.tune_seed))
        for at, rate in enumerate(design.rates):
            units += [(tuned[v.name][at], Unit((*start, f"record-{design.tune_seed}"),
                                               lambda v=v, rate=rate: self._tuned(v, rate)))
                      for v in trained if tuned[v.name]]
        for seed in design.seeds:
            units.append(self._recording(seed))
            for name in design.variants:
                variant = VARIANTS[name]
                # nothing of the untrained model depends on a seed: it goes with the first
                if variant.kinds or seed == design.seeds[0]:
                    needs = (*start, *chain(*tuned.values()), *((f"record-{seed}",) if variant.kinds else ()))
                    units += [(f"{name}-{seed}-{d}",
                               Unit(needs, lambda v=variant, s=seed, d=d: self._ran(v, s, d), f"{name}-{seed}"))
                              for d in design.decodings]
        return units

    def _recording(self, seed: int) -> tuple[str, Unit]:
        return f"record-{seed}", Unit((), lambda: self._recorded(seed))

    # ---- the parts of the way

    def _line(self, **what: object) -> Line:
        return Line(design=self._digest, unit="", cpu_s=0.0, wall_s=0.0, **what)  # type: ignore[arg-type]

    @cached_property
    def _start(self) -> Path:
        """The model whose tokens count, before it is taught anything."""
        if self._design.base is None:
            from core.llm.smollm2 import smollm2_dir

            return smollm2_dir(Path(os.environ.get("TIPHYS_TEST_CACHE") or self._out.parent / "cache"))
        folder = self._out / "random"
        if not folder.is_dir():
            made = make_base(self._out / f"random-{os.getpid()}", self._design.base, 0)
            with contextlib.suppress(OSError):  # of one design it is the same, whichever process makes it
                made.rename(folder)
            shutil.rmtree(made, ignore_errors=True)
        return folder

    @property
    def _model(self) -> Path:
        """What every variant begins with."""
        return self._out / "base" / "model" if self._design.base else self._start

    def _base(self) -> Line:
        assert self._design.base is not None
        return self._line(followed=teach_base(self._start, self._out / "base", self._design.base, 0))

    def _home(self, seed: int) -> Path:
        return self._out / f"sessions-{seed}"

    def _settings(self, name: str):
        return settings_for(name, self._design.answer_tokens, self._design.context_tokens)

    def _recorded(self, seed: int) -> Line:
        """Record and judge a seed's sessions."""
        shutil.rmtree(self._home(seed), ignore_errors=True)
        store = Store(self._home(seed))
        count = load_policy(self._start, half=False, temperature=0.0).count
        tasks, room = self._design.suite("train"), asyncio.Semaphore(_AT_ONCE)

        async def one(task: StudyTask, kind: str) -> Recorded:
            async with room:
                return await record(store, task, kind, seed, self._settings("scripted"), count)

        async def all_of_them():
            recorded = await asyncio.gather(*(one(task, kind) for task in tasks for kind in KINDS))
            return recorded, await judge(store, recorded, seed)

        try:
            write_tasks(store.home.tasks, tasks)
            recorded, masked = asyncio.run(all_of_them())
        finally:
            store.close()
        return self._line(seed=seed, recorded=recorded, masked=masked)

    def _tuned(self, variant: Variant, rate: float) -> Line:
        """Try a learning rate on tasks that nothing is trained on, and that are not held out."""
        place = self._out / f"tune-{variant.name}-{rate:g}"
        seed = self._design.tune_seed
        report, model = self._trained(variant, seed, rate, place)
        runs = [self._rolled_out(variant, seed, d, rate, report, model, place, self._design.suite("tune"))
                for d in self._design.decodings]
        shutil.rmtree(place, ignore_errors=True)
        return self._line(tuned=runs)

    def _ran(self, variant: Variant, seed: int, decoding: Decoding) -> Line:
        """Train a variant, unless that is done, and roll it out on the held-out tasks."""
        place, rate = self._out / f"{variant.name}-{seed}", self.rate(variant.name)
        report, model = self._trained(variant, seed, rate, place) if variant.kinds else (Report(), self._model)
        run = self._rolled_out(variant, seed, decoding, rate, report, model, place, self._design.suite("held-out"))
        rest = [d for d in self._design.decodings if d != decoding]
        if all(self.book.has(f"{variant.name}-{seed}-{d}") for d in rest):
            shutil.rmtree(place / "training", ignore_errors=True)
        return self._line(run=run)

    def rate(self, variant: str) -> float:
        """The learning rate of a variant: the best of those that were tried; of equal ones the smallest."""
        tried = self.book.tuned(variant)
        return max(tried, key=lambda rate: (tried[rate], -rate)) if tried else self._design.rates[0]

    def _trained(self, variant: Variant, seed: int, rate: float, place: Path) -> tuple[Report, Path]:
        """The rows and the folder of the trained model; a training that is done already is not done again."""
        shutil.rmtree(place / "data", ignore_errors=True)
        log = self._home(seed) / "server.db"
        report = export_rows(log, variant, self.book.recorded(seed), self._model, place / "data")
        if not (place / "training" / "model").is_dir():
            shutil.rmtree(place / "training", ignore_errors=True)
        model = train(place / "data", self._model, place / "training", self._design.plan, rate, seed)
        shutil.rmtree(place / "training" / "checkpoints", ignore_errors=True)
        return report, model

    def _rolled_out(self, variant: Variant, seed: int, decoding: Decoding, rate: float, report: Report, model: Path,
                    place: Path, tasks: Sequence[StudyTask]) -> Run:
        home = place / decoding
        shutil.rmtree(home, ignore_errors=True)
        store = Store(home)
        policy = load_policy(model, half=self._design.plan.half, temperature=TEMPERATURE[decoding])
        try:
            write_tasks(store.home.tasks, tasks)
            outcomes = asyncio.run(roll_out(store, f"{variant.name}-{seed}", tasks, policy,
                                            self._settings(variant.name)))
        finally:
            store.close()
        sessions = len(variant.sessions(self.book.recorded(seed))) if variant.kinds else 0
        return Run(variant=variant.name, seed=seed, decoding=decoding, rate=rate, rows=report.rows, sessions=sessions,
                   tokens=report.tokens, trained=report.trained, outcomes=outcomes)


def _used() -> float:
    """Processor seconds of this process and of those that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
