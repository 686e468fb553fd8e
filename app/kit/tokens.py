"""Every colour, length and size of type that the window draws with, once. No Qt: `app/kit/theme.py` makes ink of it.

A colour's name says what it means: blue is people and focus, red failed, amber wants a person, green was kept or added,
plum is masked, cyan is live or new. Nothing else has a colour. A meaning never stands alone: a sign or a word is beside
it. Lengths are in pixels for an application font of 10 pt; `theme.px` scales them with the font.
"""

from __future__ import annotations

COLOURS: dict[str, tuple[str, str, str, str]] = {
    "window": ("#f5f6f8", "#17191d", "#ffffff", "#000000"),
    "base": ("#ffffff", "#1d2025", "#ffffff", "#000000"),
    "field": ("#ffffff", "#1d2025", "#ffffff", "#000000"),
    "hover": ("#f0f2f6", "#24282e", "#e6e6e6", "#262626"),
    "selected": ("#dde8fb", "#2a3b56", "#ffe98a", "#4a3c00"),
    "selected_idle": ("#e9ecf1", "#2a2e35", "#e0e0e0", "#333333"),
    "line": ("#dfe2e8", "#33383f", "#000000", "#ffffff"),
    "edge": ("#858d99", "#78818d", "#000000", "#ffffff"),
    "ink": ("#1b1f24", "#e4e7eb", "#000000", "#ffffff"),
    "muted": ("#545c68", "#a9b1bd", "#1f1f1f", "#e6e6e6"),
    "faint": ("#c3c9d2", "#4b525c", "#5c5c5c", "#b3b3b3"),
    "fill": ("#1450a3", "#92bdff", "#00307d", "#c2daff"),
    "on_fill": ("#ffffff", "#10151c", "#ffffff", "#000000"),
    "person": ("#1450a3", "#92bdff", "#00307d", "#c2daff"),
    "live": ("#0b5d7a", "#76cfec", "#003c52", "#a5e6fb"),
    "keep": ("#17623a", "#84dba0", "#003d1b", "#a5f0bd"),
    "error": ("#b3261e", "#ff9d94", "#7a0000", "#ffc6c0"),
    "attention": ("#7d4b00", "#f2bd5c", "#4d2c00", "#ffd98f"),
    "mask": ("#86306a", "#e7a6d2", "#560044", "#f8c8e8"),
    "person_tint": ("#edf3fd", "#212b3b", "#ffffff", "#000000"),
    "live_tint": ("#e6f3f8", "#1d2c34", "#ffffff", "#000000"),
    "keep_tint": ("#e6f4eb", "#1f2d27", "#ffffff", "#000000"),
    "error_tint": ("#fcecea", "#33262a", "#ffffff", "#000000"),
    "attention_tint": ("#fbf2e1", "#302a20", "#ffffff", "#000000"),
    "mask_tint": ("#f7eaf3", "#30262f", "#ffffff", "#000000"),
    "added_line": ("#e3f4e9", "#1d3327", "#d9f5e3", "#06250f"),
    "removed_line": ("#fdecea", "#3a2627", "#fde0dd", "#330c0a"),
    "added_word": ("#b9e3c8", "#254833", "#8fdcae", "#0b4d23"),
    "removed_word": ("#f6c9c4", "#5e3332", "#f4a59c", "#66211d"),
    "chance_likely": ("#eee8fa", "#2a2440", "#e9dcfb", "#1d1233"),
    "chance_open": ("#dccdf5", "#3a2f60", "#d5bff6", "#33205c"),
    "chance_rare": ("#c3a9ee", "#4c3b85", "#c3a3f2", "#46297f"),
    "chance_slight": ("#ad8be4", "#5d46a5", "#b48ff0", "#5a369f"),
    "keyword": ("#7a2f8f", "#d9a6ec", "#560070", "#ecc9f7"),
    "string": ("#17623a", "#9ad6a8", "#003d1b", "#a5f0bd"),
    "number": ("#1450a3", "#92bdff", "#00307d", "#c2daff"),
    "comment": ("#545c68", "#a9b1bd", "#1f1f1f", "#e6e6e6"),
    "name": ("#7d4b00", "#e7c07b", "#4d2c00", "#ffd98f"),
}
"""Each colour on light and on dark ground, then the same in high contrast."""

MEANINGS = ("person", "live", "keep", "error", "attention", "mask")
"""The colours that mean something; each has a tint, `NAME_tint`: a ground that carries it without shouting."""

GROUNDS = ("window", "base", "hover", "selected", "selected_idle")
"""What text of any meaning may lie on."""

TERMINAL: dict[str, tuple[str, str]] = {
    "black": ("#1b1f24", "#7d8590"),
    "red": ("#b3261e", "#ff9d94"),
    "green": ("#17623a", "#84dba0"),
    "brown": ("#7d4b00", "#f2bd5c"),
    "blue": ("#1450a3", "#92bdff"),
    "magenta": ("#7a2f8f", "#d9a6ec"),
    "cyan": ("#0b5d7a", "#76cfec"),
    "white": ("#545c68", "#d5d9df"),
    "brightblack": ("#545c68", "#a9b1bd"),
    "brightred": ("#c2281f", "#ffb3ac"),
    "brightgreen": ("#1a7042", "#a4ecbc"),
    "brightbrown": ("#8a5300", "#ffd48a"),
    "brightblue": ("#1d5fc4", "#b3d1ff"),
    "brightmagenta": ("#8c3aa3", "#e8c4f5"),
    "brightcyan": ("#0d6b8c", "#a3e2f5"),
    "brightwhite": ("#1b1f24", "#ffffff"),
}
"""The sixteen names of a terminal's colours → what reads well on a light and on a dark ground."""

# ---- lengths ---------------------------------------------------------------------------------------

WITHIN = 4
"""Between the parts of one control."""
BETWEEN = 8
"""Between the things of one row."""
SIDE = 12
"""The side of a panel."""
READING = 16
"""The side of what is read."""
GROUP = 24
"""Between groups."""
PAGE = 32
"""The side of a page."""

RADII = {"bar": 2, "chip": 3, "control": 4, "card": 6}
"""Corners: bars; key caps, counts and inline code; controls and code blocks; cards of the start page and the tour."""

HAIRLINE, BORDER, CURSOR = 1, 2, 3
"""Lines: between panels; the border "new since" and "entered"; the bar at the left of the row with the cursor."""

HEIGHTS = {
    "menu": 28, "head": 44, "panel_head": 36, "step": 26, "step_compact": 22, "outline": 24, "message": 26,
    "session": 44, "session_narrow": 66, "thin": 28, "review": 44, "status": 24, "strip": 60,
    "button": 28, "tool": 26, "chip": 22, "count": 16,
}
"""Rows and bars, by what they are."""

STEP_COLUMNS = {"margin": 4, "verdict": 20, "number": 38, "time": 40, "icon": 22, "tool": 90, "duration": 40, "end": 8}
"""The columns of a step's row from left to right; the title stands between tool and duration, and its outcome at its
right. `margin` and `end` are the row's own sides."""

TYPE = {"caption": (11, 16), "fact": (12, 18), "row": (13, 18), "reading": (14, 22), "title": (15, 20),
        "start": (22, 28)}
"""Size and line height by use: times and counts; facts and chips; rows and buttons (the application's font); thoughts
and guidance; titles; the start page."""

MONO = (12, 18)
"""Commands, diffs and terminals."""
