"""A team's own rules for secrets, in the form of gitleaks' configuration."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.exported import talking_session, write_log

from core.domain.errors import Conflict, InvalidInput
from core.export.options import ExportOptions
from core.export.run import export
from core.export.secret_rules import entropy, find_by_rules, in_python, read_rules

RULES = r"""
[allowlist]
regexes = ['''^\$[A-Z_]+$''']
stopwords = ["sample"]

[[rules]]
id = "acme-key"
regex = '''\b(acme-(?i)[a-z0-9]{8,})(?:[\s"]|\z)'''
keywords = ["ACME-"]
entropy = 2.5

[[rules]]
id = "pair"
regex = '''login (\w+) code ([[:digit:]]{6})'''
secretGroup = 2
[[rules.allowlists]]
regexTarget = "match"
regexes = ["login guest"]
[[rules.allowlists]]
condition = "AND"
paths = ["fixtures/"]
regexes = ["123456"]

[[rules]]
id = "file"
path = '''\.p12$'''
"""


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "gitleaks.toml"
    path.write_text(RULES)
    return path


def names(text: str, file: Path) -> list[tuple[str, str]]:
    return [(f.kind, text[f.start : f.end]) for f in find_by_rules(text, read_rules(file))]


def test_secrets_are_found_by_expression_group_keyword_and_entropy(file):
    assert names('key acme-AB12cd34 and "acme-aaaaaaaaaaaa"', file) == [("acme-key", "acme-AB12cd34")]
    assert names("login li code 123456", file) == [("pair", "123456")]
    assert names("ACME-AB12cd34 is not the rule's first letters", file) == []


def test_what_a_list_allows_is_none(file):
    assert names("login guest code 123456", file) == names("acme-sample12xy ", file) == []


@pytest.mark.parametrize(("go", "text", "found"), [
    (r"a(?i)b|c", "aB C ab", ["aB", "C", "ab"]), (r"(x(?i)y)z", "xYz xYZ", ["xY"]), (r"[a(?i)]b", "ib", ["ib"]),
    (r"k[[:alnum:]_-]+\z", "k_9", ["k_9"]), (r"(?i)q", "Q", ["Q"]), (r"[[x]y", "[y", ["[y"]),
])
def test_expressions_of_go_mean_the_same_here(go, text, found):
    assert re.findall(in_python(go), text) == found


@pytest.mark.parametrize("told", ["[[rules]\n", "[[rules]]\nid = 'x'\nregex = '('", "[[rules]]\nregex = 'a'",
                                  "rules = 3", "[[rules]]\nid = 'x'\nregex = 'a'\nentropy = 'b'"])
def test_a_file_that_cannot_be_read_is_named(told, tmp_path):
    (tmp_path / "r.toml").write_text(told)
    with pytest.raises(InvalidInput) as refused:
        read_rules(tmp_path / "r.toml")
    assert refused.value.code == "bad_secret_rules"


def test_an_export_replaces_what_a_teams_rules_find_and_is_blocked_until_it_was_seen(file, tmp_path):
    maker = talking_session(5, steps=2)
    maker.guide("login li code 123456 please")
    maker.add_step(fails=False)
    log = write_log(tmp_path / "server.db", s=maker)
    options = ExportOptions(balance="none", secret_rules=str(file))
    with pytest.raises(Conflict, match="pair"):
        export(log, ["s"], "chat", tmp_path / "x", "", options)
    export(log, ["s"], "chat", tmp_path / "x", "", ExportOptions(balance="none", secret_rules=str(file),
                                                                allow_findings=True))
    told = (tmp_path / "x" / "data.jsonl").read_text()
    assert "123456" not in told and "login li code [redacted] please" in told
    manifest = json.loads((tmp_path / "x" / "manifest.json").read_text())
    assert len(manifest["options"]["secret_rules"]) == 64 and str(tmp_path) not in json.dumps(manifest)


def test_entropy_counts_bits_per_character():
    assert entropy("aaaa") == 0 and entropy("abcd") == 2
