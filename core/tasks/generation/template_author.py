"""The author without a model: tasks of one to three chores, which a seed decides."""

from __future__ import annotations

import random
from collections.abc import Sequence

from core.tasks.generation.draft import FinalTests, Idea, Image
from core.tasks.generation.templates import files, logs, programs, tables
from core.tasks.generation.templates.chore import Chore, Template

TEMPLATES: tuple[Template, ...] = (*logs.TEMPLATES, *tables.TEMPLATES, *files.TEMPLATES, *programs.TEMPLATES)

_FOLDERS = ("archive", "bureau", "clinic", "depot", "estate", "foundry", "garage", "harbour", "library", "museum",
            "nursery", "office", "press", "quarry", "studio", "theatre", "vineyard", "workshop")
_SCENES = ("You look after the machines of a small {}.", "A colleague of the {} is ill, and you take over.",
           "The {} is audited tomorrow.", "You have just joined the people who run the {}.",
           "It is the last day before the {} closes for the summer.", "The {} moves to a new computer.")
_DIFFICULTY = {1: "easy", 2: "medium", 3: "hard"}
_MODULES = ("csv", "json", "os", "pathlib", "sqlite3", "subprocess", "tarfile", "tempfile")
IMPORTS = "".join(f"import {name}\n" for name in _MODULES)


class TemplateAuthor:
    """Writes the draft of a number from the seed alone; it has nothing to mend."""

    name = "templates"

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._chores: dict[str, Sequence[Chore]] = {}

    async def describe(self, number: int, mend: str) -> Idea:
        """See TaskAuthor. An idea that was refused is given again as it was."""
        rng = random.Random(f"{self._seed}/{number}")
        folder, scene = rng.choice(_FOLDERS), rng.choice(_SCENES)
        chores = _chosen(rng)
        own = f"{folder}-{number}"
        self._chores[own] = chores
        text = f"{scene.format(folder)} All paths below lie in the folder `{own}` of your working folder.\n"
        asked = "\n".join(f"{n}. {chore.text}" for n, chore in enumerate(chores, 1)) if chores[1:] else chores[0].text
        truth = "\n".join(["set -e", f"cd {own}", *(chore.solve for chore in chores), ""])
        return Idea(title=f"{folder.capitalize()}: {', '.join(chore.category for chore in chores)}", folder=own,
                    description=f"{text}\n{asked}\n", truth=truth,
                    category=chores[0].category, difficulty=_DIFFICULTY[len(chores)])

    async def initial_tests(self, idea: Idea, mend: str) -> str:
        """See TaskAuthor."""
        chores = self._chores[idea.folder]
        there = sorted(name for chore in chores for name in chore.files)
        absent = sorted(name for chore in chores for name in chore.outputs)
        return (f"import pathlib\n\nTHERE = {there!r}\nABSENT = {absent!r}\n\n\ndef test_files_are_there():\n"
                f"    assert [name for name in THERE if not pathlib.Path({idea.folder!r}, name).is_file()] == []\n\n\n"
                f"def test_nothing_is_done():\n"
                f"    assert [name for name in ABSENT if pathlib.Path({idea.folder!r}, name).exists()] == []\n")

    async def image(self, idea: Idea, initial: str, mend: str) -> Image:
        """See TaskAuthor."""
        return Image(files={name: data for chore in self._chores[idea.folder] for name, data in chore.files.items()})

    async def final_tests(self, idea: Idea, initial: str, image: Image, mend: str) -> FinalTests:
        """See TaskAuthor. The expected ends are computed from the same data as the files, not by the truth."""
        chores = self._chores[idea.folder]
        tests = "".join(_test(n, chore, idea.folder) for n, chore in enumerate(chores, 1))
        outputs = [name for chore in chores for name in chore.outputs]
        return FinalTests(tests=IMPORTS + tests, cheats=_cheats(idea.folder, outputs))


def _chosen(rng: random.Random) -> list[Chore]:
    """One to three chores whose files do not get into each other's way."""
    wanted, chosen, taken = rng.choice((1, 2, 2, 3)), list[Chore](), set[str]()
    for template in rng.sample(TEMPLATES, len(TEMPLATES)):
        chore = template(rng)
        tops = {name.partition("/")[0] for name in (*chore.files, *chore.outputs)}
        if not tops & taken:
            chosen.append(chore)
            taken |= tops
        if len(chosen) == wanted:
            break
    return chosen


def _test(number: int, chore: Chore, folder: str) -> str:
    body = f"os.chdir(ROOT / {folder!r})\nexpected = {chore.expected!r}\n{chore.final}"
    indented = "\n".join(f"    {line}" for line in body.splitlines())
    first = "\nROOT = pathlib.Path.cwd()\n" if number == 1 else ""
    return f"{first}\n\ndef test_{number}():\n{indented}\n"


def _cheats(folder: str, outputs: Sequence[str]) -> dict[str, str]:
    """Empty results, with modules in the way of the tests; results that are all of the input."""
    names = " ".join(outputs)
    module = "printf 'import os\\nos._exit(0)\\n'"
    return {
        "empty": f"cd {folder}\nfor name in {names}; do : > \"$name\"; done\n"
                 f"for m in {' '.join(_MODULES)}; do {module} > $m.py; done\n",
        "copied": f"cd {folder}\nall=$(find . -type f | head -n 40)\nfor name in {names}; do "
                  "cat $all > \"$name\" 2>/dev/null; done; true\n",
    }
