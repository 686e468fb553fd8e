"""The bill of materials (CycloneDX) of the packages, written by cyclonedx-bom from the installed tree."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import own_python

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "build" / "desktop" / "tools"
NAME = "tiphys.cdx.json"


def lay(python: Path, papers: Path) -> None:
    """Write the bill: the packages of a Python, and that Python's own Debian packages."""
    papers.mkdir(parents=True, exist_ok=True)
    target = papers / NAME
    subprocess.run([str(tool()), "environment", "--output-reproducible", "--output-format", "JSON", "--spec-version",
                    "1.6", "--pyproject", str(ROOT / "pyproject.toml"), "--mc-type", "application", "--output-file",
                    str(target), str(python)], check=True, stderr=subprocess.DEVNULL)
    made = json.loads(target.read_text(encoding="utf-8"))
    made["components"] += _debian()
    target.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _debian() -> list[dict[str, object]]:
    lines = [line.split() for line in own_python.LOCK.read_text().splitlines() if not line.startswith("#")]
    return [{"type": "library", "name": name, "version": version, "bom-ref": f"deb-{name}",
             "purl": f"pkg:deb/debian/{name}@{version}?arch=amd64&distro=bookworm",
             "hashes": [{"alg": "SHA-256", "content": digest}]} for name, version, digest in lines]


def tool() -> Path:
    """The program that writes bills, installed from its own list of hashes where it is not there yet."""
    program = TOOLS / "bin" / "cyclonedx-py"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", str(TOOLS)], check=True)
        subprocess.run([str(TOOLS / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                        "--require-hashes", "-r", str(ROOT / "packaging" / "locks" / "tools.txt")], check=True)
    return program
