"""Scores five chores, 20 points each."""

import hashlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile


def counts(place, truth):
    lines = [line.split("\t") for line in (place / "counts.tsv").read_text().splitlines()]
    return [[code, int(count)] for code, count in lines] == truth["codes"]


def worst(place, truth):
    return (place / "worst.txt").read_text().strip() == truth["worst"]


def renamed(place, truth):
    return {path.name: path.read_text() for path in (place / "inbox").iterdir()} == truth["inbox"]


def packed(place, truth):
    names = {f"inbox/{name}": text.encode() for name, text in truth["inbox"].items()}
    data = (place / "inbox.tar.gz").read_bytes()[: 1 << 20]
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as tar:
        found = {one.name: tar.extractfile(one).read(1 << 20) for one in tar if one.isreg()}
    sums = sorted(line.split(maxsplit=1) for line in (place / "sums.sha256").read_text().splitlines())
    wanted = sorted([hashlib.sha256(data).hexdigest(), name] for name, data in names.items())
    return found == names and sums == wanted


def counted(place, truth):
    script = (place / "count.sh").resolve()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a", "b c", "deep/d\ne", "deep/.f"):
            path = pathlib.Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.touch()
        ran = subprocess.run([script, folder], capture_output=True, text=True, timeout=10)
    return os.access(script, os.X_OK) and ran.stdout.strip() == "4"


submission, references = map(pathlib.Path, sys.argv[1:3])
truth = json.loads((references / "expected.json").read_text(encoding="utf-8"))
parts = {}
for chore in (counts, worst, renamed, packed, counted):
    try:
        parts[chore.__name__] = 20.0 * bool(chore(submission, truth))
    except (OSError, ValueError, tarfile.TarError, EOFError, subprocess.SubprocessError):
        parts[chore.__name__] = 0.0
done = [name for name, points in parts.items() if points]
print(json.dumps({"total": sum(parts.values()), "parts": parts, "message": f"Done: {', '.join(done) or 'nothing'}."}))
