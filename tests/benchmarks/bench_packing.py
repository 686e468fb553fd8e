"""T6: rows of very different lengths: padded, grouped by length, and packed without padding."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import torch
from bench_head import long_row
from rig import told
from training_rig import alternate, arguments, make_model, ours, plain, ratio, trl

LENGTHS = (512, 1024, 1536, 2048, 3072, 4096, 6144, 8192)


def padded(rows: list[dict[str, Any]], at_once: int) -> list[dict[str, Any]]:
    """Batches with an attention mask, as transformers' own collators make them."""
    batches = []
    for n in range(0, len(rows), at_once):
        few = rows[n : n + at_once]
        shape = len(few), max(len(r["input_ids"]) for r in few)
        ids, labels, mask = torch.zeros(shape, dtype=torch.long), torch.full(shape, -100), torch.zeros(shape).long()
        for at, row in enumerate(few):
            size = len(row["input_ids"])
            ids[at, :size], labels[at, :size] = torch.tensor(row["input_ids"]), torch.tensor(row["labels"])
            mask[at, :size] = 1
        batches.append({"input_ids": ids, "labels": labels, "attention_mask": mask})
    return batches


def main() -> None:
    """Measure and tell."""
    args = arguments(shrink=4, layers=3, hidden=128, vocabulary=2000, rounds=3)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = make_model(folder / "model", layers=args.layers, hidden=args.hidden, vocabulary=args.vocabulary)
        rows = [long_row(n // args.shrink, args.vocabulary, span=8, seed=n) for n in LENGTHS]
        free = {"padding_free": True, "activation_checkpointing": False}
        variants = {"padded": plain(model, padded(rows, len(rows))), "grouped": plain(model, padded(rows, 2)),
                    "trl": trl(model, rows, folder, rows_at_once=len(rows), **free),
                    "ours": ours(model, rows, folder, checkpointing="none", pack_tokens=2 * LENGTHS[-1] // args.shrink)}
        figures = alternate(variants, args.rounds)
        told("packing", lengths=[n // args.shrink for n in LENGTHS], **figures,
             ours_to_grouped=round(ratio(variants["ours"].cpu_s, variants["grouped"].cpu_s), 3),
             loss_error=abs(variants["ours"].loss / variants["padded"].loss - 1),
             goal_ours_to_padded=0.25, goal_ours_to_grouped=0.65)


if __name__ == "__main__":
    main()
