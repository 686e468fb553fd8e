"""Draws figure.svg."""

import csv
import math
import statistics
from collections import defaultdict

COLOURS = {"baseline": "#777777", "masked": "#1f6fb4", "masked-guided": "#c2410c"}


def x(tokens):
    return 60 + tokens / 100_000 * 520


def y(accuracy):
    return 360 - accuracy * 340


runs = defaultdict(lambda: defaultdict(list))
with open("runs.csv", encoding="utf-8", newline="") as file:
    for row in csv.DictReader(file):
        if row["accuracy"] != "nan":
            runs[row["method"]][int(row["tokens"])].append(float(row["accuracy"]))
lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 400">',
         '<path d="M60 20V360H580" fill="none" stroke="black"/>', '<text x="300" y="392">tokens</text>',
         '<text x="14" y="200" transform="rotate(-90 14 200)">accuracy</text>']
for method, by_tokens in sorted(runs.items()):
    points = [(t, statistics.mean(v), statistics.stdev(v) / math.sqrt(len(v))) for t, v in sorted(by_tokens.items())]
    band = [(x(t), y(m + e)) for t, m, e in points] + [(x(t), y(m - e)) for t, m, e in reversed(points)]
    colour = COLOURS[method]
    for tag, name, places, style in (
            ("polygon", f"{method}-band", band, f'fill="{colour}" fill-opacity="0.2"'),
            ("polyline", method, [(x(t), y(m)) for t, m, _ in points], f'fill="none" stroke="{colour}"')):
        text = " ".join(f"{a:.2f},{b:.2f}" for a, b in places)
        lines.append(f'<{tag} id="{name}" points="{text}" {style}/>')
with open("figure.svg", "w", encoding="utf-8") as file:
    file.write("\n".join([*lines, "</svg>"]))
