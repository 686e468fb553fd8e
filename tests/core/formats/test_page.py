"""A session as an HTML page: what is in it, what is not, and that nothing foreign acts in it."""

from __future__ import annotations

from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from support.logs import make_session

from core.cli.root import root
from core.domain.anchor import TextAnchor, anchor_of
from core.domain.errors import NotFound, Unavailable
from core.domain.events import (
    Fact,
    GuidanceDelivered,
    GuidanceQueued,
    NoteAdded,
    Placed,
    SessionStateChanged,
    SubmissionMade,
    TagSet,
    encode_event,
    make_event,
)
from core.domain.guidance import FOREIGN_PERSON
from core.domain.step import Action, Observation, Output, StepBody, decode_body, encode_body
from core.domain.trajectory import Trajectory, fold
from core.domain.verdict import Author
from core.formats.page.document import cited_steps, page, write
from core.formats.page.words import PageWords

LI = Author(kind="person", name="li <b>")
HOSTILE = "</pre></style><script>alert(1)</script><img src=x onerror=alert(1)> & \"'\x00\x1b[31m\u202e"


class Reader(HTMLParser):
    """What a browser would make of a page: its elements, what they refer to, and the text of each kind of element."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.refers: list[str] = []
        self.events: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == [], "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.refers += [value or "" for name, value in attrs if name in ("href", "src", "action", "srcset", "data")]
        self.events += [name for name, _ in attrs if name.startswith("on")]
        if tag not in ("meta", "br"):
            self._open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in self._open:
            self.texts[tag][-1] += data


def session(*facts: Fact, by: Author = LI) -> tuple[Trajectory, dict[str, bytes]]:
    """A made session of which something was said."""
    bodies, blobs = make_session(steps=12, guidance=1, seed=3)
    bodies = [*bodies, *(encode_event(make_event(fact, by, at=datetime(2026, 3, 2, tzinfo=UTC))) for fact in facts)]
    placed = [Placed(session="s", seq=seq, body=body) for seq, body in enumerate(bodies, 1)]
    return fold("s", placed), blobs


def test_what_people_spoke_of_is_cited_with_their_words_marked() -> None:
    bare, blobs = session()
    body = decode_body(blobs[bare.step(4).body])
    words = " ".join(body.thought.split()[:3])
    made, blobs = session(
        NoteAdded(step=4, text="it turns here", anchor=anchor_of(body, words)), TagSet(step=9, tag="odd"),
        NoteAdded(step=4, text="of old words", anchor=TextAnchor(part="thought", exact="no such words, ever")),
        NoteAdded(step=0, text="all in all"))
    assert set(cited_steps(made)) - set(cited_steps(bare)) <= {4, 9} <= set(cited_steps(made))
    read = Reader(page(made, blobs.__getitem__, cited=[4, 9]))
    assert read.texts["mark"] == [words]
    assert any("it turns here" in text and words in text for text in read.texts["p"])
    assert any("no such words, ever" in text and "has no more" in text for text in read.texts["q"])
    assert read.texts["main"][0].count("all in all") == 1 and "odd" in read.texts["span"]
    assert len(read.texts["section"]) == 2 and read.refers == ["#step-4", "#step-9"]
    assert all(given.text[:40] in read.texts["nav"][0] for given in made.guidance.values())


def test_foreign_text_is_text_only() -> None:
    made, blobs = session(NoteAdded(step=2, text=HOSTILE), TagSet(step=2, tag=HOSTILE[:60]))
    action = Action(call_id="c", tool=HOSTILE, arguments={HOSTILE: [HOSTILE]})
    foreign = StepBody(number=2, thought=HOSTILE, actions=(action,),
                       observations=(Observation(call_id="c", output=Output(text=HOSTILE)),))
    blobs = {**blobs, made.step(2).body: encode_body(foreign)}
    text = page(made, blobs.__getitem__, PageWords(language="zh", step="第 {n} 步"), cited=[2])
    read = Reader(text)
    assert {"script", "img"}.isdisjoint(read.elements) and read.events == [] and read.elements.count("style") == 1
    assert all(one.startswith("#step-") for one in read.refers)
    assert not {"\x00", "\x1b", "\u202e"} & set(text) and "␀␛[31m" in read.texts["pre"][-1]
    assert "default-src 'none'" in text and "url(" not in text and "@import" not in text
    assert any("第 2 步" in one for one in read.texts["h3"])


def test_long_texts_are_cut_and_said_so_unless_the_whole_is_wanted() -> None:
    made, blobs = session()
    long = StepBody(number=1, thought="x" * 50_000)
    blobs = {**blobs, made.step(1).body: encode_body(long)}
    cut, whole = (Reader(page(made, blobs.__getitem__, cited=[1], most=most)) for most in (1_000, None))
    assert "x" * 1_000 in cut.texts["pre"] and any("1,000 of 50,000" in one for one in cut.texts["p"])
    assert "x" * 50_000 in whole.texts["pre"] and not any("of 50,000" in one for one in whole.texts["p"])


def test_what_cannot_be_cited_or_written_is_said(tmp_path: Path) -> None:
    made, blobs = session()
    with pytest.raises(NotFound, match="no step 99"):
        page(made, blobs.__getitem__, cited=[99])
    with pytest.raises(Unavailable, match="cannot be written"):
        write(tmp_path / "none" / "p.html", "x")

    def nothing(name: str) -> bytes:
        raise NotFound("no_blob", "It is not here.", blob=name)

    with pytest.raises(Unavailable, match="offline"):
        page(made, nothing, cited=[1])


def test_the_command_writes_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIPHYS_HOME", str(tmp_path / "home"))
    log = tmp_path / "chat.jsonl"
    turns = [{"role": "user", "content": "count <them>"}, {"role": "assistant", "content": "two & three"}]
    log.write_bytes(msgspec.json.encode({"messages": turns}) + b"\n")
    runner = CliRunner()
    assert runner.invoke(root, ["import", str(log)]).exit_code == 0
    name = msgspec.json.decode(runner.invoke(root, ["sessions", "--json"]).output.splitlines()[0])["session"]
    done = runner.invoke(root, ["export", name, "--to", "html", "--steps", "1", "--out", str(tmp_path / "p.html")])
    assert done.exit_code == 0, done.output
    read = Reader((tmp_path / "p.html").read_text("utf-8"))
    assert "count <them>" in read.texts["pre"] and "two & three" in read.texts["pre"]
    assert runner.invoke(root, ["export", name, "--to", "html", "--steps", "1-", "--out", "x"]).exit_code == 2


def test_what_was_handed_in_stands_in_the_outline() -> None:
    made, blobs = session(SubmissionMade(ordinal=1, step=3))
    assert "handed in" in Reader(page(made, blobs.__getitem__)).texts["nav"][0]


def test_the_outline_tells_a_person_s_turn_in_an_import_from_guidance() -> None:
    asked = "<image name=[Image #1]>\n[input_image]\n</image>\nAlign it"
    made, blobs = session(GuidanceQueued(guidance="g", text=asked), GuidanceDelivered(guidance="g", step=5),
                          by=Author(kind="import", name=FOREIGN_PERSON))
    assert "person's turn Align it" in Reader(page(made, blobs.__getitem__)).texts["li"]


def test_the_outline_names_what_failed_also_where_nobody_spoke_of_it() -> None:
    made, blobs = session()
    failed = [n for n in range(1, made.row.steps + 1) if made.step(n).head.is_error]
    assert failed
    read = Reader(page(made, blobs.__getitem__, cited=[]))
    told = [text for text in read.texts["li"] if "failed" in text]
    assert told and str(failed[0]) in told[0] and len(told) <= len(failed)
    assert not any("failed" in text for text in Reader(page(made, blobs.__getitem__, cited=failed)).texts["li"])


def test_a_page_says_when_the_agent_began_and_not_when_its_file_was_read(tmp_path: Path) -> None:
    made, blobs = session()
    made.row = msgspec.structs.replace(made.row, origin="claude-code", began_at=None)
    facts = Reader(page(made, blobs.__getitem__)).texts["dt"]
    assert "began" not in facts and "steps" in facts
    made.row = msgspec.structs.replace(made.row, began_at=datetime(2025, 9, 7, 9, 52, tzinfo=UTC))
    assert "2025-09-07 09:52 UTC" in Reader(page(made, blobs.__getitem__)).texts["dd"]


def test_the_state_is_said_in_the_words_of_the_page() -> None:
    made, blobs = session()
    state = made.row.state
    text = page(made, blobs.__getitem__, PageWords(states={state: "已完成"}), cited=[2])
    assert any(one.startswith("已完成") for one in Reader(text).texts["dd"])
    assert any(one.startswith(state) for one in Reader(page(made, blobs.__getitem__, cited=[2])).texts["dd"])


@pytest.mark.parametrize(("reason", "words"), [("limit_steps", "stopped: its steps are used up"),
                                               ("exit_cost", "stopped: exit cost"), ("", "stopped")])
def test_the_reason_for_a_state_stands_in_words(reason: str, words: str) -> None:
    bodies, _ = make_session(1, 0, finished=False)
    bodies = [*bodies, encode_event(make_event(SessionStateChanged(state="stopped", reason=reason), LI))]
    seen = fold("s1", [Placed(session="s1", seq=seq, body=body) for seq, body in enumerate(bodies, 1)])
    assert f"<dd>{words}</dd>" in page(seen, {}.__getitem__, PageWords(), cited=[])
