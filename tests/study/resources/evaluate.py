"""Score a submission of the study: all files of the world against what the task wants, 100 only if all of it holds.

Run as `evaluate.py SUBMISSION REFERENCES`, outside of the agent's reach; standard library only.
"""

import json
import pathlib
import sys


def main(submission, references):
    """Print the score as one JSON object."""
    wanted = json.loads((references / "wanted.json").read_text(encoding="utf-8"))
    parts = {}
    for name, text in wanted["equal"].items():
        path = submission / name
        parts[name] = 100.0 if path.is_file() and path.read_text(encoding="utf-8").strip() == text else 0.0
    for name in wanted["absent"]:
        parts[f"no {name}"] = 0.0 if (submission / name).exists() else 100.0
    sys.stdout.write(json.dumps({"total": min(parts.values()), "parts": parts}) + "\n")


main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
