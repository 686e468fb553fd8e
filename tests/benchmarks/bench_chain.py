"""ReAct and summary samples of a session: separate against merged into chains, on the same log and model.

Alternating rounds in one process, a whole epoch forward and backward each, medians; gradients must be equal. Takes
one or two minutes on one core. The model is small, so that the ratio of the tokens shows, not a machine. The last
segment of a session has no summary: of n segments the best ratio is n / (2n - 1).
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

from rig import told
from support.exported import write_log
from support.logs import Maker
from support.tiny_model import make_model

SEGMENTS, STEPS, ROUNDS = 10, 6, 5


def session() -> Maker:
    """A session of several segments, each ended by a summary."""
    made = Maker(11)
    for segment in range(SEGMENTS):
        for _ in range(STEPS):
            made.add_step(fails=False)
        if segment < SEGMENTS - 1:
            made.summarise()
    return made


class Bench:
    """One model and one data set."""

    def __init__(self, folder: Path, log: Path, model: Path, name: str, **options: Any) -> None:
        from core.export.options import ExportOptions
        from core.export.run import export
        from core.training.data import check_rows, load_rows
        from core.training.engine import make_trainer
        from core.training.settings import TrainSettings

        export(log, ["s"], "trl", folder / name, str(model), ExportOptions(**options))
        self.facts = check_rows([folder / name / "data.jsonl"], 100_000, 100_000, folder / f"{name}-rows")
        settings = TrainSettings(data=str(folder / name), model=str(model), out=str(folder / f"{name}-out"), batch=1,
                                 device="cpu")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._trainer = make_trainer(settings, self.facts, load_rows(self.facts), [])
        self._model = self._trainer.model.eval()
        self._batches = [self._trainer.data_collator([dict(r)]) for r in self._trainer.train_dataset]

    def epoch(self) -> tuple[float, Any]:
        """Seconds of one forward and backward pass over all rows, and the gradient as one vector."""
        import torch

        self._model.zero_grad()
        started = time.thread_time()
        count = self._trainer._get_num_items_in_batch(self._batches, torch.device("cpu"))
        for batch in self._batches:
            self._trainer.compute_loss(self._model, dict(batch), num_items_in_batch=count).backward()
        seconds = time.thread_time() - started
        return seconds, torch.cat([p.grad.flatten() for p in self._model.parameters() if p.grad is not None])


def main() -> None:
    """Measure and tell."""
    import torch

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log, model = write_log(folder / "server.db", s=session()), make_model(folder / "model")
        apart = Bench(folder, log, model, "separate", balance="weight")
        joined = Bench(folder, log, model, "merged", chains=True)
        repeated = Bench(folder, log, model, "repeated")
        times: dict[str, list[float]] = {"separate": [], "merged": []}
        for _ in range(ROUNDS):
            (first, one), (second, other) = apart.epoch(), joined.epoch()
            times["separate"].append(first)
            times["merged"].append(second)
        error = float((one - other).norm() / one.norm())
        ratios = [b / a for a, b in zip(times["separate"], times["merged"], strict=True)]
        told("chain", rows_separate=apart.facts.rows, rows_merged=joined.facts.rows, rows_repeated=repeated.facts.rows,
             tokens_separate=apart.facts.tokens, tokens_merged=joined.facts.tokens,
             tokens_repeated=repeated.facts.tokens,
             token_ratio=round(joined.facts.tokens / apart.facts.tokens, 3),
             cpu_s_separate=round(statistics.median(times["separate"]), 3),
             cpu_s_merged=round(statistics.median(times["merged"]), 3), time_ratio=round(statistics.median(ratios), 3),
             gradient_error=error, goal_time_ratio=0.55)


if __name__ == "__main__":
    main()
