"""T5: computing a layer's activations again, with attention's outputs kept: time and memory against all of them again.

The row is as long for the model's width as 16,384 tokens are for 512: attention's share of the work is what counts.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
from bench_head import long_row
from rig import told
from training_rig import alternate, arguments, make_model, ours, trl

KEPT = {"activation_checkpointing": True, "activation_checkpointing_kwargs": {"selective": True}}


def main() -> None:
    """Measure and tell."""
    args = arguments(tokens=4096, layers=3, hidden=128, vocabulary=2000, rounds=3)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = make_model(folder / "model", layers=args.layers, hidden=args.hidden, vocabulary=args.vocabulary)
        rows = [long_row(args.tokens, args.vocabulary)]
        variants = {"full": ours(model, rows, folder, checkpointing="full"),
                    "selective": ours(model, rows, folder, checkpointing="selective"),
                    "none": ours(model, rows, folder, checkpointing="none"),
                    "trl": trl(model, rows, folder, **KEPT)}
        figures = alternate(variants, args.rounds)
        bare, kept = variants["none"].gradient(), variants["selective"].gradient()
        told("selective", tokens=args.tokens, **figures,
             gradient_difference=max(float(torch.max(torch.abs(g - kept[n]))) for n, g in bare.items()),
             goal_selective_to_full=0.92, goal_selective_to_full_memory=1.15, goal_gradient_difference=0)


if __name__ == "__main__":
    main()
