"""Finds pairs of points that lie near each other: each is held only against those of its own and the next cells."""

from collections import defaultdict


def close_pairs(points, radius):
    """How many pairs (a, b), a before b in the list, are at most `radius` apart; points are (x, y) of whole numbers."""
    size = int(radius) + 1
    square = radius * radius
    cells = defaultdict(list)
    for x, y in points:
        cells[x // size, y // size].append((x, y))
    count = 0
    for (cx, cy), here in cells.items():
        for at, (x, y) in enumerate(here):
            count += sum((x - u) ** 2 + (y - v) ** 2 <= square for u, v in here[at + 1:])
        for near in ((cx + 1, cy - 1), (cx + 1, cy), (cx + 1, cy + 1), (cx, cy + 1)):
            for u, v in cells.get(near, ()):
                count += sum((x - u) ** 2 + (y - v) ** 2 <= square for x, y in here)
    return count
