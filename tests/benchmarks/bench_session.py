"""T3: a session's ReAct and summary samples: one by one, and merged where one goes on from the other.

The vocabulary is small, so that the output layer's share of the work, which merging cannot halve, is a real model's:
near a hundredth.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from rig import told
from support.updates import session_rows
from training_rig import alternate, arguments, make_model, ours, plain, single, trl


def main() -> None:
    """Measure and tell."""
    args = arguments(segments=3, length=2048, layers=4, hidden=256, vocabulary=2000, rounds=3)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = make_model(folder / "model", layers=args.layers, hidden=args.hidden, vocabulary=args.vocabulary)
        repeated = session_rows(args.segments, args.length, args.vocabulary, span=64, summary=100)
        rows = list({tuple(r["input_ids"]): r for r in repeated}.values())
        few = {"checkpointing": "none", "packing": False}
        variants = {"separate": ours(model, rows, folder, merge_copies=False, cut_tail=False, **few),
                    "plain": plain(model, single(rows)),
                    "trl": trl(model, rows, folder, activation_checkpointing=False),
                    "ours": ours(model, rows, folder, **few)}
        told("session", segments=args.segments, rows=len(rows), tokens=variants["plain"].tokens,
             tokens_computed=sum(len(r["input_ids"]) for r in rows if r["labels"][-1] != -100),
             **alternate(variants, args.rounds), ours_to_trl=_of(variants, "trl"), ours_to_plain=_of(variants, "plain"),
             goal_ours_to_separate=0.55)


def _of(variants, other: str) -> float:
    from training_rig import ratio

    return round(ratio(variants["ours"].cpu_s, variants[other].cpu_s), 3)


if __name__ == "__main__":
    main()
