"""Scores cause.json: 25 points for each of four facts."""

import json
import pathlib
import sys

FACTS = ("host", "setting", "changed_at", "first_error_at")


def score(submission, references):
    try:
        given = json.loads((submission / "cause.json").read_text(encoding="utf-8"))
        if not isinstance(given, dict) or not all(isinstance(given.get(name, ""), str) for name in FACTS):
            raise ValueError("it must be one object of texts")
    except (OSError, ValueError, RecursionError) as error:
        return {"valid": False, "message": f"cause.json cannot be used: {error}"}
    truth = json.loads((references / "truth.json").read_text(encoding="utf-8"))
    parts = {name: 25.0 * (given.get(name, "").strip() == truth[name]) for name in FACTS}
    right = [name for name, points in parts.items() if points]
    return {"total": sum(parts.values()), "parts": parts, "message": f"Right: {', '.join(right) or 'nothing'}."}


print(json.dumps(score(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))))
