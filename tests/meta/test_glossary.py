"""One thing has one Chinese word, in the window and on the Chinese pages; signs between Chinese words are Chinese."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*(ROOT / "docs").glob("*.zh.md"), ROOT / "SECURITY.zh.md"])
NOT = {
    "盲审": "盲评", "判定": "裁定", "判决": "裁定", "无人评审": "无人裁定", "留言": "备注", "批注": "备注",
    "费用": "成本", "屏蔽": "掩码", "引导": "指导", "子代理": "子智能体", "沙盒": "沙箱", "存档": "归档",
    "分数": "得分", "个 token": "个词元", "存疑": "不确定", "帐号": "账户", "账号": "账户",
}
"""A word that is not said, and the one that is."""

WANTED = {
    r"\bblind": "盲评", r"\bverdicts?\b": "裁定", r"\bunsure\b": "不确定", r"\bundecided\b": "未裁定",
    r"\bsubagents?\b": "子智能体", r"\bguidance\b": "指导", r"\bremarks?\b": "备注", r"\bcost\b": "成本",
    r"\bsandbox": "沙箱", r"\bresume[ds]?\b": "继续", r"\bqueues?\b": "队列|排队", r"\bmask(ed|s)?\b": "掩码",
    r"^&?[Kk]eep$|^kept$": "保留",
}
"""What an English sentence names, and the Chinese word for it."""

CODE = re.compile(r"[a-z]+[:><]\S*|unjudged = .*")
"""What is typed as it stands, in every language."""


def spoken() -> list[tuple[str, str, str]]:
    """Context, English and Chinese of every text of the window."""
    found = []
    for context in ET.parse(ROOT / "resources/i18n/tiphys_zh_CN.ts").iter("context"):
        for message in context.iter("message"):
            said = message.find("translation")
            forms = [form.text or "" for form in said.iter("numerusform")] or [said.text or ""]
            found += [(context.findtext("name"), message.findtext("source"), form) for form in forms]
    return found


def test_no_second_word_for_one_thing() -> None:
    texts = [(name, said) for name, _, said in spoken()]
    texts += [(page.name, line) for page in PAGES for line in page.read_text(encoding="utf-8").splitlines()]
    assert len(PAGES) > 2 and len(texts) > 1500
    assert [(name, said, f"{bad} → {good}") for name, said in texts for bad, good in NOT.items() if bad in said] == []


@pytest.mark.parametrize("thing", WANTED)
def test_what_is_named_has_its_word(thing) -> None:
    named = [(name, said, text) for name, text, said in spoken()
             if re.search(thing, CODE.sub("", text), re.IGNORECASE)]
    assert named
    assert [entry for entry in named if not re.search(WANTED[thing], entry[1])] == []


def test_signs_between_chinese_words_are_chinese() -> None:
    half = re.compile("[\u4e00-\u9fff][,;:!?](?! ?[a-z]+[:<])|[,;!?][\u4e00-\u9fff]")
    assert [(name, said) for name, _, said in spoken() if half.search(said)] == []


def test_the_reader_is_addressed_in_one_way() -> None:
    assert [(name, said) for name, text, said in spoken() if "你" in said and "{step}" not in text] == []
