"""Writes docs/errors.md: every stable code of an error, what it says, and how it is mended (packaging/mends.txt);
and docs/errors.zh.md, with the mends in Chinese (packaging/mends.zh.txt). Sentences stay as commands print them.

    python packaging/errors_page.py [--check]

Codes are read from the source: the first argument of every ReportableError, and those that the server answers without
one. A code without a mend in one of the languages, and a mend of a code that is gone, are errors.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = {"docs/errors.md": "packaging/mends.txt", "docs/errors.zh.md": "packaging/mends.zh.txt"}
"""Each page, and where its mends stand."""

KINDS = ("InvalidInput", "NotFound", "Conflict", "Unavailable", "LimitReached", "ProtocolMismatch", "Denied",
         "ReportableError", "EndpointError", "AcpError")
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
    "missing_scope": "… may not do this: it needs ….", "unreadable_file": "… is no regular file.",
    "cseq_gap": "A command came out of order.", "cseq_taken": "A command's number was used before.",
}
"""Codes that are told otherwise than by raising (counters, pages, closing codes, the command line), or at many a place.
"""

HEADS = {"docs/errors.md": """# Errors and their mends

Every failure that is not a defect has one sentence and a stable code: `tiphys: There is no session x. [no_session]`
on the command line (`{"error": {"code", …}}` with `--json`), the sentence in the window, the code in the log and as
the label `code` of the metric `tiphys_refusals_total`. A sentence has `…` here where it names what it is about.

| code | what it says | what to do |
|---|---|---|
""", "docs/errors.zh.md": """# 错误与补救

不属于缺陷的每种失败都有一句话和一个稳定的代码：命令行上为 `tiphys: There is no session x. [no_session]`
（加 `--json` 时为 `{"error": {"code", …}}`），窗口中为那句话，日志中为代码，
它也是指标 `tiphys_refusals_total` 的标签 `code`。
此处的句子与命令所打印的相同，为英文；窗口以所选的语言显示。句中 `…` 处是所涉及的内容。

| 代码 | 说的是什么 | 怎么办 |
|---|---|---|
"""}
CAUSES = {"docs/errors.md": "(the cause itself)", "docs/errors.zh.md": "（原因本身）"}
"""What a page says where a code has no sentence of its own."""


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
        if isinstance(node, ast.Call) and node.args and _name(node.func) in KINDS:
            code = node.args[0]
            if isinstance(code, ast.Constant) and isinstance(code.value, str):
                yield code.value, _sentence(node.args[1]) if len(node.args) > 1 else ""


def _name(node: ast.expr) -> str:
    """What is called, with or without the module that it is of."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


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


def mends(name: str) -> dict[str, str]:
    """What to do, by code, as a page's file of mends has it. Raises SystemExit for a code that has two lines."""
    text = (ROOT / PAGES[name]).read_text(encoding="utf-8")
    lines = [line.partition(": ") for line in text.splitlines() if line]
    found = {code: mend for code, _, mend in lines}
    if doubles := sorted(code for code, number in Counter(code for code, _, _ in lines).items() if number > 1):
        raise SystemExit(f"{PAGES[name]} has several lines for {', '.join(doubles)}")
    return found


def page(name: str) -> str:
    """A page by its name. Raises SystemExit where codes and mends do not match."""
    codes, known = declared(), mends(name)
    if lacking := sorted(codes.keys() - known.keys()):
        raise SystemExit(f"{PAGES[name]} says nothing of {', '.join(lacking)}")
    if gone := sorted(known.keys() - codes.keys()):
        raise SystemExit(f"{PAGES[name]} mends what is no code any more: {', '.join(gone)}")
    rows = [f"| `{code}` | {_cell(codes[code]) or CAUSES[name]} | {_cell(known[code])} |" for code in sorted(codes)]
    return HEADS[name] + "\n".join(rows) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def main() -> int:
    """Write the pages, or say which are stale."""
    stale = [name for name in PAGES if (ROOT / name).read_text(encoding="utf-8") != page(name)]
    for name in stale:
        if "--check" in sys.argv:
            sys.stderr.write(f"{name} is stale: run packaging/errors_page.py\n")
        else:
            (ROOT / name).write_text(page(name), encoding="utf-8")
    return int("--check" in sys.argv and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
