"""High contrast: surfaces of pure white or black, and every meaning's colour driven to 7:1 on all of them. No Qt."""

from __future__ import annotations

from functools import cache

LEAST = 7.0
"""The ratio that WCAG 2.2 asks for at level AAA."""

SURFACES: dict[str, tuple[str, str]] = {
    "window": ("#ffffff", "#000000"),
    "base": ("#ffffff", "#000000"),
    "alternate": ("#ffffff", "#000000"),
    "selected": ("#d9e7ff", "#14294d"),
    "button": ("#ffffff", "#000000"),
    "line": ("#000000", "#ffffff"),
    "text": ("#000000", "#ffffff"),
    "accent": ("#00378f", "#a8cbff"),
    "on_accent": ("#ffffff", "#000000"),
}
"""Each surface on light and on dark."""

BACKGROUNDS = ("window", "base", "alternate", "selected", "button")


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
    """The nearest colour of the same hue that has LEAST on every background."""
    target = 255 if dark else 0
    grounds = [SURFACES[name][dark] for name in BACKGROUNDS]
    parts = [int(code[i : i + 2], 16) for i in (1, 3, 5)]
    for share in range(0, 101, 2):
        made = "#" + "".join(f"{round(p + (target - p) * share / 100):02x}" for p in parts)
        if all(ratio(made, ground) >= LEAST for ground in grounds):
            return made
    return SURFACES["text"][dark]
