"""`tiphys merge`: opinions of a session's copy come home, each once, under the names and times of who gave them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

TALK = {"messages": [{"role": "user", "content": "count"}, {"role": "assistant", "content": "one"},
                     {"role": "user", "content": "go on"}, {"role": "assistant", "content": "two"}]}


class Annotator:
    """Somebody with a home of their own, and no network."""

    def __init__(self, name: str, folder: Path, tiphys, monkeypatch: pytest.MonkeyPatch) -> None:
        self.name, self.home = name, folder / name
        self._tiphys, self._monkeypatch = tiphys, monkeypatch

    def __call__(self, *words: object):
        self._monkeypatch.setenv("TIPHYS_HOME", str(self.home))
        self._monkeypatch.setenv("LOGNAME", self.name)
        return self._tiphys(*words)

    def opinions(self, session: str, step: int) -> set[tuple[str, str]]:
        """Who thinks what of a step."""
        (shown,) = self("show", session, "--step", step, "--json").one["steps"]
        return {(o["author"], o["value"]) for o in shown["verdict"]["opinions"]}


@pytest.fixture
def two(tmp_path: Path, tiphys, monkeypatch: pytest.MonkeyPatch) -> tuple[Annotator, Annotator, str, Path]:
    """Li and Wu with copies of one session, and the file by which it goes from one to the other."""
    li, wu = (Annotator(name, tmp_path, tiphys, monkeypatch) for name in ("li", "wu"))
    talk, way = tmp_path / "talk.json", tmp_path / "way.tiphys"
    talk.write_text(json.dumps(TALK))
    session = li("import", talk, "--json").one["session"]
    ran = li("export", session, "--to", "archive", "--out", way)
    assert ran.status == 0, ran.err
    assert wu("import", way).status == 0
    return li, wu, session, way


def test_two_annotators_come_together_without_a_server(two) -> None:
    li, wu, session, way = two
    li("verdict", session, 1, "keep")
    wu("verdict", session, 1, "mask", "--reason", "counts from one")
    wu("verdict", session, 2, "unsure")
    wu("export", session, "--to", "archive", "--out", way)
    assert li("merge", way, "--json").one == {"session": session, "merged": 2, "known": 0, "elsewhere": 0}
    assert li.opinions(session, 1) == {("li", "keep"), ("wu", "mask")}
    assert li.opinions(session, 2) == {("wu", "unsure")}
    assert li("merge", way, "--json").one == {"session": session, "merged": 0, "known": 2, "elsewhere": 0}


def test_an_older_word_does_not_overrule_a_newer_one_of_the_same_person(two) -> None:
    li, wu, session, way = two
    wu("verdict", session, 1, "mask")
    wu("export", session, "--to", "archive", "--out", way.with_name("early.tiphys"))
    wu("verdict", session, 1, "keep")
    wu("export", session, "--to", "archive", "--out", way)
    li("merge", way)
    li("merge", way.with_name("early.tiphys"))
    assert li.opinions(session, 1) == {("wu", "keep")}


def test_an_older_word_from_a_second_computer_does_not_either(two, tmp_path: Path, tiphys, monkeypatch) -> None:
    li, wu, session, way = two
    laptop = Annotator("wu", tmp_path / "laptop", tiphys, monkeypatch)
    laptop("import", way)
    laptop("verdict", session, 1, "mask")
    laptop("export", session, "--to", "archive", "--out", way.with_name("laptop.tiphys"))
    wu("verdict", session, 1, "keep")
    wu("export", session, "--to", "archive", "--out", way)
    assert li("merge", way, "--json").one["merged"] == 1
    assert li("merge", way.with_name("laptop.tiphys"), "--json").one == {
        "session": session, "merged": 0, "known": 1, "elsewhere": 0}
    assert li.opinions(session, 1) == {("wu", "keep")}


def test_opinions_on_steps_that_differ_stay_away(two, tmp_path: Path) -> None:
    li, wu, session, way = two
    wu("verdict", session, 2, "mask")
    wu("export", session, "--to", "archive", "--out", way)
    with zipfile.ZipFile(way) as file:
        members = {i.filename: file.read(i) for i in file.infolist()}
    bodies = [json.loads(line) for line in members["events.jsonl"].splitlines()]
    steps = [b["fact"] for b in bodies if b["fact"]["type"] == "step_added"]
    steps[1]["body"] = steps[0]["body"]
    members["events.jsonl"] = b"\n".join(json.dumps(b).encode() for b in bodies) + b"\n"
    with zipfile.ZipFile(way, "w") as file:
        for name, data in members.items():
            file.writestr(name, data)
    assert li("merge", way, "--json").one == {"session": session, "merged": 0, "known": 0, "elsewhere": 1}
    assert li.opinions(session, 2) == set()


def test_a_session_that_is_not_here_is_named(two, tmp_path: Path, tiphys, monkeypatch) -> None:
    _, _, session, way = two
    other = Annotator("he", tmp_path, tiphys, monkeypatch)
    ran = other("merge", way)
    assert ran.status == 2
    assert session in ran.err and "no_session" in ran.err


def test_verdicts_on_actions_travel_and_an_older_word_on_the_step_does_not_take_them_back(two, tmp_path) -> None:
    li, wu, _, way = two
    calls = [{"id": f"c{n}", "type": "function", "function": {"name": "run_command", "arguments": "{}"}}
             for n in (1, 2)]
    talk = tmp_path / "calls.json"
    talk.write_text(json.dumps({"messages": [{"role": "user", "content": "go"},
                                             {"role": "assistant", "content": "x", "tool_calls": calls}]}))
    session = li("import", talk, "--json").one["session"]
    li("export", session, "--to", "archive", "--out", way)
    wu("import", way)
    wu("verdict", session, 1, "mask")
    wu("export", session, "--to", "archive", "--out", way.with_name("early.tiphys"))
    wu("verdict", session, "1.2", "keep")
    wu("export", session, "--to", "archive", "--out", way)
    for archives in ((way, way.with_name("early.tiphys")), (way.with_name("early.tiphys"), way)):
        for archive in archives:
            li("merge", archive)
        (shown,) = li("show", session, "--step", 1, "--json").one["steps"]
        assert shown["verdict"]["final"] == "partly" and shown["verdict"]["masked_actions"] == [1]
    wu("verdict", session, 1, "mask")
    wu("export", session, "--to", "archive", "--out", way)
    li("merge", way)
    assert li("merge", way.with_name("early.tiphys"), "--json").one["merged"] == 0
    (shown,) = li("show", session, "--step", 1, "--json").one["steps"]
    assert shown["verdict"]["final"] == "mask"
