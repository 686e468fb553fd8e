"""Writes docs/errors.md: every stable code of an error, what it says, and how it is mended (packaging/mends.txt).

    python packaging/errors_page.py [--check]

Codes are read from the source: the first argument of every ReportableError, and those that the server answers without
one. A code without a mend, and a mend of a code that is gone, are errors.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE, MENDS = ROOT / "docs" / "errors.md", ROOT / "packaging" / "mends.txt"
KINDS = ("InvalidInput", "NotFound", "Conflict", "Unavailable", "LimitReached", "ProtocolMismatch", "Denied",
         "ReportableError", "EndpointError")
WITHOUT_CLASS = {
    "bad_host": "The server refuses a name that is not its own.", "web_page": "The server refuses a web page.",
    "stranger": "A connection did not introduce itself in time, or there were too many.",
    "disk_full": "Not ready: the disk of the data folder is nearly full.",
    "store_slow": "Not ready: the disk does not answer.", "usage": "A command was called wrongly.",
    "internal_error": "A command met a defect.", "disk_failed": "A runner's disk cannot be used.",
    "token": "The server refused the token.", "forbidden": "The server refused the connection.",
    "scope": "The server closed the connection: the token may not do this.",
    "version": "The server closed the connection: it speaks another version.",
    "protocol_version": "Client and server speak different versions.",
    "cseq_gap": "A command came out of order.", "cseq_taken": "A command's number was used before.",
}
"""Codes that are told otherwise than by raising: counters, pages, closing codes, the command line."""

HEAD = """# Errors and their mends

Every failure that is not a defect has one sentence and a stable code: `tiphys: There is no session x. [no_session]`
on the command line (`{"error": {"code", …}}` with `--json`), the sentence in the window, the code in the log and as
the label `code` of the metric `tiphys_refusals_total`. A sentence has `…` here where it names what it is about.

| code | what it says | what to do |
|---|---|---|
"""


@functools.cache
def declared() -> dict[str, str]:
    """Every code with the sentence of its first use."""
    found = dict(WITHOUT_CLASS)
    for path in sorted(p for folder in ("core", "app") for p in (ROOT / folder).rglob("*.py")):
        for code, sentence in _raised(ast.parse(path.read_text(encoding="utf-8"))):
            if not found.get(code):
                found[code] = sentence
    return found


def _raised(tree: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KINDS and node.args:
            code = node.args[0]
            if isinstance(code, ast.Constant) and isinstance(code.value, str):
                yield code.value, _sentence(node.args[1]) if len(node.args) > 1 else ""


def _sentence(node: ast.expr) -> str:
    """The text of a sentence, with … for what is only known at run time."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_sentence(part) if isinstance(part, ast.Constant) else "…" for part in parts)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return _sentence(left) + _sentence(right)
    return ""


def mends() -> dict[str, str]:
    """What to do, by code."""
    lines = [line.partition(": ") for line in MENDS.read_text(encoding="utf-8").splitlines() if line]
    return {code: mend for code, _, mend in lines}


def page() -> str:
    """The page. Raises SystemExit where codes and mends do not match."""
    codes, known = declared(), mends()
    if lacking := sorted(codes.keys() - known.keys()):
        raise SystemExit(f"packaging/mends.txt says nothing of {', '.join(lacking)}")
    if gone := sorted(known.keys() - codes.keys()):
        raise SystemExit(f"packaging/mends.txt mends what is no code any more: {', '.join(gone)}")
    rows = [f"| `{code}` | {_cell(codes[code])} | {_cell(known[code])} |" for code in sorted(codes)]
    return HEAD + "\n".join(rows) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;") or "(the cause itself)"


def main() -> int:
    """Write the page, or say that it is stale."""
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") != text:
        sys.stderr.write("docs/errors.md is stale: run packaging/errors_page.py\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
