"""What importers remark of files is read in the reader's language: every sentence of theirs has its words."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path

import pytest
from support.real_data import real
from support.window import speaking

from app.desk.notices import sentence_of
from app.desk.remark_words import is_known, remark_words
from core.domain.errors import ReportableError
from core.formats import registry

ROOT = Path(__file__).parents[3]
SAMPLES = ROOT / "tests" / "core" / "formats"


def remarks_of(path: Path) -> set[str]:
    """What the reader of a file remarks; a refused file has its own code and words."""
    try:
        return {w for session in registry.read(path) for w in session.warnings}
    except ReportableError:
        return set()


def cut(path: Path, folder: Path) -> Path:
    copy = folder / path.name
    copy.write_bytes(path.read_bytes()[:path.stat().st_size * 9 // 10])
    return copy


@pytest.mark.parametrize("folder", ["files", "foreign"])
def test_each_remark_on_a_sample_whole_or_cut_is_known(folder, tmp_path):
    found: set[str] = set()
    for path in (SAMPLES / folder).iterdir():
        if path.is_file():
            found |= remarks_of(path) | remarks_of(cut(path, tmp_path))
    assert found and [text for text in found if not is_known(text)] == []


def test_each_remark_on_a_real_file_is_known():
    found = {w for path in sorted(real("").rglob("*")) if path.is_file() for w in remarks_of(path)}
    assert len(found) > 20 and [text for text in found if not is_known(text)] == []


@pytest.mark.parametrize(("name", "held"), [
    ("a.jsonl", b""), ("a.json", b'{"title": "t", "mapping": {}}'),
    ("a.jsonl", b'{"type": "user", "uuid": "u", "message": {"role": "user", "content": "Hi"}}\n{"type": '),
    ("a.json", b'[{"uuid": "c", "name": "", "chat_messages": [{"sender": "human", "text": "Hi", "uuid": "m"}]}]'),
    ("a.db", b"SQLite format 3\0" + b"\0" * 99), ("a.traj", b'{"history": [], "trajectory": [], "info": {}}')])
def test_a_file_that_is_refused_says_why_in_chinese(qapp, tmp_path, name, held):
    (tmp_path / name).write_bytes(held)
    with pytest.raises(ReportableError) as refused:
        list(registry.read(tmp_path / name))
    with speaking(qapp, "zh_CN"):
        words = sentence_of(refused.value).replace(str(tmp_path / name), "")
        assert not set(words) & set(string.ascii_letters), refused.value.sentence


def sentences() -> set[str]:
    """Every sentence that the importers' source adds to what is remarked of a file, with 7 in its places."""
    found = set()
    for path in (ROOT / "core" / "formats").rglob("*.py"):
        for call in (n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)):
            named = call.func
            if isinstance(named, ast.Attribute) and named.attr == "append" and isinstance(named.value, ast.Attribute) \
                    and named.value.attr in ("warnings", "problems"):
                found.add(_text(call.args[0]))
    return {text for text in found if re.search("[a-z]", text)}


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(v.value if isinstance(v, ast.Constant) else "7" for v in node.values)
    return ""


def test_each_sentence_in_the_importers_source_is_known():
    assert len(sentences()) > 10 and [text for text in sentences() if not is_known(text)] == []


def test_a_remark_is_read_in_chinese_and_unknown_words_stay(qapp):
    damaged = ("Line 13 (byte 8268) was left out: The text is damaged at line 1, byte 20: Expecting value. "
               "The file ends inside this line.")
    assert remark_words(damaged) == damaged
    with speaking(qapp, "zh_CN"):
        words = remark_words(damaged)
        assert "13" in words and "8268" in words and not set(words) & set(string.ascii_letters)
        member = remark_words("samples/7.json: The text is nested too deeply to be read.")
        assert member.startswith("samples/7.json: 文本")
        assert remark_words("Compare it with Tuesday.") == "Compare it with Tuesday."


def test_a_long_hostile_remark_costs_little():
    hostile = "Line (byte ) was left out: The text is damaged at line , byte : " * 40
    assert remark_words(hostile[:1990]) and remark_words("x. " * 660) and remark_words("a: " * 660)
