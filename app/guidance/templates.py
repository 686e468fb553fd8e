"""Ready sentences with placeholders: {step} and its like are filled in, others wait for the writer. No Qt."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PLACE = re.compile(r"\{([^{}\n]{1,40})\}")


def lines_of_setting(value: str) -> list[str]:
    """One template per line; "\\n" in it begins a new line."""
    return [line.strip().replace("\\n", "\n") for line in value.splitlines() if line.strip()]


def line_of_template(text: str) -> str:
    """A text as a line of the setting."""
    return text.strip().replace("\n", "\\n")


def filled(template: str, known: Mapping[str, str]) -> str:
    """The template with what is known put in; other placeholders stay."""
    return _PLACE.sub(lambda m: known.get(m[1].strip()) or m[0], template)


def next_place(text: str, start: int = 0) -> tuple[int, int] | None:
    """The next placeholder at or behind a position, round the end: start and end; None when there is none."""
    found = _PLACE.search(text, start) or _PLACE.search(text)
    return found.span() if found is not None else None
