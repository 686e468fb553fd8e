"""Writing a draft as a task folder: in the program's own form, and in Harbor's (harborframework.com/docs/tasks).

Both hold the same files, tests and truth. What the tests see as their working folder is the workspace, and /app.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

from core.store.home import resources
from core.tasks.generation.draft import Draft

BASE = "python:3.12-slim-bookworm"
"""What Harbor's images build upon unless another base is named: the tests and truths need bash and Python 3."""

TRAILER = '''

if __name__ == "__main__":
    for _name, _test in sorted(globals().copy().items()):
        if _name.startswith("test_"):
            _test()
'''
"""Lets tests run as a program, whose exit status is 1 where one fails."""

_TEST_SH = """#!/bin/bash
cd /app
mkdir -p /logs/verifier
if python3 -I -B /tests/final_state.py; then reward=1; else reward=0; fi
echo "$reward" > /logs/verifier/reward.txt
"""


def write_own(draft: Draft, folder: Path) -> None:
    """Write a folder with a `task.toml` of the program's own form. Raises OSError."""
    idea = draft.idea
    files: dict[str, str | bytes] = {
        "task.toml": _own_toml(draft), "description.md": f"{idea.description.strip()}\n",
        "evaluate.py": (resources() / "evaluators" / "final_state.py").read_bytes(),
        "references/final_state.py": draft.final.tests + TRAILER, "initial/initial_state.py": draft.initial + TRAILER,
        "solution/solve.sh": idea.truth,
        **{f"cheats/{name}.sh": text for name, text in draft.final.cheats.items()},
        **{f"workspace/{idea.folder}/{name}": data for name, data in draft.image.files.items()},
    }
    _write(folder, files)


def write_harbor(draft: Draft, folder: Path, base: str = BASE) -> None:
    """Write a folder in Harbor's form, whose image builds upon `base`. Raises OSError."""
    idea = draft.idea
    files: dict[str, str | bytes] = {
        "task.toml": _harbor_toml(draft), "instruction.md": f"{idea.description.strip()}\n",
        "environment/Dockerfile": f"FROM {base}\nWORKDIR /app\nCOPY files/ /app/\n",
        "tests/test.sh": _TEST_SH, "tests/final_state.py": draft.final.tests + TRAILER,
        "solution/solve.sh": idea.truth,
        **{f"environment/files/{idea.folder}/{name}": data for name, data in draft.image.files.items()},
    }
    _write(folder, files)


def _own_toml(draft: Draft) -> str:
    idea = draft.idea
    cheats = [f"cheats/{name}.sh" for name in draft.final.cheats]
    return f"""id = {_text(draft.id)}
title = {_text(idea.title)}
description = "description.md"
workspace = "workspace"
domain = {_text(idea.category)}
difficulty = {_text(idea.difficulty)}
baseline = 0
best_known = 100

[[hosts]]
name = "main"
memory_mb = 512

[limits]
steps = 100
wall_s = 3600
evaluations = 0

[evaluator]
script = "evaluate.py"
submission = [{_text(idea.folder)}]
references = "references"
timeout_s = 60

[agent.model]
kind = "unknown"

[proof]
solution = "solution/solve.sh"
initial = "initial/initial_state.py"
cheats = {json.dumps(cheats)}
"""


def _harbor_toml(draft: Draft) -> str:
    idea = draft.idea
    return f"""version = "1.0"

[metadata]
author_name = "Tiphys"
category = {_text(idea.category)}
difficulty = {_text(idea.difficulty or "easy")}
tags = ["generated"]

[verifier]
timeout_sec = 60.0

[agent]
timeout_sec = 3600.0

[environment]
build_timeout_sec = 600.0
cpus = 1
memory_mb = 512
storage_mb = 10240
allow_internet = false
"""


def _text(value: str) -> str:
    """A TOML string: JSON's escapes are TOML's, once nothing beyond ASCII is written raw."""
    return msgspec.json.encode(" ".join(value.split())).decode()


def _write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        path.chmod(0o755 if name.endswith(".sh") else 0o644)
