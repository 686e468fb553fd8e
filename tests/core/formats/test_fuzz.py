"""Any mutation of a valid file gives a session that folds, or one of our errors, within a second."""

import copy
import json
import zipfile
from datetime import timedelta
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.imported import bodies, trajectory
from support.proofs import tries

from core.domain.errors import ReportableError
from core.domain.events import blobs_of, decode_event
from core.formats import registry

FILES = Path(__file__).parent / "foreign"
OURS = [*sorted(p.name for p in FILES.glob("*.*")), "trial/results.json", "trial/sessions/agent.cast"]
JUNK = [None, True, 0, -1, 3, 1.5, 1e300, 2**70, "", "x", "\ud83d", "attachment://00ff", [], {}, [[]], [None], [{}],
        {"a": []}, {"type": {}}, [1, 2], "2026-99-99T", "{", "[1", {"id": [1]}, "ls\0"]
CALM = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]
QUICK = settings(max_examples=tries(40, 2), deadline=timedelta(seconds=1), suppress_health_check=CALM, database=None)


def places(value, path=()):
    """The paths of all nodes."""
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def change(value, path, new):
    """Replace, or for the word DROP remove, what stands at a path."""
    if not path:
        return new
    value = copy.deepcopy(value)
    at = value
    for key in path[:-1]:
        at = at[key]
    if new == "DROP":
        del at[path[-1]]
    else:
        at[path[-1]] = new
    return value


def check(path) -> None:
    """Read a file as the program does; what comes out must hold together."""
    try:
        sessions = list(registry.read(path))
    except ReportableError as error:
        sessions = []
        failure = (error.code, error.sentence)
        assert all(failure), failure
    for session in sessions:
        trajectory(session)
        bodies(session)
        named = {n for b in session.bodies for n in blobs_of(decode_event(b).fact)}
        assert named == set(session.blobs)


def load(name):
    """The value of a file, and how to write a changed one."""
    text = (FILES / name).read_text()
    try:
        return json.loads(text), lambda v: json.dumps(v)
    except ValueError:
        rows = [json.loads(line) for line in text.splitlines()]
        return rows, lambda v: "\n".join(map(json.dumps, v)) if isinstance(v, list) else json.dumps(v)


@pytest.mark.parametrize("name", [name for name in OURS if not name.endswith(".db")])
def test_any_changed_value(tmp_path, name) -> None:
    value, write = load(name)
    paths = list(places(value))
    path = tmp_path / Path(name).name

    @QUICK
    @given(st.lists(st.tuples(st.sampled_from(paths), st.sampled_from([*JUNK, "DROP"])), min_size=1, max_size=4))
    def run(changes) -> None:
        changed = value
        for where, new in changes:
            try:
                changed = change(changed, where, new)
            except (KeyError, IndexError, TypeError):
                continue
        path.write_text(write(changed))
        check(path)

    run()


@pytest.mark.parametrize("name", OURS)
def test_any_changed_byte(tmp_path, name) -> None:
    data = (FILES / name).read_bytes()
    path = tmp_path / Path(name).name
    spot = st.integers(0, len(data))

    @settings(QUICK, max_examples=tries(25, 2))
    @given(st.lists(st.tuples(spot, spot, st.binary(max_size=6)), min_size=1, max_size=3))
    def run(cuts) -> None:
        changed = data
        for start, length, put in cuts:
            changed = changed[:start] + put + changed[start + length % 40 :]
        path.write_bytes(changed)
        check(path)

    run()


def zipped(method):
    """Our sample as an Inspect archive, whole."""
    sample = json.loads((FILES / "inspect.json").read_text())
    out = BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        file.writestr("header.json", json.dumps({k: v for k, v in sample.items() if k != "samples"}))
        file.writestr("samples/1_epoch_1.json", json.dumps(sample["samples"][0]))
    return out.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_any_changed_byte_of_an_archive(tmp_path, method) -> None:
    data = zipped(method)
    path = tmp_path / "x.eval"

    @settings(QUICK, max_examples=tries(100, 2))
    @given(st.lists(st.tuples(st.integers(0, len(data) - 1), st.integers(0, 255)), min_size=1, max_size=4),
           st.integers(0, len(data)))
    def run(bytes_, cut) -> None:
        changed = bytearray(data if cut % 3 else data[:cut])
        for at, byte in bytes_:
            if at < len(changed):
                changed[at] = byte
        path.write_bytes(changed)
        check(path)

    run()
