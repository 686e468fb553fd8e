"""Hits of several searches become one list: each place once, in the order in which they came, and nothing moves."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPersistentModelIndex

from app.find.hits import Merged, ServerReply, lines, servers_in_words, sound
from app.kit.entries import EntriesModel
from core.domain.hit import Hit


def hit(seq: int, where: Any, ref: str = "", session: str = "s", snippet: str = "words") -> Hit:
    return Hit(session=session, seq=seq, step=seq, where=where, ref=ref, snippet=snippet, matches=((0, 5),))


def test_a_place_that_both_found_stands_there_once_and_the_same_number_elsewhere_is_another_place():
    merged = Merged()
    merged.add([hit(3, "thought"), hit(3, "action", "c1"), hit(2, "guidance", "g")])
    merged.add([hit(3, "thought"), hit(3, "action", "c2"), hit(2, "guidance", "g"), hit(3, "thought", session="s@lab")])
    assert merged.hits == [hit(3, "thought"), hit(3, "action", "c1"), hit(2, "guidance", "g"), hit(3, "action", "c2"),
                           hit(3, "thought", session="s@lab")]


def test_calls_without_names_are_several_places_in_both():
    two = [hit(3, "output", snippet="one"), hit(3, "output", snippet="two")]
    merged = Merged()
    merged.add(two)
    merged.add(two)
    assert merged.hits == two


def test_references_that_the_server_cut_are_the_same_place():
    merged = Merged()
    merged.add([hit(3, "action", "x" * 5_000)])
    merged.add([hit(3, "action", "x" * 200)])
    assert len(merged.hits) == 1


def test_a_title_gives_its_row_to_what_stands_in_the_step_whichever_comes_first():
    merged = Merged()
    merged.add([hit(4, "title"), hit(3, "title"), hit(2, "thought")])
    merged.add([hit(3, "action"), hit(3, "output"), hit(2, "title")])
    assert [(h.seq, h.where) for h in merged.hits] == [(4, "title"), (3, "action"), (2, "thought"), (3, "output")]


def test_a_growing_list_keeps_its_rows(qtbot, qtmodeltester):
    first, second, third = ((h, lines(h, "T", "")) for h in (hit(1, "title"), hit(2, "thought"), hit(1, "action")))
    model = EntriesModel()
    model.show([first, second])
    second_row = model.index(1)
    row = QPersistentModelIndex(second_row)
    with qtbot.assertNotEmitted(model.modelReset), qtbot.waitSignals([model.dataChanged, model.rowsInserted]):
        model.grow([third, second, first])
    assert row.isValid() and row.row() == 1
    assert model.rows == [third, second, first]
    with qtbot.assertNotEmitted(model.dataChanged):
        model.grow([third, second, first])
    qtmodeltester.check(model)


def test_the_state_of_each_server_in_words(qapp):
    away = ServerReply(state="server_away")
    words = servers_in_words([("a", ServerReply()), ("b", away), ("c", away),
                              ("d", ServerReply(state="answered", behind=4)), ("e", ServerReply(state="answered")),
                              ("g", ServerReply(state="answered", more=True)),
                              ("f", ServerReply(state="no_answer"))])
    assert words == ("Asking a… b and c: not connected. f: no answer. d has yet to read 4 of its events. "
                     "g looked for parts of words in its newest texts only.")


def test_what_no_honest_server_says_is_dropped_or_cut():
    odd = [hit(1, "thought", session=name) for name in ("", "../x", "x@other", "x y", "a" * 101)]
    odd += [hit(2**64 - 1, "thought"), hit(0, "thought"), hit(-1, "note")]
    assert sound(odd, "lab", 10) == ()
    long = Hit(session="s", seq=1, step=None, where="note", ref="r" * 9_999, snippet="x" * 100_000,
               matches=((0, 5), (-1, 3), (5, 2), (990, 5_000), (7, 7)))
    (cut,) = sound([long], "lab", 10)
    assert (cut.session, len(cut.ref), len(cut.snippet), cut.matches) == ("s@lab", 200, 1_000, ((0, 5),))
    assert len(sound([hit(n, "thought") for n in range(1, 1_000)], "lab", 10)) == 10
