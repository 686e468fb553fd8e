"""Learning from people against learning without them, at equal samples: a small policy, true and imperfect advisers.

`python -m study.people OUT [--design room2] [--minutes 60]` tries each variant's learning rates, then plays, trains and
tests every variant of every seed, one line of OUT/results.jsonl each, and goes on where it was cut; `--table` prints
what there is. Sessions are the product's own, advice and verdicts are events of their logs, and what is trained is read
from there.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
from study.people_design import Case, Setting, cases, designs, read_design, tunings
from study.people_start import people_start
from study.people_table import Found, chosen_rates, read, table
from study.people_trial import Trial

from core.domain.ids import new_id
from core.store.lock import FileLock


class Study:
    """One design in a folder."""

    def __init__(self, out: Path, setting: Setting, digest: str) -> None:
        self.out, self.setting, self.digest = out, setting, digest
        self._results = out / "results.jsonl"

    def found(self) -> list[Found]:
        """What is finished."""
        return self._of(self.digest)

    def _of(self, digest: str) -> list[Found]:
        return [one for one in read(self._results) if one.design == digest]

    def run(self, minutes: float) -> None:
        """Do what is not done yet, as long as there is time."""
        until = time.monotonic() + 60 * minutes
        for find in (lambda: tunings(self.setting), self._rated):
            for case in find():
                if any(one.case == case for one in self.found()):
                    continue
                if time.monotonic() > until:
                    return
                self._do(case)

    def _rated(self) -> list[Case]:
        """All cases with their rates. Raises KeyError where the design that chose them has not been run here."""
        setting, found = self.setting, self.found()
        if setting.rates_of:
            setting, digest = read_design(setting.rates_of)
            found = self._of(digest)
        rates = chosen_rates(setting, found)
        return [msgspec.structs.replace(case, rate=rates[case.variant]) for case in cases(self.setting)]

    def _do(self, case: Case) -> None:
        setting, is_tuning = self.setting, case in tunings(self.setting)
        begun = 0 if setting.has_one_start else case.seed
        start = people_start(self.out / f"start-{self.digest[:12]}-{begun}", setting, begun)
        items = setting.learn.numbers[: setting.tuned_on] if is_tuning else setting.held.numbers
        began, home = time.process_time(), self.out / "homes" / new_id()
        trial = Trial(home, start, setting, case)
        shows_start = case.variant == "grpo" and not is_tuning
        before = [trial.tested(items, greedy=greedy) if shows_start else [] for greedy in (False, True)]
        for number in range(1, setting.updates + 1):
            trial.update(number)
        found = Found(design=self.digest, case=case, is_tuning=is_tuning, before=before[0], before_greedy=before[1],
                      sampled=trial.tested(items, greedy=False), greedy=trial.tested(items, greedy=True),
                      sessions=setting.updates * setting.tasks * setting.group,
                      cpu_s=round(time.process_time() - began, 1))
        with self._results.open("ab", buffering=0) as file:
            file.write(msgspec.json.encode(found) + b"\n")
        shutil.rmtree(home)
        sys.stdout.write(f"{time.strftime('%H:%M:%S')} {case}: {found.cpu_s} s of processor time\n")
        sys.stdout.flush()


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m study.people", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--design", choices=designs(), default="room2")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin nothing new after so long")
    parser.add_argument("--table", action="store_true", help="print what there is, and run nothing")
    given = parser.parse_args(argv)
    for name, value in (("HF_HUB_OFFLINE", "1"), ("TRANSFORMERS_VERBOSITY", "error"), ("TQDM_DISABLE", "1")):
        os.environ.setdefault(name, value)
    given.out.mkdir(parents=True, exist_ok=True)
    study = Study(given.out, *read_design(given.design))
    if not given.table:
        lock = FileLock(given.out / f"{given.design}.lock")
        if not lock.take():
            sys.stderr.write(f"Another process is at the study of {given.design} in {given.out}.\n")
            return 1
        study.run(given.minutes)
    sys.stdout.write("\n".join(table(study.setting, study.found())) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
