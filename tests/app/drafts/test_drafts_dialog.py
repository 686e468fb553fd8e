"""A person reads what an author gave, what the gates said, and decides by keys; the word is in the run's folder."""

from __future__ import annotations

from pathlib import Path
from threading import current_thread

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from support.logs import Maker
from support.panels import workplace

from app.drafts.controller import DraftsController
from app.drafts.dialog import DraftsDialog
from core.domain.drafts import DraftAnswer, DraftRecord
from core.store.drafts import DraftRecords, StoredAnswers

TESTS = "from pathlib import Path\n\n\ndef test_sum():\n    assert int(Path('sums/c').read_text()) == {}\n"


@pytest.fixture
def records(tmp_path: Path) -> DraftRecords:
    found = DraftRecords(tmp_path)
    for answer in (
        DraftAnswer(number=1, phase="description", attempt=1, text="title: Add two\n\nWrite the sum of `a` and `b`."),
        DraftAnswer(number=1, phase="final tests", attempt=1, text=TESTS.format(41), gate="truth passes",
                    reason="0 of 100"),
        DraftAnswer(number=1, phase="final tests", attempt=2, text=TESTS.format(42)),
    ):
        found.put_answer(answer)
    found.put(DraftRecord(number=1, id="gen-0001-sums", state="accepted", title="Add two", mended=1, session="s1",
                          solved=1, attempts=4, solvers=("p1", "p2", "p3", "p4")))
    found.put(DraftRecord(number=2, id="gen-0002", state="refused", title="Add them", phase="description",
                          gate="near-duplicate", reason="80% of its runs of words are those of gen-0001-sums"))
    return found


@pytest.fixture
def dialog(qapp: object, records: DraftRecords) -> DraftsDialog:
    parent = QWidget()
    made = DraftsDialog("made", parent)
    made.parent_kept = parent  # type: ignore[attr-defined]
    made.answers_asked.connect(lambda number: made.show_answers(number, records.answers().get(number, ())))
    made.show_drafts(records.all())
    made.decided.connect(lambda name, state, reason: (
        records.decide(name, state, reason), made.show_drafts(records.all()), made.go_on()))
    made.show()
    made.list.setFocus()
    return made


def test_answers_are_shown_with_their_gates_and_what_differs(dialog: DraftsDialog) -> None:
    assert [lines.sign for _, lines in dialog.answers.rows] == ["✓", "✗", "✓"]
    assert dialog.facts.text() == "gen-0001-sums · 3 answers, 1 refused · pass@1 0.25 · pass@4 1.00"
    assert dialog.gates.text() == "✓ Description   ✓ Final tests   ✓ Attempts of a policy"
    assert "-    assert int(Path('sums/c').read_text()) == 41\n+    assert" in dialog.text.text
    dialog.history.setCurrentIndex(dialog.answers.index(1))
    assert dialog.text.text.startswith("Solution: 0 of 100")
    assert dialog.drafts.rows[0][1].right == "1 of 4"


def test_keys_accept_refuse_with_a_reason_and_go_on(dialog: DraftsDialog, records: DraftRecords) -> None:
    QTest.keyClick(dialog.list, Qt.Key.Key_R)
    assert dialog.reason.hasFocus() or dialog.focusWidget() is dialog.reason, "a refusal needs its reason"
    assert records.all()[0].state == "accepted"
    QTest.keyClicks(dialog.reason, "too easy, a mother could")
    QTest.keyClick(dialog.reason, Qt.Key.Key_Return)
    first, second = records.all()
    assert (first.state, first.reason, first.by_person) == ("refused", "too easy, a mother could", True)
    assert dialog.chosen is not None and dialog.chosen.id == "gen-0002" and dialog.reason.text() == ""
    assert dialog.drafts.rows[0][1].below == "refused by a person · too easy, a mother could"
    QTest.keyClick(dialog.list, Qt.Key.Key_A)
    assert records.all()[1].state == "accepted" and second.state == "refused"
    QTest.keyClicks(dialog.reason, "say which column")
    QTest.keyClick(dialog.list, Qt.Key.Key_M)
    assert (records.all()[1].state, records.all()[1].reason) == ("to mend", "say which column")


def test_files_are_read_and_words_stored_beside_the_window(qtbot, tmp_path, records: DraftRecords) -> None:
    """However large a run's files are, the window's thread reads none; a word waits for the one before."""
    readers: set[str] = set()
    real = DraftRecords.all
    with workplace(tmp_path / "desk", Maker(1)) as (place, _), pytest.MonkeyPatch.context() as patch:
        patch.setattr(DraftRecords, "all", lambda self: (readers.add(current_thread().name), real(self))[1])
        answers = StoredAnswers.__getitem__
        patch.setattr(StoredAnswers, "__getitem__",
                      lambda self, number: (readers.add(f"{current_thread().name} answers"), answers(self, number))[1])
        told = []
        place.notices.posted.connect(told.append)
        parent = QWidget()
        qtbot.addWidget(parent)
        made = DraftsController(place, parent)
        made.show(tmp_path / "none")
        qtbot.waitUntil(lambda: any("holds no drafts.jsonl" in notice.sentence for notice in told))
        made.show(tmp_path)
        qtbot.waitUntil(lambda: made.dialog is not None)
        dialog = made.dialog
        qtbot.waitUntil(lambda: len(dialog.answers.rows) == 3)
        dialog.decide("accepted")
        dialog.decide("accepted")  # by a key that was held
        assert dialog.chosen.id == "gen-0001-sums", "nothing moves before it is stored"
        qtbot.waitUntil(lambda: dialog.chosen.id == "gen-0002")
        (tmp_path / "drafts.jsonl").unlink()
        dialog.decide("accepted")
        qtbot.waitUntil(lambda: sum("holds no drafts.jsonl" in notice.sentence for notice in told) == 2)
        assert not dialog.is_waiting, "what could not be stored may be said again"
    assert any(name.endswith("answers") for name in readers), "they were read"
    assert all(name.startswith("app-work") for name in readers)
