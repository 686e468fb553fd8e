"""The colours of code mean what they say."""

from __future__ import annotations

from app.kit.highlight import lexer_for, spans


def test_code_without_a_language_in_prose_is_no_string():
    """Green letters on the red ground of a line that was removed read as if they had been added."""
    prose = "# Title\n\n```\nsrc/\n  app.py\n```\n"
    assert not [one for one in spans(prose, lexer_for("CLAUDE.md")) if one[2] == "string"]
    assert [(at, n) for at, n, name in spans('a = "b"\n', lexer_for("a.py")) if name == "string"]
    named = "```python\na = 'b'\n```\n"
    assert [name for _, _, name in spans(named, lexer_for("CLAUDE.md")) if name == "string"]
