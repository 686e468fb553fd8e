"""Fits a linear model by stochastic gradient descent; everything that matters stands in config.json."""

import json
import math
import random

LIMITS = {"learning_rate": (1e-6, 1.0), "epochs": (1, 60), "decay": (0.0, 1.0), "momentum": (0.0, 0.99),
          "scale_inputs": (0, 1), "products": (0, 1), "waves": (0, 1), "seed": (0, 10_000)}


def check(config):
    """Raise ValueError unless every setting is there, and within its limits."""
    if not isinstance(config, dict) or set(config) != set(LIMITS):
        raise ValueError(f"the settings must be {', '.join(LIMITS)}")
    for name, (least, most) in LIMITS.items():
        value = config[name]
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not least <= value <= most:
            raise ValueError(f"{name} must be a number from {least:g} to {most:g}")


def read(path):
    with open(path, encoding="utf-8") as lines:
        rows = [[float(field) for field in line.split(",")] for line in lines]
    return [row[:-1] for row in rows], [row[-1] for row in rows]


def features(row, config, scales):
    row = [value / scale for value, scale in zip(row, scales)] if config["scale_inputs"] else row
    found = [1.0, *row]
    if config["waves"]:
        found += [math.sin(2 * value) for value in row]
    if config["products"]:
        found += [row[a] * row[b] for a in range(len(row)) for b in range(a)]
    return found


def fit(inputs, targets, config):
    """The weights, and the scales of the inputs."""
    scales = [max(1e-9, math.sqrt(sum(v * v for v in column) / len(column))) for column in zip(*inputs)]
    rows = [features(row, config, scales) for row in inputs]
    weights = [0.0] * len(rows[0])
    speed = [0.0] * len(weights)
    order = random.Random(int(config["seed"]))
    places = list(range(len(rows)))
    for epoch in range(int(config["epochs"])):
        order.shuffle(places)
        rate = config["learning_rate"] / (1 + config["decay"] * epoch)
        for place in places:
            row = rows[place]
            error = sum(w * v for w, v in zip(weights, row)) - targets[place]
            error = max(-1e6, min(1e6, error))
            for k, value in enumerate(row):
                speed[k] = config["momentum"] * speed[k] - rate * error * value
                weights[k] = max(-1e6, min(1e6, weights[k] + speed[k]))
    return weights, scales


def loss(inputs, targets, weights, scales, config):
    """The root of the mean squared error."""
    errors = [sum(w * v for w, v in zip(weights, features(row, config, scales))) - y for row, y in zip(inputs, targets)]
    return math.sqrt(sum(min(1e12, e * e) for e in errors) / len(errors))


if __name__ == "__main__":
    with open("config.json", encoding="utf-8") as file:
        chosen = json.load(file)
    check(chosen)
    model = fit(*read("train.csv"), chosen)
    print(f"loss on train.csv {loss(*read('train.csv'), *model, chosen):.4f}")
    print(f"loss on valid.csv {loss(*read('valid.csv'), *model, chosen):.4f}")
