"""Chains against the paper's repeated rows at the same number of updates: is the final loss the same within noise?

A small model of random weights is trained on the same sessions in both ways from several seeds (order of the rows, and
the weights it begins with, the same for both); the loss on the training mixture and on held-out sessions is that of
plain transformers on the same rows. Told: each seed's two losses, then the mean of the paired differences with its 95 %
interval (Student's t), beside how far seeds differ among themselves. Some minutes on one core.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

from rig import told
from support.exported import write_log
from support.logs import Maker
from support.tiny_model import make_model, trl_template

SESSIONS, HELD, SEGMENTS, STEPS = 10, 2, 3, 3
COPIES = 17
"""Rows of the paper's data for a chain: 7 of steps and 10 of its summary."""

_T = {4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
"""Student's t at 97.5 %, by the number of seeds."""


def session(seed: int) -> Maker:
    """Segments that each end with a summary."""
    made = Maker(seed)
    for _ in range(SEGMENTS):
        for _ in range(STEPS):
            made.add_step(fails=False)
        made.summarise()
    return made


def data_sets(folder: Path, model: Path) -> None:
    """The same sessions and the same actions in both ways."""
    from core.export.options import read_options
    from core.export.run import export

    names = [f"s{n}" for n in range(SESSIONS)]
    log = write_log(folder / "server.db", **{name: session(40 + n) for n, name in enumerate(names)})
    held = [f"task_{40 + SESSIONS - 1 - n}" for n in range(HELD)]
    for way, preset in (("chains", "once"), ("paper", "paper")):
        export(log, names, "trl", folder / way, str(model),
               read_options({"preset": preset, "overlap": "once", "eval_tasks": held}))


def trained(folder: Path, model: Path, way: str, seed: int, updates: int, batch: int) -> Path:
    """The model after so many updates of so many rows."""
    from core.training.settings import TrainSettings
    from core.training.train import run

    out = folder / f"{way}-{seed}"
    settings = TrainSettings(
        data=str(folder / way / "data.jsonl"), model=str(model), out=str(out), seed=seed, device="cpu", epochs=1000.0,
        max_steps=updates, batch=batch, learning_rate=3e-3, min_learning_rate=6e-4,
        save_every=10_000)
    run(settings)
    return settings.result


def loss_of(model: Path, data: Path) -> float:
    """The mean over the trained tokens of all rows, copies too, by plain transformers."""
    import torch
    from transformers import AutoModelForCausalLM

    net = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).eval()
    rows = [json.loads(line) for line in data.read_text().splitlines()]
    seen: dict[str, tuple[float, int]] = {}
    total, count = 0.0, 0
    for row in rows:
        key = json.dumps(row["labels"])
        if key not in seen:
            tokens = sum(label != -100 for label in row["labels"][1:])
            with torch.no_grad():
                loss = net(input_ids=torch.tensor([row["input_ids"]]), labels=torch.tensor([row["labels"]])).loss
            seen[key] = float(loss) * tokens, tokens
        total, count = total + seen[key][0], count + seen[key][1]
    return total / count


def main() -> None:
    """Train, measure and tell."""
    import torch

    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=6, choices=_T)
    parser.add_argument("--updates", type=int, default=60)
    parser.add_argument("--batch", type=int, default=4, help="chains per update; of the paper's rows 17 times as many")
    parser.add_argument("--chains", type=int, help="chains per update, where the paper's rows are to stay as they are")
    args = parser.parse_args()
    torch.set_num_threads(1)
    losses: dict[str, list[dict[str, float]]] = {"chains": [], "paper": []}
    batches = {"chains": args.chains or args.batch, "paper": args.batch * COPIES}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        template = trl_template("qwen2_5")
        data_sets(folder, make_model(folder / "model", template=template))
        for seed in range(args.seeds):
            model = make_model(folder / f"model-{seed}", template=template, seed=seed)
            for way, found in losses.items():
                result = trained(folder, model, way, seed, args.updates, batches[way])
                found.append({"train": loss_of(result, folder / "paper/data.jsonl"),
                              "held": loss_of(result, folder / "paper/eval.jsonl")})
                told("order", seed=seed, way=way, batch=batches[way], **found[-1])
    for part in ("train", "held"):
        told("order", **summary(part, losses))


def summary(part: str, losses: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """Means of both ways, their spread over seeds, and the mean paired difference with its interval."""
    chains, paper = ([one[part] for one in losses[way]] for way in ("chains", "paper"))
    apart = [c - p for c, p in zip(chains, paper, strict=True)]
    mean, half = statistics.mean(apart), _T[len(apart)] * statistics.stdev(apart) / len(apart) ** 0.5
    return {"loss": part, "chains": statistics.mean(chains), "paper": statistics.mean(paper),
            "spread_chains": statistics.stdev(chains), "spread_paper": statistics.stdev(paper),
            "difference": mean, "low": mean - half, "high": mean + half}


if __name__ == "__main__":
    main()
