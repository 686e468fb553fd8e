"""Prints the shape of the source at one or more revisions: how large it is, how its rooms hang together, and how many
changes stay in one room.

    python packaging/shape.py [REVISION …]        (without one: HEAD)

A room of the desktop is a folder of `app/`, or a module that lies in `app/` itself. Imports between rooms are counted
as pairs of rooms. The commits are judged by the folders in which their modules lie at the revision: renames are
followed, so that the same changes can be held against the tree before and after a move. They are counted twice: as they
are, and without what all rooms share (`kit`, `desk`, `window`; modules in `app/` itself).
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from module_graph import Graph, circles, floors, module_graph

ROOT = Path(__file__).resolve().parents[1]
COMMITS = 500
SHARED = {"app", "app/kit", "app/desk", "app/window"}
FEWEST, MOST = 2, 15
"""A commit of so many modules of the desktop says something of its rooms; one of more is a sweep."""


def git(*arguments: str, given: bytes = b"") -> bytes:
    """What git answers in this checkout to what it is given. Raises CalledProcessError."""
    return subprocess.run(["git", *arguments], cwd=ROOT, input=given, capture_output=True, check=True).stdout


def sources(revision: str) -> dict[str, str]:
    """Path → text of every module of `app` and `core` at a revision."""
    names = git("ls-tree", "-r", "--name-only", revision, "app", "core").decode().splitlines()
    modules = [name for name in names if name.endswith(".py")]
    asked = "".join(f"{revision}:{name}\n" for name in modules).encode()
    answer = io.BytesIO(git("cat-file", "--batch", given=asked))
    return {name: _next_file(answer) for name in modules}


def _next_file(answer: io.BytesIO) -> str:
    """One file of `git cat-file --batch`: a line that ends with its size, its bytes, an empty line."""
    text = answer.read(int(answer.readline().split()[-1])).decode()
    answer.readline()
    return text


def room(path: str) -> str:
    """`app/step` for `app/step/panel.py`; a module that lies in `app/` is a room of its own."""
    return "/".join(path.split("/")[:2])


def room_graph(graph: Graph, tree: Mapping[str, str]) -> Graph:
    """Room of the desktop → the other rooms that it imports from."""
    rooms = {re.sub(r"(/__init__)?\.py$", "", path).replace("/", "."): room(path)
             for path in tree if path.startswith("app/")}
    found: Graph = {name: set() for name in rooms.values()}
    for module, used in graph.items():
        if module in rooms:
            found[rooms[module]] |= {rooms[other] for other in used if other in rooms} - {rooms[module]}
    return found


def commits(revision: str, tree: Mapping[str, str]) -> Iterator[list[str]]:
    """For each commit that counts, newest first: its modules of `app/` under their names in the tree.

    Modules that are gone have no room and are left out.
    """
    names: dict[str, str] = {}
    seen = 0
    log = git("log", "--no-merges", "-M40%", "-l10000", "--name-status", "--format=%x00", revision, "--", "app")
    for commit in log.decode().split("\0")[1:]:
        touched = []
        for line in filter(None, commit.splitlines()):
            status, *paths = line.split("\t")
            now = names.get(paths[-1], paths[-1])
            if status.startswith("R"):
                names[paths[0]] = now
            if now in tree:
                touched.append(now)
        if FEWEST <= len(touched) <= MOST and seen < COMMITS:
            seen += 1
            yield touched


def shape(revision: str) -> dict[str, str]:
    """What is printed of one revision."""
    tree = sources(revision)
    graph = module_graph(tree)
    rooms = room_graph(graph, tree)
    changes = [{path.rpartition("/")[0] for path in touched} for touched in commits(revision, tree)]
    desktop, core = ({p: text for p, text in tree.items() if p.startswith(f"{top}/")} for top in ("app", "core"))
    return {
        "modules of app": f"{len(desktop):,}",
        "modules of core": f"{len(core):,}",
        "lines of app": f"{_lines(desktop):,}",
        "lines of core": f"{_lines(core):,}",
        "rooms of app": f"{len(rooms):,}",
        "imports between rooms": f"{sum(map(len, rooms.values())):,}",
        "floors": f"{floors(rooms):,}",
        "circles of rooms": f"{len(circles(rooms)):,}",
        "circles of modules": f"{len(circles(graph)):,}",
        "commits that stay in one folder": f"{sum(len(c) == 1 for c in changes):,} of {len(changes):,}",
        "… beside kit, desk and window": f"{sum(len(c - SHARED) <= 1 for c in changes):,} of {len(changes):,}",
    }


def _lines(tree: Mapping[str, str]) -> int:
    return sum(text.count("\n") for text in tree.values())


def main(revisions: list[str]) -> int:
    """Print a table, a column for each revision."""
    shapes = [shape(revision) for revision in revisions]
    titles = [git("log", "-1", "--format=%h", revision).decode().strip() for revision in revisions]
    sys.stdout.write(f"{'':<34}{''.join(f'{title:>14}' for title in titles)}\n")
    for name in shapes[0]:
        sys.stdout.write(f"{name:<34}{''.join(f'{one[name]:>14}' for one in shapes)}\n")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revisions", nargs="*", default=["HEAD"], metavar="REVISION")
    sys.exit(main(parser.parse_args().revisions))
