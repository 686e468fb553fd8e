"""Scores figure.svg: the share of its points that lie where the runs put them."""

import csv
import json
import math
import pathlib
import statistics
import sys
import xml.etree.ElementTree as xml
from collections import defaultdict


def place(tokens, accuracy):
    return 60 + tokens / 100_000 * 520, 360 - accuracy * 340


def expected(path):
    runs = defaultdict(lambda: defaultdict(list))
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if not math.isnan(float(row["accuracy"])):
                runs[row["method"]][int(row["tokens"])].append(float(row["accuracy"]))
    shapes = {}
    for method, by_tokens in runs.items():
        means = [(t, statistics.mean(v), statistics.stdev(v) / math.sqrt(len(v))) for t, v in sorted(by_tokens.items())]
        shapes[method] = [place(t, mean) for t, mean, _ in means]
        shapes[f"{method}-band"] = [place(t, m + e) for t, m, e in means] + [place(t, m - e) for t, m, e in means[::-1]]
    return shapes


def drawn(path):
    text = path.read_text(encoding="utf-8")
    if len(text) > 1 << 20 or "<!" in text.replace("<!--", ""):
        raise ValueError("it is too large, or declares a document type")
    root = xml.fromstring(text)
    if root.get("viewBox") != "0 0 600 400":
        raise ValueError("its viewBox is not 0 0 600 400")
    shapes = {}
    for one in root.iter():
        if one.tag.rpartition("}")[2] in ("polyline", "polygon") and one.get("id"):
            numbers = [float(n) for n in one.get("points", "").replace(",", " ").split()]
            shapes[one.get("id")] = list(zip(numbers[::2], numbers[1::2]))
    words = " ".join("".join(one.itertext()) for one in root.iter() if one.tag.rpartition("}")[2] == "text").lower()
    return shapes, words


submission, references = map(pathlib.Path, sys.argv[1:3])
try:
    shapes, words = drawn(submission / "figure.svg")
except (OSError, ValueError, xml.ParseError) as error:
    print(json.dumps({"valid": False, "message": f"figure.svg cannot be used: {error}"}))
    sys.exit()
right = total = 0
for name, points in expected(references / "runs.csv").items():
    given = shapes.get(name, [])
    total += len(points)
    if len(given) == len(points):
        right += sum(math.dist(a, b) <= 1.0 for a, b in zip(given, points))
axes = sum(word in words for word in ("tokens", "accuracy")) / 2
print(json.dumps({"metric": round(right / total * axes, 4), "parts": {"points": right, "of": total},
                  "message": f"{right} of {total} points lie where they belong; {axes:.0%} of the axes are named."}))
