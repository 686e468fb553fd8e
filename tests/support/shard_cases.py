"""Run by `accelerate launch` in each of several processes: the gradient of a first update, or a whole run, of several
models in turn, so that the libraries are imported once.

`shard_cases.py FOLDER OUT`: FOLDER holds data.jsonl and the models `tied` and `untied`. Gradients go to
OUT/PRECISION/MODEL-METHOD.pt with loss and parameters, whole runs (in bf16) to OUT/PRECISION/MODEL-METHOD, and to
OUT/PRECISION/states.jsonl what processes had written each time that a checkpoint's state was.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import torch
from accelerate.state import AcceleratorState
from support.updates import trainer_gradient

from core.training.launch import is_first
from core.training.settings import TrainSettings
from core.training.train import run

CASES = [(model, method) for model in ("tied", "untied") for method in ("full", "lora")]
SHARED = [("tied", "full"), ("untied", "lora")]
"""Cases that are also run with each row shared by the processes."""
RUN = {"batch": 8, "epochs": 2, "learning_rate": 1e-3, "min_learning_rate": 1e-4, "weight_decay": 0.1, "save_every": 2,
       "pack_tokens": 64}


def main(folder: Path, out: Path) -> None:
    """Every case in both precisions, one after the other."""
    for precision in ("fp32", "bf16"):
        (out / precision).mkdir(exist_ok=True)
        AcceleratorState._reset_state()  # what one process computes in is settled once, elsewhere
        cases(precision, folder, out / precision)


def cases(precision: str, folder: Path, out: Path) -> None:
    """Every case in a precision."""
    hold_up(out / "states.jsonl")
    pack = 64 if precision == "fp32" else 100_000  # many sums of parts, or one, as the processes exchanged it
    for model, method in CASES:
        torch.manual_seed(5)
        name, more = f"{model}-{method}", {"method": method, "precision": precision, "processes": 2}
        loss, gradient, trainer = trainer_gradient(folder / model, folder / "data.jsonl", out / f"{name}-gradient",
                                                   batch=21, pack_tokens=pack, **more)
        if is_first():
            torch.save((loss, gradient, trainer.trained), out / f"{name}.pt")
        if (model, method) in SHARED:
            torch.manual_seed(5)
            both = trainer_gradient(folder / model, folder / "data.jsonl", out / f"{name}-shared-gradient", batch=21,
                                    pack_tokens=pack, context_parallel=2, **more)
            if is_first():
                torch.save((*both[:2], both[2].trained), out / f"{name}-shared.pt")
        if precision == "bf16":
            run(TrainSettings(data=str(folder), model=str(folder / model), out=str(out / name), device="cpu",
                              **RUN, **more))


def hold_up(states: Path) -> None:
    """The first process notes which parts of a checkpoint are there when it calls it whole; the others are late."""
    import transformers

    from core.training import trainer

    whole, save = trainer.seal, transformers.Trainer._save_rng_state

    def note(folder: Path) -> None:
        with states.open("a") as file:
            file.write(json.dumps(sorted(p.name for p in folder.glob("rng_state_*"))) + "\n")
        whole(folder)

    def late(self: object, folder: str) -> None:
        time.sleep(0 if is_first() else 0.1)
        save(self, folder)

    trainer.seal, transformers.Trainer._save_rng_state = note, late


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
