"""Markdown is drawn by us and obeys nothing: words stay, addresses show, code is code."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from support.cost import spent_s

from app.kit.long_text import LongText
from app.kit.markdown import markdown_parts

TEXT = """# A *title*
Some **bold** and `code_in_line` here, [a page](https://example.org/x) too.
- one
  - [x] two
1. three
> quoted
![a cat](http://evil.example/cat.png)
```py
def f(): pass
```
| name | n |
|------|--:|
| `a`  | 1 |
<img src=x onerror=alert(1)> <b>no tag</b>
"""


def styles(text):
    return [(part.style, part.text) for part in markdown_parts(text)]


def test_what_is_drawn():
    found = styles(TEXT)
    for part in (("subhead", "A title\n"), ("strong", "bold"), ("code", "code_in_line"), ("block", "def f(): pass\n"),
                 ("prose", " (https://example.org/x)"), ("prose", "[a cat: http://evil.example/cat.png]"),
                 ("block", "name  n\n────  ─\na     1\n"), ("prose", "      ◦ ☑ ")):
        assert part in found, part
    assert next(p for p in markdown_parts(TEXT) if "def f" in p.text).lexer == "python"
    assert "<img src=x onerror=alert(1)> <b>no tag</b>\n" in "".join(text for _, text in found), "HTML is text"


def test_words_that_only_look_like_it_stay():
    for text in ("a * b * c", "snake_case_name", "2 ** 3 ** 4", "5 > 4", "#hashtag", "a | b"):
        assert "".join(t for _, t in styles(text)) == text + "\n"


def test_a_view_shows_it_and_follows_nothing(qtbot):
    view = LongText()
    qtbot.addWidget(view)
    view.show_parts(markdown_parts(TEXT))
    assert "Some bold and code_in_line here, a page (https://example.org/x) too." in view.text
    assert not view.edit.textInteractionFlags() & view.edit.textInteractionFlags().LinksAccessibleByMouse


@given(st.text(alphabet="*_`[]()!#>-|~ \na1", max_size=200))
def test_no_letter_and_no_digit_is_lost(text):
    drawn = "".join(t for _, t in styles(text))
    assert drawn.count("a") >= text.count("a") - text.count("```") and drawn.endswith("\n")


def test_hostile_texts_take_no_time():
    texts = ("*" * 50_000, "[" * 50_000, "`" * 50_000, "| a " * 20_000, "- " * 30_000, "> " * 30_000,
             "\n".join(["**a"] * 5_000), "![" * 30_000, ("[x](" + "y" * 900) * 100)
    straight, plain = (spent_s(lambda held=held: [markdown_parts(text) for text in held])
                       for held in (texts, ("words and `code`\n" * 5_000,) * len(texts)))
    assert straight < 20 * plain, "no expression may go over a text again and again"
