"""Generated tasks: the texts alone, and drafts with one fault each through all gates in real containers."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import tempfile
import tomllib
from functools import partial
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.sandboxes import HOME, need_engine

from core.domain.drafts import DraftRecord
from core.domain.errors import InvalidInput, NotFound
from core.store.drafts import DraftRecords
from core.tasks.catalogue import Catalogue
from core.tasks.generation.authored import check_idea, check_image, check_tests
from core.tasks.generation.bench import DraftBench
from core.tasks.generation.draft import FinalTests, Idea, Image
from core.tasks.generation.folders import write_harbor, write_own
from core.tasks.generation.gates import Originality, gives_away
from core.tasks.generation.generator import AuthorDrive, DraftPlan, Generator, Solved, clear, prepare
from core.tasks.generation.likeness import resemblance, signature
from core.tasks.generation.template_author import IMPORTS, TEMPLATES, TemplateAuthor

CALM = Idea(title="Add two", folder="sums", truth="echo $(( $(cat sums/a) + $(cat sums/b) )) > sums/c\n",
            description="In the folder `sums` are two numbers, `a` and `b`. Write their sum into `sums/c`.")
INITIAL = "import pathlib\n\n\ndef test_there():\n    assert pathlib.Path('sums/a').is_file()\n"
IMAGE = Image(setup="echo 20 > a; echo 22 > b")
FINAL = FinalTests(tests="from pathlib import Path\n\n\ndef test_sum():\n"
                         "    assert int(Path('sums/c').read_text()) == 42\n", cheats={"empty": ": > sums/c\n"})
OTHER = ("Rename the letters of the folder `sums` by the year in which each was written, oldest first, please.",
         "Which of all invoices below `sums` has no stamp on it? Put the answers where the auditors will look.",
         "Between noon and one nobody works: strike those minutes out of every schedule in the folder `sums`.",
         "Translate each recipe found in `sums` from cups to grams with the help of the conversion list there.",
         "The choir of `sums` needs its seating plan: tallest singers behind, sopranos left, basses on the right.",
         "Draw a fence of hash signs around any poem of `sums` that has more than fourteen verses in it.",
         "Merge what two gardeners noted about rainfall into a single calendar inside the folder `sums`.")


class Faulty:
    """Writes the same sound draft; for its number one part is something else until it is asked to mend that."""

    name = "faulty"

    def __init__(self, ideas: dict[int, Idea], parts: dict[int, dict[str, object]], mends: int = 99) -> None:
        self._ideas, self._parts, self._mends = ideas, parts, mends
        self.number = 0
        self.mends: list[str] = []

    async def describe(self, number: int, mend: str) -> Idea:
        self.number = number
        return self._ideas.get(number, msgspec.structs.replace(CALM, description=OTHER[number % len(OTHER)]))

    async def initial_tests(self, idea: Idea, mend: str) -> str:
        return self._part("initial", INITIAL, mend)

    async def image(self, idea: Idea, initial: str, mend: str) -> Image:
        return self._part("image", IMAGE, mend)

    async def final_tests(self, idea: Idea, initial: str, image: Image, mend: str) -> FinalTests:
        return self._part("final", FINAL, mend)

    def _part(self, name: str, sound: object, mend: str):
        if mend:
            self.mends.append(mend)
        is_mended = mend and self.number >= self._mends
        return sound if is_mended else self._parts.get(self.number, {}).get(name, sound)


def asserting(what: str) -> FinalTests:
    """Final tests that assert one thing, with the same attempt to cheat."""
    return FinalTests(tests=f"import pathlib\n\n\ndef test_sum():\n    assert {what}\n", cheats=FINAL.cheats)


def made(author, folder: Path, count: int, tries: int, solve=None) -> list[DraftRecord]:
    """All records of a run on one bench."""
    prepare(folder)
    found: list[DraftRecord] = []
    plan = DraftPlan(count=count, folder=folder, tries=tries, at_once=1, base="tiphys-test-base:none")
    drive = AuthorDrive(author)
    asyncio.run(Generator(drive, plan, lambda: DraftBench(folder / ".work", HOME), found.append, solve).run())
    clear(folder)
    return found


@pytest.mark.docker
def test_every_gate_refuses_the_draft_with_its_fault(tmp_path: Path) -> None:
    need_engine()
    faults: dict[int, dict[str, object]] = {
        2: {"initial": "import pathlib\n\n\ndef test_there():\n    assert pathlib.Path('sums/z').is_file()\n"},
        3: {"final": asserting("pathlib.Path('sums/a').read_text() == '20\\n'")},
        4: {"final": asserting("pathlib.Path('sums/c').read_text() == '43\\n'")},
        5: {"final": asserting("pathlib.Path('sums/c').exists()")},
        6: {"image": Image(setup="exit 3")},
    }
    ideas = {1: msgspec.structs.replace(CALM, description=f"{OTHER[1]} Do {CALM.truth}"),
             3: msgspec.structs.replace(CALM, description=OTHER[3]),
             7: msgspec.structs.replace(CALM, description=OTHER[3])}

    async def solve(draft, bench) -> Solved:
        return Solved(solved=0, sessions=("s1", "s2"))

    found = {one.number: one for one in made(Faulty(ideas, faults), tmp_path / "out", 2, 1, solve)}
    assert {n: (one.phase, one.gate) for n, one in found.items() if n < 8 and one.state == "refused"} == {
        1: ("description", "truth is hidden"), 2: ("image", "initial tests pass"),
        3: ("final tests", "doing nothing earns 0"), 4: ("final tests", "truth passes"),
        5: ("final tests", "cheat empty"), 6: ("image", "form"),
        7: ("description", "near-duplicate")}
    assert "exit code 3" in found[6].reason and found[8].gate == "solved sometimes"
    assert (found[8].state, found[8].solved, found[8].attempts) == ("refused", 0, 2)


@pytest.mark.docker
def test_an_answer_that_a_gate_refused_is_asked_for_again_with_the_reason(tmp_path: Path) -> None:
    need_engine()
    wrong = asserting("pathlib.Path('sums/c').read_text().strip() == '41'")
    author = Faulty({1: CALM}, {1: {"final": wrong}}, mends=1)
    (record,) = made(author, tmp_path / "out", 1, 2)
    assert (record.state, record.mended) == ("accepted", 1)
    assert author.mends == ["truth passes: 0 (test_sum: AssertionError: ), of 100 expected"]
    catalogue = Catalogue([tmp_path / "out" / "tiphys"])
    assert catalogue.problems() == [] and len(catalogue.entries()) == 1
    assert catalogue.file(catalogue.find("gen-0001-sums").task, "workspace/sums/b").read_text() == "22\n"
    assert [one.id for one in DraftRecords(tmp_path / "out").all()] == [record.id]
    assert not (tmp_path / "out" / ".work").exists()


@pytest.mark.docker
def test_one_command_makes_three_tasks_that_both_readers_read(tmp_path: Path, capsys) -> None:
    need_engine()
    from core.cli.root import main

    out = tmp_path / "made"
    assert main(["--home", str(tmp_path / "home"), "tasks", "generate", "--count", "3", "--out", str(out)]) == 0
    assert "3 of 3 tasks passed all gates" in capsys.readouterr().err
    for form, reader in (("tiphys", "tiphys"), ("harbor", "harbor")):
        catalogue = Catalogue([out / form])
        assert catalogue.problems() == [] and [one.reader for one in catalogue.entries()] == [reader] * 3


def test_a_seed_writes_the_same_tasks_and_both_forms_of_each_are_read(tmp_path: Path, monkeypatch) -> None:
    async def drafts(seed: int) -> list:
        author = TemplateAuthor(seed)
        ideas = [await author.describe(number, "") for number in range(1, 40)]
        return [(idea, await author.initial_tests(idea, ""), await author.image(idea, "", ""),
                 await author.final_tests(idea, "", Image(), "")) for idea in ideas]

    from core.tasks.generation.draft import Draft

    first = asyncio.run(drafts(4))
    monkeypatch.setattr("time.time", lambda: 1.5e9)  # on another day
    assert first == asyncio.run(drafts(4)) != asyncio.run(drafts(5))
    for n, (idea, initial, image, final) in enumerate(first[:5]):
        check_idea(idea)
        check_tests(final.tests)
        draft = Draft(id=f"d{n}", idea=idea, initial=initial, image=image, final=final)
        write_own(draft, tmp_path / "own" / draft.id)
        write_harbor(draft, tmp_path / "harbor" / draft.id, "python:3.12-slim-bookworm")
    for form in ("own", "harbor"):
        catalogue = Catalogue([tmp_path / form])
        assert catalogue.problems() == [] and len(catalogue.entries()) == 5
    assert tomllib.loads((tmp_path / "harbor/d0/task.toml").read_text())["environment"]["allow_internet"] is False


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda one: one.__name__)
def test_the_truth_of_each_template_passes_its_tests_and_nothing_does_not(template, tmp_path: Path) -> None:
    chore = template(random.Random(str(tmp_path.name)))
    for name, data in chore.files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    source = IMPORTS + f"expected = {chore.expected!r}\n{chore.final}\n"
    run = partial(subprocess.run, cwd=tmp_path, capture_output=True, text=True)
    assert run([sys.executable, "-I", "-S", "-c", source]).returncode == 1
    done = run(["bash", "-c", f"set -e\n{chore.solve}"])
    assert done.returncode == 0, done.stderr
    after = run([sys.executable, "-I", "-S", "-c", source])
    assert after.returncode == 0, after.stderr


def test_near_duplicates_are_told_by_their_words_and_not_by_their_numbers() -> None:
    one, numbers, other = (signature(text) for text in (CALM.description, CALM.description + " 7", OTHER[3]))
    assert resemblance(one, one) == 1.0 and resemblance(one, numbers) > 0.8 and resemblance(one, other) < 0.2
    known = Originality()
    assert known.admit("first", CALM) is None
    refusal = known.admit("second", CALM)
    assert refusal is not None and "100%" in refusal.reason and "first" in refusal.reason


@pytest.mark.parametrize("source", ["def test_a(:", "x = 1", "def test_a(x):\n    assert x", "def test_a():\n    pass"])
def test_what_tests_nothing_is_no_test(source: str) -> None:
    with pytest.raises(InvalidInput) as error:
        check_tests(source)
    assert error.value.code == "bad_draft"


@pytest.mark.parametrize("change", [{"folder": "../x"}, {"description": "short"}, {"truth": " "}, {"title": ""},
                                    {"description": "A long enough text that does not say where anything is at all."}])
def test_an_idea_without_what_a_task_needs_is_refused(change: dict[str, str]) -> None:
    with pytest.raises(InvalidInput):
        check_idea(msgspec.structs.replace(CALM, **change))
    assert gives_away(CALM) is None


@given(st.lists(st.text(st.sampled_from("ab/.\n\x00é"), max_size=8), min_size=1, max_size=4))
@example(["a", "a/b"])
@example(["a" * 300])
@example(["../../up"])
def test_whatever_files_an_image_names_can_be_written_below_its_folder(names: list[str]) -> None:
    """A name that passed and could not be written ended the whole run, whosever draft it was."""
    try:
        check_image(Image(files=dict.fromkeys(names, b"x")))
    except InvalidInput:
        return
    with tempfile.TemporaryDirectory() as place:
        for name in names:
            path = Path(place, "folder", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"x")
            assert path.resolve().is_relative_to(Path(place, "folder").resolve())


def test_a_person_decides_about_a_draft_and_the_list_says_so(tmp_path: Path) -> None:
    from core.cli.root import main

    records = DraftRecords(tmp_path)
    records.put(DraftRecord(number=1, id="gen-0001-sums", state="accepted", title="Add two"))
    assert main(["tasks", "drafts", str(tmp_path), "--refuse", "gen-0001-sums", "--reason", "too easy"]) == 0
    (record,) = records.all()
    assert (record.state, record.reason, record.by_person, record.title) == ("refused", "too easy", True, "Add two")
    assert main(["tasks", "drafts", str(tmp_path), "--accept", "nobody"]) == 2
    with pytest.raises(NotFound):
        DraftRecords(tmp_path / "nowhere").all()
