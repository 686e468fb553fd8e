"""Finds pairs of points that lie near each other."""


def close_pairs(points, radius):
    """How many pairs (a, b), a before b in the list, are at most `radius` apart; points are (x, y) of whole numbers."""
    count = 0
    for a in range(len(points)):
        for b in range(len(points)):
            if a < b:
                dx = points[a][0] - points[b][0]
                dy = points[a][1] - points[b][1]
                if (dx ** 2 + dy ** 2) ** 0.5 <= radius:
                    count += 1
    return count
