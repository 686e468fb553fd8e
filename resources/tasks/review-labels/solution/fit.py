"""Fits the weights by logistic regression with decay, on the training split alone."""

import json
import math
import random
import re

with open("data/train.jsonl", encoding="utf-8") as lines:
    rows = [(sorted(set(re.findall(r"[a-z]+", row["text"].lower()))), row["label"] == "good")
            for row in map(json.loads, lines)]
weights, bias, order = {}, 0.0, random.Random(0)
for epoch in range(1, 31):
    order.shuffle(rows)
    for found, good in rows:
        margin = bias + sum(weights.get(word, 0.0) for word in found)
        step = (1 / (1 + math.exp(-margin)) - good) * 0.5 / math.sqrt(epoch)
        bias -= step * 0.1
        for word in found:
            weights[word] = weights.get(word, 0.0) * 0.99 - step
with open("model.json", "w", encoding="utf-8") as file:
    json.dump({"bias": bias, "weights": weights}, file)
