"""Score a submission of the study: of every chore all files of the world against what it wants.

Run as `evaluate.py SUBMISSION REFERENCES`, outside of the agent's reach; standard library only.
"""

import json
import pathlib
import sys


def is_done(submission, chore):
    """Whether all that a chore wants holds."""
    for name, text in chore["equal"].items():
        path = submission / name
        if not path.is_file() or path.read_text(encoding="utf-8").strip() != text:
            return False
    return not any((submission / name).exists() for name in chore["absent"])


def main(submission, references):
    """Print the share of the chores that are done as one JSON object."""
    wanted = json.loads((references / "wanted.json").read_text(encoding="utf-8"))
    done = [is_done(submission, chore) for chore in wanted]
    parts = {str(number): 100.0 * one for number, one in enumerate(done, 1)}
    sys.stdout.write(json.dumps({"total": 100.0 * sum(done) / len(done), "parts": parts}) + "\n")


main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
