"""T2: the output layer where loss falls only, with a large vocabulary: one long row, a tenth of it trained."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

from rig import told
from training_rig import alternate, arguments, make_model, ours, plain, single, trl


def long_row(tokens: int, vocabulary: int, *, share: float = 0.1, span: int = 64, seed: int = 1) -> dict[str, Any]:
    """Spans of trained tokens between longer ones that are not."""
    dice = random.Random(seed)
    ids = [dice.randrange(10, vocabulary) for _ in range(tokens)]
    labels = [-100] * tokens
    for at in range(min(int(span / share) - span, tokens // 2), tokens, int(span / share)):
        labels[at : at + span] = ids[at : at + span]
    return {"input_ids": ids, "labels": labels}


def main() -> None:
    """Measure and tell."""
    args = arguments(tokens=2048, layers=8, hidden=512, vocabulary=151_936, rounds=3)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = make_model(folder / "model", layers=args.layers, hidden=args.hidden, vocabulary=args.vocabulary)
        rows = [long_row(args.tokens, args.vocabulary)]
        variants = {"plain": plain(model, single(rows)),
                    "trl": trl(model, rows, folder, activation_checkpointing=False),
                    "ours": ours(model, rows, folder, checkpointing="none")}
        told("head", tokens=args.tokens, vocabulary=args.vocabulary, **alternate(variants, args.rounds),
             goal_ours_to_plain=0.45, goal_ours_to_plain_memory=0.35)


if __name__ == "__main__":
    main()
