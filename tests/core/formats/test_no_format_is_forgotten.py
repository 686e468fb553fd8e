"""What a new format needs besides its reader: a sample, a test, and a row in the documentation."""

import ast
import re
import sys
from pathlib import Path

import pytest

from core.formats import readers, registry
from core.formats.format import Format
from core.formats.source import Source

HERE = Path(__file__).parent
DOCUMENTED = (HERE.parents[2] / "docs" / "formats.md").read_text()
ROWS = [set(re.findall(r"`([^`]+)`", cells[1])) for line in DOCUMENTED.splitlines()
        if len(cells := line.split("|")) > 4 and set(cells[1]) != {"-"}]
"""The names in the first cell of each row of the table of formats."""


def samples(tests: Path) -> list[Path]:
    """Our own files, as names below their folder."""
    return sorted(p for p in tests.glob("*/**/*") if p.is_file() and "__pycache__" not in p.parts)


def lacking(formats: tuple[Format, ...], tests: Path = HERE) -> list[str]:
    """One sentence for each thing that a format lacks; `tests` is the folder of tests and samples."""
    source = "".join(p.read_text() for p in tests.glob("test_*.py") if p != Path(__file__))
    own: dict[Format, list[str]] = {known: [] for known in formats}
    for path in samples(tests):
        known = next((f for f in formats if f.recognises(Source(path))), None)
        if known is not None:
            own[known].append(Path(*path.relative_to(tests).parts[1:]).as_posix())
    found = []
    for known, names in own.items():
        if not names:
            found.append(f"{known.title} has no sample: put a small file of it into tests/core/formats/foreign.")
        elif not any(f'"{name}"' in source for name in names):
            found.append(f"{known.title} has no test: name {names[0]} in the table of test_own_files.py.")
        if not any(known.name in row for row in ROWS):
            found.append(f"{known.title} has no row in docs/formats.md whose first cell names `{known.name}`.")
    return found


def ambiguous(formats: tuple[Format, ...]) -> list[str]:
    """One sentence for each two formats of one rank that both recognise a sample."""
    return [f"{one.title} and {two.title} both recognise {path.name}: give the one with fewer marks of its own a "
            "higher rank." for path in samples(HERE) for n, one in enumerate(formats) for two in formats[:n]
            if one.rank == two.rank and one.recognises(Source(path)) and two.recognises(Source(path))]


def undeclared(folder: Path) -> list[str]:
    """One sentence for each module among the readers that neither declares a format nor is used by one that does."""
    trees = {p.stem: ast.parse(p.read_text()) for p in folder.glob("*.py") if p.stem != "__init__"}
    used = {name for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
            for name in ((node.module or "").rpartition(".")[2], *(a.name for a in node.names))}
    declares = {stem for stem, tree in trees.items() for node in tree.body if isinstance(node, ast.Assign)
                if getattr(node.targets[0], "id", "") == "FORMAT"}
    return [f"{stem}.py declares no FORMAT and no reader uses it." for stem in sorted(trees.keys() - declares - used)]


def test_each_format_has_a_sample_a_test_and_a_row() -> None:
    assert lacking(registry.formats()) == []


def test_two_formats_of_one_rank_never_claim_the_same_file() -> None:
    assert ambiguous(registry.formats()) == []


def test_the_documentation_names_no_format_that_is_not_read() -> None:
    assert {name for row in ROWS[1:] for name in row if name not in {f.name for f in registry.formats()}} == set()


def test_each_module_of_the_readers_is_a_format_or_a_part_of_one() -> None:
    assert undeclared(Path(readers.__file__).parent) == []


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes a module with a new format beside the readers; gives all formats then, and the new one."""
    monkeypatch.setattr(readers, "__path__", [*readers.__path__, str(tmp_path)])

    def write(recognises: str) -> tuple[tuple[Format, ...], Format]:
        (tmp_path / "just_written.py").write_text(
            "from core.formats.format import Format\n"
            f"FORMAT = Format(name='just-written', title='Just written', recognises=lambda source: {recognises},\n"
            "                read=lambda source: iter(()))\n")
        formats = registry.formats.__wrapped__()
        (new,) = set(formats) - set(registry.formats())
        return formats, new

    yield write
    sys.modules.pop("core.formats.readers.just_written", None)


def test_a_new_module_is_a_format_and_its_maintainer_learns_what_it_lacks(write, tmp_path) -> None:
    formats, new = write("source.head == b'new'")
    undocumented = "Just written has no row in docs/formats.md whose first cell names `just-written`."
    assert lacking(formats) == [
        "Just written has no sample: put a small file of it into tests/core/formats/foreign.", undocumented]
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "run.new").write_text("new")
    assert lacking((new,), tmp_path) == [
        "Just written has no test: name run.new in the table of test_own_files.py.", undocumented]
    (tmp_path / "test_new.py").write_text('TABLE = [("run.new", "just-written")]')
    assert lacking((new,), tmp_path) == [undocumented]


def test_a_new_format_that_claims_a_known_file_is_named(write) -> None:
    formats, _ = write("source.path.name == 'adp.json'")
    assert ambiguous(formats) == [
        "Just written and Agent Data Protocol both recognise adp.json: give the one with fewer marks of its own a "
        "higher rank."]


def test_a_module_that_is_neither_a_format_nor_a_part_of_one_is_named(tmp_path) -> None:
    (tmp_path / "stray.py").write_text("def read(source): ...")
    (tmp_path / "reader.py").write_text("from core.formats.readers import part\nFORMAT = None")
    (tmp_path / "part.py").write_text("")
    assert undeclared(tmp_path) == ["stray.py declares no FORMAT and no reader uses it."]
