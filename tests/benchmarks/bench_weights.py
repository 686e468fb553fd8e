"""T1 and T4: seven and ten copies in one update against weights: the gradient, the tokens and the time."""

from __future__ import annotations

import tempfile
from pathlib import Path

from rig import told
from support.updates import session_rows, worst_error
from training_rig import alternate, arguments, make_model, ours, plain, single


def main() -> None:
    """Measure and tell."""
    args = arguments(segments=2, length=512, layers=4, hidden=256, vocabulary=20_000, rounds=3)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = make_model(folder / "model", layers=args.layers, hidden=args.hidden, vocabulary=args.vocabulary)
        rows = session_rows(args.segments, args.length, args.vocabulary, span=32, summary=40)
        variants = {"plain": plain(model, single(rows)), "ours": ours(model, rows, folder)}
        figures = alternate(variants, args.rounds)
        computed = sum(len(i) for i in {tuple(r["input_ids"]) for r in rows if r["labels"][-1] != -100})
        told("weights", rows=len(rows), tokens=variants["plain"].tokens, tokens_computed=computed,
             token_ratio=round(computed / variants["plain"].tokens, 4), **figures,
             loss_error=abs(variants["ours"].loss / variants["plain"].loss - 1),
             gradient_error=worst_error(variants["ours"].gradient(), variants["plain"].gradient()),
             goal_gradient_error=5e-6, goal_token_ratio=0.1)


if __name__ == "__main__":
    main()
