"""Foreign text on a page: text only, with every sign in sight that would act instead of being read."""

from __future__ import annotations

from html import escape

_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""What turns the direction of the text round it (Unicode Standard Annex #9, §2)."""

_IN_SIGHT = {**{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"},
             0x7F: "\u2421", ord("\r"): "", **dict.fromkeys((*range(0x80, 0xA0), *_BIDI), "\ufffd")}


def shown(text: str) -> str:
    """The text for HTML, in an element or a quoted attribute; controls become pictures of themselves."""
    return escape(text.translate(_IN_SIGHT))
