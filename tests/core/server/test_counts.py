"""What a server counts is on its page for monitoring: a counter that nobody reads counts for nothing."""

from __future__ import annotations

import ast
from pathlib import Path

from core.server import metrics
from core.server.counts import Counts


def test_every_counter_is_on_the_page() -> None:
    tree = ast.parse(Path(metrics.__file__).read_text())
    shown = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
             and isinstance(node.value, ast.Attribute) and node.value.attr == "counts"}
    assert set(vars(Counts())) == shown
