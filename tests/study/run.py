"""The whole study by one command: record, judge, export, train, roll out, count; prints the table as Markdown.

    make study                    all of it (docs/study.md), under an hour of one core
    make study DEVICE=cuda        the same on a GPU
    python -m study.run --quick   the pipeline alone, on a tiny random model: its figures mean nothing

What is finished stands in OUT/results.jsonl and is not done again, so an interrupted study goes on where it was.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from study.record import KINDS, RESOURCES, Recorded, record, session_name, write_tasks
from study.results import DECODINGS, Book, Decoding, Run, Settings, table, write_into
from study.rollout import roll_out
from study.session import Store
from study.tasks import StudyTask, suite
from study.train import VARIANTS, Plan, Variant, export_rows, train

from core.workers.export import Report

SEEDS = (1, 2, 3)


class Study:
    """One folder with everything that a study makes."""

    def __init__(self, out: Path, model: Path, settings: Settings, tasks: Sequence[StudyTask], device: str) -> None:
        self._out, self._model, self._settings, self._device = out, model, settings, device
        self._train = [t for t in tasks if t.split == "train"]
        self._held_out = [t for t in tasks if t.split == "held-out"]
        out.mkdir(parents=True, exist_ok=True)
        self.book = Book(out / "results.jsonl", settings)

    def run(self, seeds: Sequence[int]) -> None:
        """Everything that is not done yet, seed by seed, so that what is there at any time can be compared."""
        for decoding in DECODINGS:
            for seed in seeds:
                if not self.book.recorded(seed):
                    self.book.add_recorded(seed, asyncio.run(self._record(seed)))
                for variant in VARIANTS:
                    # nothing of the untrained model depends on a seed: it goes with the first
                    if (variant.kinds or seed == 1) and not self.book.has(variant.name, seed, decoding):
                        self.book.add(self._run(variant, seed, decoding))
        for seed in seeds:
            for variant in VARIANTS:
                shutil.rmtree(self._folder(variant, seed) / "training" / "model", ignore_errors=True)

    def _home(self, seed: int) -> Path:
        return self._out / f"sessions-{seed}"

    async def _record(self, seed: int) -> list[Recorded]:
        shutil.rmtree(self._home(seed), ignore_errors=True)
        store = Store(self._home(seed))
        try:
            write_tasks(store.home.tasks, self._train)
            return [await record(store, task, kind, seed) for task in self._train for kind in KINDS]
        finally:
            store.close()

    def _folder(self, variant: Variant, seed: int) -> Path:
        return self._out / f"{variant.name}-{seed}"

    def _run(self, variant: Variant, seed: int, decoding: Decoding) -> Run:
        """Train a variant, unless that is done, and roll it out."""
        import torch

        began, used = time.monotonic(), time.process_time()
        report, model = self._trained(variant, seed) if variant.kinds else (Report(), self._model)
        home = self._folder(variant, seed) / decoding
        shutil.rmtree(home, ignore_errors=True)
        store = Store(home)
        torch.manual_seed(seed)
        try:
            write_tasks(store.home.tasks, self._held_out)
            outcomes = asyncio.run(roll_out(store, f"{variant.name}-{seed}", self._held_out, model,
                                            device=self._device, temperature=float(decoding == "sampled")))
        finally:
            store.close()
        return Run(variant=variant.name, seed=seed, decoding=decoding, rows=report.rows, tokens=report.tokens,
                   trained=report.trained, outcomes=outcomes, wall_s=round(time.monotonic() - began, 1),
                   cpu_s=round(time.process_time() - used, 1))

    def _trained(self, variant: Variant, seed: int) -> tuple[Report, Path]:
        """The rows and the folder of the trained model; a training that is done already is not done again."""
        folder = self._folder(variant, seed)
        sessions = [session_name(seed, task, kind) for task in self._train for kind in variant.kinds]
        shutil.rmtree(folder / "data", ignore_errors=True)
        report = export_rows(self._home(seed) / "server.db", sessions, self._model, folder / "data",
                             masked=variant.masked)
        if not (folder / "training" / "model").is_dir():
            shutil.rmtree(folder / "training", ignore_errors=True)
        model = train(folder / "data", self._model, folder / "training", self._settings.plan, seed, self._device)
        shutil.rmtree(folder / "training" / "checkpoints", ignore_errors=True)
        return report, model


def few(tasks: Sequence[StudyTask]) -> list[StudyTask]:
    """One task of three families in either split."""
    return [t for t in tasks if t.id in ("port-t1", "sort-t1", "install-t1", "port-h1", "sort-h1", "install-h1")]


def main(argv: Sequence[str] | None = None) -> int:
    """Run, go on, or (`--table`) only print what is there."""
    parser = argparse.ArgumentParser(prog="python -m study.run", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("build/study"))
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS, help="Processes may share them out.")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--table", action="store_true", help="Only print the table of what is done.")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="Put the table into docs/study.md, too.")
    args = parser.parse_args(argv)
    for name, value in (("HF_HUB_OFFLINE", "1"), ("TRANSFORMERS_VERBOSITY", "error"), ("TQDM_DISABLE", "1")):
        os.environ.setdefault(name, value)
    os.environ["TIPHYS_RESOURCES"] = str(RESOURCES)  # the agent's prompts, short ones
    plan = Plan(updates=2, batch=2) if args.quick else Plan()
    settings = Settings(plan=plan, tasks=6 if args.quick else len(suite()), quick=args.quick)
    if not args.table:
        tasks = few(suite()) if args.quick else suite()
        Study(args.out, _model(args.out, quick=args.quick), settings, tasks, args.device).run(args.seeds)
    book = Book(args.out / "results.jsonl", settings)
    sys.stdout.write(table(book))
    if args.write:
        write_into(args.write, book)
    return 0


def _model(out: Path, *, quick: bool) -> Path:
    if quick:
        from support.tiny_model import make_model

        return make_model(out / "tiny")
    from core.llm.smollm2 import smollm2_dir

    return smollm2_dir(Path(os.environ.get("TIPHYS_TEST_CACHE") or out / "cache"))


if __name__ == "__main__":
    sys.exit(main())
