"""The Files panel at the real window: tree and list, any two versions, white space, by keys alone."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from support.logs import Maker
from support.panels import told_session, workplace
from support.window import CTRL, SHIFT, press, shown_window

from app.files.model import COUNTED_BYTES, FilesModel, touched
from app.files.panel import build
from app.files.tree import FileTreeModel
from app.files.version_box import VersionBox
from app.files.view import FilesView
from core.client.client import Client
from core.domain.events import FileChanged

ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture
def shown(qtbot, tmp_path):
    maker = told_session()
    maker.add_step()
    before = maker._files["a.py"]
    spaced = maker.keep(b"line 0  \n\nline 1\nline 2\nline 3\nline 4\nLINE 5\n")
    maker.say(FileChanged(host="main", path="src/a.py", before=before, after=spaced, size=50, step=11))
    for name in ("src/deep/er/x.py", "src/deep/er/y.py", "docs/z.md"):
        maker.say(FileChanged(host="main", path=name, before="", after=maker.keep(name.encode()), size=9, step=11))
    with shown_window(tmp_path, maker) as (window, place):
        place.cursor.move("s1", 11)
        window.show_panel("files")
        view = window.findChild(FilesView)
        view.files.select(("main", "src/a.py"))
        view.chosen.emit(("main", "src/a.py"))
        qtbot.waitUntil(lambda: view.diff._diff.rows != () and len(view._states) == 5)
        yield window, place, view


def counted(view) -> tuple[int, int]:
    return view.diff._diff.added, view.diff._diff.removed


def test_versions_are_walked_and_any_two_are_compared(shown, qtbot) -> None:
    window, place, view = shown
    assert (view.old.currentData(), view.new.currentData()) == (3, 4)
    press(window, Qt.Key.Key_Left, ALT)
    assert (view.old.currentData(), view.new.currentData()) == (2, 3)
    press(window, Qt.Key.Key_Right, ALT)
    qtbot.waitUntil(lambda: counted(view) == (3, 2))
    view.old.setFocus()
    for _ in range(2):
        press(window, Qt.Key.Key_Up)
    qtbot.waitUntil(lambda: counted(view) == (6, 1))
    assert (view.old.currentData(), view.new.currentData()) == (1, 4)
    place.actions["files.step"].trigger()
    assert place.cursor.step == 11


def test_a_closed_box_has_room_for_the_version_and_its_list_says_the_rest(qtbot) -> None:
    box = VersionBox("Older version", None)
    qtbot.addWidget(box)
    box.put("v0 · before, in part", "v0 · before", 0)
    assert (box.itemText(0), box.words, box.currentData()) == ("v0 · before, in part", "v0 · before", 0)
    box.resize(box.sizeHint())
    shown = box.grab().toImage()
    box.setItemText(0, "v0 · before, deleted")
    assert box.grab().toImage() == shown, "the short name is what is painted"


def test_white_space_is_counted_as_the_reader_wants_and_remembered(shown, qtbot) -> None:
    window, place, view = shown
    qtbot.waitUntil(lambda: counted(view) == (3, 2))
    press(window, Qt.Key.Key_W, CTRL | SHIFT)
    qtbot.waitUntil(lambda: counted(view) == (2, 1))
    assert place.settings.text("files.spaces") == "trailing" and "line ends" in view.spaces.toolTip()
    place.actions["files.blank_lines"].trigger()
    qtbot.waitUntil(lambda: counted(view) == (1, 1))
    [choice] = [a for a in view.spaces.menu().actions() if a.data() == "exact"]
    choice.trigger()
    qtbot.waitUntil(lambda: counted(view) == (3, 2))
    assert 'blank_lines = true' in place.settings.path.read_text()


def test_sides_and_changed_places_have_keys(shown, qtbot) -> None:
    window, place, view = shown
    press(window, Qt.Key.Key_D, CTRL | SHIFT)
    assert view.diff.side_by_side and place.settings.get("files.side_by_side")
    press(window, Qt.Key.Key_D, CTRL | SHIFT)
    assert not view.diff.side_by_side
    view.diff.resize(300, 40)
    press(window, Qt.Key.Key_F7)
    press(window, Qt.Key.Key_F7, SHIFT)


def test_the_tree_shows_folders_and_keeps_the_file(shown, qtbot) -> None:
    window, _, view = shown
    view.list.setFocus()
    press(window, Qt.Key.Key_T, CTRL | SHIFT)
    assert view.tree.isVisible() and view.tree.hasFocus()
    model = view.tree.model()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    tops = [model.index(i, 0).data() for i in range(model.rowCount())]
    assert tops == ["docs", "src", "main:b.txt"]
    source = model.index(1, 0)
    assert source.data(FileTreeModel.FolderRole) == ("src", 3)
    assert [model.index(i, 0, source).data() for i in range(model.rowCount(source))] == ["deep/er", "main:src/a.py"]
    assert view.tree.currentIndex().data(FilesModel.FileRole).path == "src/a.py"
    press(window, Qt.Key.Key_Up)
    assert view.tree.currentIndex().data(FilesModel.FileRole).path == "src/deep/er/y.py"
    qtbot.waitUntil(lambda: counted(view) == (1, 0))
    press(window, Qt.Key.Key_Left)  # to its folder
    press(window, Qt.Key.Key_Left)  # and close it
    assert not view.tree.isExpanded(view.tree.currentIndex())
    view.grab()
    press(window, Qt.Key.Key_T, CTRL | SHIFT)
    assert view.list.currentIndex().data(FilesModel.FileRole).path == "src/deep/er/y.py"


def test_what_changed_behind_the_agents_back_is_a_state_of_its_own_and_large_files_are_not_counted(qtbot) -> None:
    def change(step: int, before: str, after: str, size: int = 1, **more: bool) -> FileChanged:
        return FileChanged(host="h", path="/a", before=before, after=after, size=size, step=step, **more)

    [file] = touched([change(1, "", "a"), change(4, "z", "b"), change(5, "b", "c")], None)
    assert [(s.step, s.hash, s.outside) for s in file.states()] == [
        (0, "", False), (1, "a", False), (4, "z", True), (4, "b", False), (5, "c", False)]
    files, wanted = FilesModel(), []
    files.counts_wanted.connect(wanted.append)
    large = {"too_large": True}
    for counted, size, more in ((True, COUNTED_BYTES - 1, {}), (False, COUNTED_BYTES, {}), (False, 9, large)):
        files.show(touched([change(1, "", f"x{size}", size, **more)], None))
        assert files.index(0).data(FilesModel.CountsRole) is None
        assert len(wanted) == counted
        wanted.clear()


def test_files_of_windows_have_names_and_folders(qtbot) -> None:
    files = FilesModel()
    tree = FileTreeModel(files)
    files.show(touched([FileChanged(host="h", path=f"C:\\w\\src\\{name}", before="", after="x", size=1, step=1)
                        for name in ("b.py", "a.py")], None))
    assert [(f.name, f.folder) for f in files.rows] == [("a.py", "C:\\w\\src"), ("b.py", "C:\\w\\src")]
    assert [tree.index(i, 0, tree.index(0, 0)).data(FilesModel.FileRole).name for i in (0, 1)] == ["a.py", "b.py"]


def test_a_tree_of_five_thousand_files_on_two_hosts(qtbot) -> None:
    maker = Maker(1)
    changes = [FileChanged(host=f"h{i % 2}", path=f"/a/b{i % 50}/c{i}.py", before="", after="x", size=1, step=1)
               for i in range(5000)]
    assert maker.bodies
    files = FilesModel()
    tree = FileTreeModel(files)
    files.show(touched(changes, None))
    assert [tree.index(i, 0).data() for i in range(tree.rowCount(QModelIndex()))] == ["h0/a", "h1/a"]
    found = tree.index_of(("h1", "/a/b7/c7.py"))
    assert found.parent().data(FileTreeModel.FolderRole) == ("b7", 100)
    assert tree.file_row(found) == files.row_of(("h1", "/a/b7/c7.py"))


def test_a_version_that_is_not_here_says_why(qtbot, tmp_path) -> None:
    maker = told_session()
    absent = [name for name, data in maker.blobs.items() if data.startswith(b"line 0")]
    for name in absent:
        del maker.blobs[name]
    with workplace(tmp_path, maker) as (place, replica):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.cursor.move("s1", 4)
        panel.files.select(("main", "src/a.py"))
        panel.chosen.emit(("main", "src/a.py"))
        assert "switched off" in panel.diff._message
        place.desks.local.attach(Client(replica, "ws://127.0.0.1:1", "token"))
        assert "as soon as the server is reached" in panel.diff._message
        for name in absent:
            place.desks.local._on_absent(name)
        assert "The server does not hold this version" in panel.diff._message
        place.desks.local.detach()
