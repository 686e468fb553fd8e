"""Files that end too early: what stands before the cut is read, and a sentence says where the damage begins."""

import re
from pathlib import Path

import pytest
from support.imported import bodies
from support.real_data import DATA, real

from core.domain.errors import ReportableError
from core.formats import registry, zipped
from core.formats.cut_zip import local_members

FILES = Path(__file__).parent / "foreign"
OURS = [*sorted(p.name for p in FILES.glob("*.*")), "trial/sessions/agent.cast"]
PLACE = re.compile(r"(?:[Ll]ine|byte|[Rr]ow|member) '?\d?")
CUTS = 24


def read(path):
    """The sessions of a file and all that is said of it; no session where there is a failure."""
    try:
        found = list(registry.read(path))
        return found, " ".join(w for s in found for w in s.warnings), ""
    except ReportableError as error:
        return [], error.sentence, error.code


def step_texts(session):
    """The thoughts: results and, in some files, calls stand further behind."""
    return [b.thought for b in bodies(session)]


def check(path, cut, whole) -> None:
    """A cut file against the whole one; the last step of a session may have been cut itself."""
    data = cut.read_bytes()
    is_border = data.rstrip().endswith((b"}", b"]"))
    sessions, warnings, code = read(cut)
    if code:
        assert code in ("unknown_format", "no_steps", "no_sessions", "bad_archive", "bad_database"), (code, warnings)
        assert code in ("unknown_format", "bad_archive") or is_border or PLACE.search(warnings), warnings
        return
    assert is_border or PLACE.search(warnings), (len(data), warnings)
    known = {s.session: step_texts(s) for s in whole}
    for session in sessions:
        steps = step_texts(session)
        full = known.get(session.session) or max(known.values(), key=lambda k: k[:1] == steps[:1])
        assert session.steps > 0 or session.format == "terminal-bench", "a terminal can be looked at without steps"
        assert steps[:-1] == full[: max(0, len(steps) - 1)], session.session
    assert sum(s.steps for s in sessions) <= sum(s.steps for s in whole)


def run(path, folder, count) -> None:
    """Cut a file at so many places all over."""
    whole, _, _ = read(path)
    data, cut = path.read_bytes(), folder / path.name
    for n in range(1, count + 1):
        cut.write_bytes(data[: len(data) * n // (count + 1) + n % 7])
        check(path, cut, whole)


@pytest.mark.parametrize("name", OURS)
def test_our_files(tmp_path, name) -> None:
    run(FILES / name, tmp_path, CUTS)


REAL = sorted(str(p.relative_to(DATA)) for p in DATA.rglob("*.*")
              if p.is_file() and p.parts[len(DATA.parts)] not in ("endless-terminals", "README.md")) or ["missing"]


@pytest.mark.parametrize("name", REAL)
def test_real_files(tmp_path, name) -> None:
    path = real(name)
    run(path, tmp_path, 3 if path.stat().st_size > 200_000 else 6)


def test_a_cut_archive_of_nothing_but_headers_is_not_counted_to_its_end(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(zipped, "MAX_MEMBERS", 50)
    (tmp_path / "many.zip").write_bytes(b"PK\x03\x04".ljust(30, b"\0") * 10_000)
    assert len(local_members(tmp_path / "many.zip", 50)[0]) == 51
    with pytest.raises(ReportableError, match="larger than this program accepts"), zipped.opened(tmp_path / "many.zip"):
        pass
