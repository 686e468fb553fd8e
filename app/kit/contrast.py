"""How strongly two colours part (WCAG 2.2), and the nearest colour that parts enough for high contrast. No Qt."""

from __future__ import annotations

from functools import cache

from app.kit.tokens import COLOURS, GROUNDS

LEAST = 7.0
"""The ratio that WCAG 2.2 asks for at level AAA."""

def luminance(code: str) -> float:
    """The relative luminance of "#rrggbb" (WCAG 2.2)."""
    parts = [int(code[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ratio(one: str, other: str) -> float:
    """The contrast of two colours, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@cache
def strong(code: str, dark: bool) -> str:
    """The nearest colour of the same hue that has LEAST on every ground of high contrast."""
    target = 255 if dark else 0
    grounds = [COLOURS[name][2 + dark] for name in GROUNDS]
    parts = [int(code[i : i + 2], 16) for i in (1, 3, 5)]
    for share in range(0, 101, 2):
        made = "#" + "".join(f"{round(p + (target - p) * share / 100):02x}" for p in parts)
        if all(ratio(made, ground) >= LEAST for ground in grounds):
            return made
    return COLOURS["ink"][2 + dark]
