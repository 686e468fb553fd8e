"""Reading what an author wrote, before anything of it runs: names, sizes, and whether tests are tests."""

from __future__ import annotations

import ast
import re
from pathlib import PurePosixPath

from core.domain.errors import InvalidInput
from core.tasks.folder import check_path
from core.tasks.generation.draft import FinalTests, Idea, Image

FOLDER = re.compile(r"[a-z][a-z0-9_-]{0,40}\Z")
LEAST, MOST = 40, 20_000
"""Characters of a description."""

MAX_SOURCE, MAX_IMAGE = 100_000, 8 << 20


def check_idea(idea: Idea) -> None:
    """Raises InvalidInput (bad_draft) for what no task can be made of."""
    if not FOLDER.match(idea.folder):
        raise refused(f"the folder {idea.folder[:60]!r} is no plain name of small letters")
    if not LEAST <= len(idea.description) <= MOST:
        raise refused(f"the description has {len(idea.description)} characters; {LEAST} to {MOST:,} are wanted")
    if not idea.title.strip() or len(idea.title) > 200:
        raise refused("the title is missing or longer than 200 characters")
    if not idea.truth.strip() or len(idea.truth) > MAX_SOURCE:
        raise refused("the truth, a bash script, is missing or too long")
    if idea.folder not in idea.description:
        raise refused(f"the description does not name the folder {idea.folder}")


def check_tests(source: str) -> None:
    """Raises InvalidInput (bad_draft) unless a text is Python with a function `test_…` that takes nothing."""
    if len(source) > MAX_SOURCE:
        raise refused(f"the tests have more than {MAX_SOURCE:,} characters")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise refused(f"the tests are no Python: {error}") from error
    found = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name.startswith("test_")]
    if not found:
        raise refused("there is no function test_… in the tests")
    if takes := [one.name for one in found if one.args.args or one.args.kwonlyargs or one.args.vararg]:
        raise refused(f"{takes[0]} takes arguments; tests take none")
    if not any(isinstance(node, ast.Assert | ast.Raise) for one in found for node in ast.walk(one)):
        raise refused("the tests assert nothing")


def check_final(final: FinalTests) -> None:
    """Raises InvalidInput (bad_draft)."""
    check_tests(final.tests)
    for name in final.cheats:
        if not FOLDER.match(name):
            raise refused(f"the cheat {name[:60]!r} has no plain name of small letters")


def check_image(image: Image) -> None:
    """Raises InvalidInput (bad_draft, bad_task_file) for paths that lead outside, and too much of it."""
    if not image.files and not image.setup.strip():
        raise refused("there is neither a file nor a script that makes one")
    for name in image.files:
        _check_name(name)
    inner = {str(above) for name in image.files for above in PurePosixPath(name).parents}
    if both := next((name for name in image.files if name in inner), ""):
        raise refused(f"{both[:80]!r} is a file and a folder")
    if sum(map(len, image.files.values())) > MAX_IMAGE:
        raise refused(f"the files have more than {MAX_IMAGE >> 20} MiB")


def _check_name(name: str) -> None:
    """A name that is written differently from the path that it means, or that no disk takes, would end all drafts."""
    check_path(name)
    parts = PurePosixPath(name).parts
    if "/".join(parts) != name or any(len(part.encode()) > 200 for part in parts) or not name.isprintable():
        raise refused(f"{name[:80]!r} is no plain path of a file")


def refused(why: str) -> InvalidInput:
    """The error of a draft that cannot be used."""
    return InvalidInput("bad_draft", f"The draft cannot be used: {why}.")
