"""The columns of the queue's table, for its head and its rows: the title takes what the others leave."""

from __future__ import annotations

from PySide6.QtCore import QRect

from app.kit import theme

WIDTHS = (("state", 32), ("title", 0), ("started", 92), ("steps", 48), ("judged", 212), ("score", 44), ("who", 72),
          ("word", 132))
LEFT, RIGHT = 6, 12
"""The row's own sides, in pixels of 100 %."""

BEFORE = {"judged": 20, "who": 16}
"""Room before a column's text."""

SMALL = 860
"""Below this width the start and the score go, so that the title can be read; below 560 steps and who."""

BAR, COUNT = 84, 44


def places(rect: QRect) -> dict[str, QRect]:
    """Where each column is in a row. A narrow table leaves out the start and the score, then steps and who."""
    left_out = {"started", "score"} if rect.width() < theme.px(SMALL) else set()
    left_out |= {"steps", "who"} if rect.width() < theme.px(560) else set()
    widths = {name: theme.px(width) for name, width in WIDTHS if name not in left_out}
    title = max(theme.px(60), rect.width() - theme.px(LEFT + RIGHT) - sum(widths.values()))
    found, x = {}, rect.left() + theme.px(LEFT)
    for name, width in widths.items():
        wide = width or title
        before = theme.px(BEFORE.get(name, 0))
        found[name] = QRect(x + before, rect.top(), wide - before, rect.height())
        x += wide
    return found
