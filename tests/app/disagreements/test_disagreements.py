"""Disagreements: listed with who says what, gone through by a key, hidden from the blind; reasons are the reader's."""

from __future__ import annotations

from support.logs import Maker
from support.panels import told_session, workplace

from app.disagreements.panel import build
from app.kit.entries import TwoLinesRole
from app.review import panel as verdicts
from core.domain.events import VerdictGiven
from core.domain.verdict import Author

ADA, LI = Author(kind="person", name="ada"), Author(kind="person", name="li")


def argued() -> Maker:
    """Step 2: a rule against Ada; step 3: Li against Ada; on 4 to 6 Li and Ada agree."""
    maker = told_session()
    maker.say(VerdictGiven(step=2, value="keep"), ADA)
    maker.say(VerdictGiven(step=3, value="mask"), ADA)
    for step, value in ((4, "keep"), (5, "mask"), (6, "keep")):
        for author in (ADA, LI):
            maker.say(VerdictGiven(step=step, value=value), author)  # type: ignore[arg-type]
    return maker


def test_the_list_the_key_and_the_numbers(qtbot, tmp_path):
    with workplace(tmp_path, argued()) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        assert "appear here" in panel.empty.label.text()
        place.cursor.move("s1", 1)
        model = panel.list.model()
        told = [model.index(r, 0).data(TwoLinesRole) for r in range(model.rowCount())]
        assert [(t.title.split(" · ")[0], t.below, t.right) for t in told] == [
            ("Step 2", "keep: ada · mask: rule null_action", ""),
            ("Step 3", "keep: li · mask: ada", "between people")]
        assert panel.numbers.text() == "ada – li: κ 0.50, same on 75% of 4 steps"
        for wanted in (2, 3, 2):
            place.actions["review.next_disagreement"].trigger()
            assert place.cursor.step == wanted
        place.settings.set("review.blind", True)
        assert model.rowCount() == 0, "the reader has decided nothing"
        assert panel.numbers.text() == ""
        said = []
        place.notices.posted.connect(said.append)
        place.actions["review.next_disagreement"].trigger()
        assert "no step" in said[0].sentence


def test_reasons_are_configured(qtbot, tmp_path):
    with workplace(tmp_path, argued()) as (place, _):
        view = verdicts.build(place, None)
        qtbot.addWidget(view)
        usual = [view.bar.reason.itemText(i) for i in range(view.bar.reason.count())]
        assert len(usual) > 3
        place.settings.set("review.reasons", "读了测试集\n\n  too early \n")
        assert [view.bar.reason.itemText(i) for i in range(view.bar.reason.count())] == ["读了测试集", "too early"]
        place.settings.set("review.reasons", "")
        assert [view.bar.reason.itemText(i) for i in range(view.bar.reason.count())] == usual
