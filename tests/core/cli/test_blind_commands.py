"""Who judges a session blindly learns of others' opinions by no command before the own word; who does not, by each."""

from __future__ import annotations

import json

import pytest

from core.cli.log_access import do
from core.domain.anchor import TextAnchor
from core.domain.events import NoteAdded, TagSet, TimeSpent, VerdictGiven, encode_event, make_event
from core.domain.events.fact import Fact
from core.domain.verdict import Author
from core.protocol.operations import MergeOpinions, Opinion

KIM = Author(kind="person", name="kim")
SECRET = "zebra"
SAID = (VerdictGiven(step=2, value="mask", reason="zebra reason"), NoteAdded(step=2, text="zebra remark"),
        NoteAdded(step=1, text="zebra on words", anchor=TextAnchor(part="thought", exact="zebra words")),
        NoteAdded(step=0, text="zebra run"), TagSet(step=1, tag="zebra"), TimeSpent(seconds={1: 60.0}))


@pytest.fixture
def judged(tiphys, imported) -> str:
    """A session of a blind queue that kim has judged and the person here has not."""
    bodies = {step["number"]: step for step in tiphys("show", imported, "--json").one["steps"]}
    assert sorted(bodies) == [1, 2]
    give(imported, *SAID)
    assert tiphys("queue", "make", "Q", imported, "--twice", 100, "--blind").status == 0
    return imported


def give(session: str, *facts: Fact) -> None:
    """What kim says, taken over from elsewhere."""
    from core.cli.log_access import reading, trajectory
    from core.store.home import Home

    with reading(Home.default()) as conn:
        found = trajectory(conn, session)
    content = {0: "", **{int(e.head.number): e.body for e in found.steps}}
    do(session, MergeOpinions(opinions=tuple(
        Opinion(content=content[getattr(fact, "step", 0)], event=encode_event(make_event(fact, KIM)))
        for fact in facts)))


def page_of(tiphys, session: str, folder) -> str:
    path = folder / "page.html"
    assert tiphys("export", session, "--to", "html", "--out", path, "--steps", "1-2").status == 0
    return path.read_text("utf-8")


def everything(tiphys, session: str, folder) -> list[str]:
    """What each command that reads opinions prints."""
    return [tiphys("show", session, "--json").out, tiphys("show", session).out,
            tiphys("search", SECRET, "--json").out, page_of(tiphys, session, folder)]


def test_show_search_and_the_page(tiphys, judged, tmp_path) -> None:
    assert all(SECRET in text for text in everything(tiphys, judged, tmp_path)[0::2]), "who does not judge sees it all"
    assert "step 2" in tiphys("search", SECRET).out and SECRET in page_of(tiphys, judged, tmp_path)
    assert " mask " in tiphys("show", judged).out
    tiphys("queue", "take", "Q", judged)
    assert not any(SECRET in text for text in everything(tiphys, judged, tmp_path))
    assert " mask " not in tiphys("show", judged).out and "blindly" in tiphys("show", judged).err
    tiphys("verdict", judged, 2, "keep")
    shown = {s["number"]: s for s in tiphys("show", judged, "--json").one["steps"]}
    assert shown[2]["notes"] == ["zebra remark"] and len(shown[2]["verdict"]["opinions"]) == 2
    assert shown[1]["notes"] == [] == shown[1]["tags"], "on the other step no own word was given"
    text = page_of(tiphys, judged, tmp_path)
    assert "zebra reason" in text and "zebra on words" not in text and "zebra run" not in text
    tiphys("queue", "change", "Q", "--close")
    assert all("zebra on words" in text for text in everything(tiphys, judged, tmp_path)[0::3])


def test_decisions_and_what_training_would_do(tiphys, judged, tmp_path) -> None:
    mask = {"step": 2, "value": "mask"}
    assert mask in [{k: line[k] for k in mask} for line in tiphys("decisions", judged, "--json").lines]
    tiphys("queue", "take", "Q")
    assert mask not in [{k: line[k] for k in mask} for line in tiphys("decisions", judged, "--json").lines]
    assert "kim" not in tiphys("decisions", judged).out
    assert "judged_blindly" in tiphys("preview", judged).err
    dry = ("export", judged, "--to", "trl", "--out", tmp_path / "x", "--dry-run")
    assert "judged_blindly" in tiphys(*dry).err
    tiphys("queue", "give-back", "Q", judged)
    assert "judged_blindly" not in tiphys(*dry).err + tiphys("preview", judged).err


def test_agreement_and_the_queue_itself(tiphys, judged) -> None:
    assert tiphys("agreement", judged, "--json").one["decided"] == 1
    give_kim = json.loads(tiphys("queue", "show", "Q", "--json").out)
    assert give_kim["judged"] == 0, "kim does not have it"
    assert tiphys("account", "add", "kim", "--role", "reviewer").status == 0
    tiphys("queue", "take", "Q", judged, "--for", "kim")
    line = tiphys("queue", "show", "Q", "--json").one
    assert (line["judged"], line["items"][0]["people"][0]["masked"]) == (1, 1), "the maker sees how far kim is"
    tiphys("queue", "take", "Q")
    line = tiphys("queue", "show", "Q", "--json").one
    people = {p["person"]: p for p in line["items"][0]["people"]}
    assert (line["judged"], line["masked"], line["agreement"], line["agreed_on"]) == (0, 0, None, 0)
    assert people.pop("kim").items() >= {"judged": None, "masked": None, "unsure": None, "done": None}.items()
    assert [p["judged"] for p in people.values()] == [0]
    tiphys("verdict", judged, 2, "keep")
    (shown,) = tiphys("queue", "list", "--json").lines
    assert (shown["judged"], shown["asked"], shown["agreement"], shown["agreed_on"]) == (1, 2, None, 0)
    found = tiphys("agreement", judged, "--json")
    assert found.one["sessions"] == 0 and "blindly" in found.err
