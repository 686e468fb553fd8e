"""How many of 380 made-up keys are found, what is found in the clean text of real sessions, and how fast that is.

    python tests/benchmarks/run.py secrets [--rules gitleaks.toml]     with a file of rules, that too
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from support.real_data import DATA
from support.secret_kinds import secrets

from core.domain.secret_text import SecretSpan, find_secrets
from core.export.secret_rules import find_by_rules, read_rules

Find = Callable[[str], Iterable[SecretSpan]]


def measure(name: str, find: Find) -> None:
    """Print one line."""
    kinds = {kind: sum(any(f.start <= text.index(s) and f.end >= text.index(s) + len(s) for f in find(text))
                       for s, text in told) for kind, told in secrets(seed=1).items()}
    texts = [p.read_text(encoding="utf-8", errors="replace") for p in sorted(DATA.rglob("*")) if p.is_file()]
    began = time.perf_counter()
    false = Counter(f.kind for t in texts for f in find(t))
    took = time.perf_counter() - began
    size = sum(map(len, texts)) / 1e6
    print(json.dumps({"benchmark": "secrets", "rules": name, "keys": sum(kinds.values()), "of": 20 * len(kinds),
                      "kinds_95": sum(n >= 19 for n in kinds.values()), "kinds": len(kinds),
                      "missed": {k: 20 - n for k, n in kinds.items() if n < 20}, "clean_mb": round(size, 2),
                      "found_in_clean": dict(false), "mb_per_s": round(size / took, 2)}))


def main() -> None:
    """Our forms, and with --rules those of a file alone and both together."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rules", type=Path)
    args = parser.parse_args()
    measure("own", find_secrets)
    if args.rules:
        rules = read_rules(args.rules)
        measure(args.rules.name, lambda text: find_by_rules(text, rules))
        measure("both", lambda text: [*find_secrets(text), *find_by_rules(text, rules)])


if __name__ == "__main__":
    main()
