"""A study's curve as a picture (SVG) that is legible on light and dark pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from core.supervision.coefficients import wilson

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 320, 56, 40, 16, 44
_SEED, _MEAN = "#d9822b", "#2f81c7"


def drawn(title: str, tested: Sequence[Mapping[int, float]], plays: int) -> str:
    """The share of `plays` held-out plays that reached the goal, by update: a thin line for each seed, a thick one for
    their mean, about it Wilson's 95 % of all plays together, as if these were independent."""
    updates = sorted(set.intersection(*(set(one) for one in tested)))
    means = [sum(one[u] for one in tested) / len(tested) for u in updates]
    last = max(updates[-1], 1)

    def x(update: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * update / last

    def y(share: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share)

    def path(points: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{x(u):.1f},{y(s):.1f}" for u, s in points)

    count = plays * len(tested)
    bounds = [wilson(round(m * count), count) or (0.0, 1.0) for m in means]
    band = [(u, b[1]) for u, b in zip(updates, bounds, strict=True)] + [
        (u, b[0]) for u, b in reversed(list(zip(updates, bounds, strict=True)))]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="12" fill="#808080"><title>{escape(title)}</title>',
        f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>']
    lines += [f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(share):.1f}" y2="{y(share):.1f}" stroke="#808080" '
              f'stroke-opacity="0.3"/><text x="{LEFT - 8}" y="{y(share) + 4:.1f}" text-anchor="end">{share:.0%}</text>'
              for share in (0, 0.25, 0.5, 0.75, 1)]
    lines += [f'<text x="{x(u):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{u}</text>' for u in updates]
    lines.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">updates; '
                 f'share of {plays} held-out plays a seed that reached the goal</text>')
    lines.append(f'<polygon points="{path(band)}" fill="{_MEAN}" fill-opacity="0.25"/>')
    lines += [f'<polyline points="{path(sorted(one.items()))}" fill="none" stroke="{_SEED}"/>' for one in tested]
    lines.append(f'<polyline points="{path(list(zip(updates, means, strict=True)))}" fill="none" stroke="{_MEAN}" '
                 'stroke-width="3"/>')
    return "\n".join([*lines, "</svg>", ""])
