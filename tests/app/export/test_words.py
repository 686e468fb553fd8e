"""Whatever an export refuses or remarks has words in the reader's language."""

import ast
from pathlib import Path

from support.window import speaking

from app.export import words
from core.export import render
from core.workers.export import DATASET_FORMATS, WARNINGS, ExportRefusal, warning

EXPORT = Path(render.__file__).parent
LEFT_OUT = ("cleaning", "locate", "render", "rows", "samples", "spans", "template", "thoughts", "tokens", "trial")
"""The modules whose errors become refusals of a report."""

NEVER_LEFT_OUT = {"secret_too_short", "no_tokenizer", "slow_tokenizer"}
"""What ends an export before it reads a session."""


def codes() -> set[str]:
    found = set()
    for name in LEFT_OUT:
        for node in ast.walk(ast.parse((EXPORT / f"{name}.py").read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                asked = node.args[:1] if node.func.id == "InvalidInput" else []
                asked += [k.value for k in node.keywords if k.arg == "code" and node.func.id == "ExportRefusal"]
                found |= {a.value for a in asked if isinstance(a, ast.Constant) and isinstance(a.value, str)}
    return found


def test_each_reason_has_words():
    assert codes() - NEVER_LEFT_OUT - set(words.REASONS) == set()


def test_the_words_are_the_workers():
    theirs = "unjudged_refused"  # the window has a box for it where the command line has an option
    assert {**words.REMARKS, theirs: ""} == {**WARNINGS, theirs: ""} and "“Not judged”" in words.REMARKS[theirs]
    assert {name: line.about for name, line in DATASET_FORMATS.items()} == words.ABOUT


def test_an_english_reader_gets_the_detail_and_a_chinese_one_their_language(qapp):
    refusal = ExportRefusal(code="malformed_call", sentence="The arguments of the call of edit are not a JSON object.")
    remarked = warning("duplicates", samples=1_204)
    assert words.reason(refusal) == refusal.sentence
    assert words.remark(remarked) == "1,204 samples equal an earlier one and are left out."
    with speaking(qapp, "zh_CN"):
        assert "JSON" in words.reason(refusal) and not words.reason(refusal).isascii()
        assert "1,204" in words.remark(remarked) and not words.remark(remarked).isascii()
        assert not words.about("trl", DATASET_FORMATS["trl"]).isascii()
