"""Which file changed most, when a file was read and written, and what was only read: in the real panel."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from support.logs import fill
from support.panels import workplace

from app.files.model import touched
from app.files.panel import build
from core.domain.events import FileChanged
from core.formats import registry


def step(number: int, tool: str, given: dict[str, str]) -> list[dict[str, object]]:
    use = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": given}
    return [{"type": "assistant", "message": {"id": f"m{number}", "role": "assistant", "content": [use]}},
            {"type": "user", "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": f"t{number}", "content": "ok"}]}}]


def edit(number: int, path: str) -> list[dict[str, object]]:
    return step(number, "Edit", {"file_path": path, "old_string": f"old {number}\n", "new_string": f"a\nb {number}\n"})


@pytest.fixture
def shown(qtbot, tmp_path):
    log = [{"type": "user", "message": {"role": "user", "content": "Mend it"}},
           *step(1, "Read", {"file_path": "/w/a.md"}), *edit(2, "/w/a.md"), *step(3, "Read", {"file_path": "/w/c.md"}),
           *edit(4, "/w/a.md"), *edit(5, "/w/b.md"), *step(6, "Read", {"file_path": "/w/a.md"})]
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps({**line, "sessionId": "r1", "uuid": f"u{n}", "parentUuid": None,
                                        "timestamp": f"2026-03-01T10:{n:02}:00Z"}) + "\n"
                            for n, line in enumerate(log)))
    [session] = list(registry.read(path))
    with workplace(tmp_path / "home") as (place, replica):
        replica._writer.do_blocking(lambda conn: fill(conn, session.session, session.bodies, {
            name: session.blobs[name] for name in session.blobs}))
        view = build(place, None)
        qtbot.addWidget(view)
        view.resize(600, 500)
        view.show()
        place.cursor.move(session.session, 6)
        qtbot.waitUntil(lambda: len(view.list.model().rows) == 3)
        yield place, view


def names(view) -> list[str]:
    return [file.name for file in view.list.model().rows]


def test_the_most_changed_file_comes_first_on_demand_and_what_was_only_read_last(shown, qtbot):
    place, view = shown
    assert names(view) == ["b.md", "a.md", "c.md"]
    place.actions["files.most"].trigger()
    assert names(view) == ["a.md", "b.md", "c.md"]
    model = view.list.model()
    counts = lambda row: model.data(model.index(row), model.CountsRole)  # noqa: E731
    qtbot.waitUntil(lambda: counts(0) == (4, 2))
    assert model.rows[2].is_only_read and model.rows[0].reads == (1, 6)
    view.chosen.emit(model.rows[2].key)
    assert "step 3" in view.diff._message
    place.actions["files.most"].trigger()


def test_the_life_of_a_file_is_one_line_and_a_click_goes_to_the_step(shown, qtbot):
    place, view = shown
    view.chosen.emit(next(file.key for file in view.list.model().rows if file.name == "a.md"))
    assert view.life.marks == ((2, 4), (1, 6))
    assert "2, 4" in view.life.accessibleName()
    QTest.mouseClick(view.life, Qt.MouseButton.LeftButton, pos=QPoint(round(view.life._x(2)) + 3, 4))
    assert place.cursor.step == 2


def test_a_step_that_changed_a_file_brings_that_file(shown):
    place, view = shown
    place.cursor.to_step(5)
    assert view.files._held[1] == "/w/b.md"
    place.cursor.to_step(4)
    assert view.files._held[1] == "/w/a.md"
    assert names(view) == ["a.md", "c.md"], "the list is as of the step"


def test_a_path_from_the_agents_folder_is_the_one_changed_file_that_ends_so():
    changes = [FileChanged(host="main", path=path, after="x", step=2) for path in ("/w/src/a.py", "/w/b.py", "/v/b.py")]
    reads = {"src/a.py": [1, 4], "/w/src/a.py": [3], "./b.py": [5], "c.py": [1], "rc/a.py": [6]}
    found = {(file.host, file.path): file.reads for file in touched(changes, None, reads)}
    assert found == {("main", "/w/src/a.py"): (1, 3, 4), ("main", "/w/b.py"): (), ("main", "/v/b.py"): (),
                     ("", "./b.py"): (5,), ("", "c.py"): (1,), ("", "rc/a.py"): (6,)}
    assert next(file for file in touched(changes, 2, reads) if file.name == "a.py").reads == (1,)


def test_a_file_that_was_only_read_is_no_second_host(shown):
    _, view = shown
    assert any(file.is_only_read for file in view.list.model().rows) and not view.files._rows.several_hosts
