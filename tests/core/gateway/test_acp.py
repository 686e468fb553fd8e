"""What an agent of the Agent Client Protocol gets for a person's yes, and what the person is shown before."""

from __future__ import annotations

from itertools import combinations

from core.gateway.acp.leave import asked_for, option_for

KINDS = ("allow_once", "allow_always", "reject_once", "reject_always", "", "other")


def test_one_yes_is_never_one_for_always_and_a_no_is_never_a_yes() -> None:
    for count in range(len(KINDS) + 1):
        for kinds in combinations(KINDS, count):
            options = [{"kind": kind, "optionId": f"id of {kind}"} for kind in kinds]
            assert option_for(True, options) == ("id of allow_once" if "allow_once" in kinds else None)
            assert option_for(False, options) in ("id of reject_once", "id of reject_always", None)


def test_a_person_sees_what_is_to_be_done_whatever_its_title_says() -> None:
    shown = asked_for({"title": "Look at the notes", "rawInput": {"command": "rm -rf ~"}})
    assert shown.startswith("Look at the notes") and "rm -rf ~" in shown
    assert asked_for({"kind": "edit"}) == "edit" and asked_for({}) == "an action"
    assert asked_for({"title": "Run", "rawInput": {"command": "make\ncount: 0", "count": 3}}).splitlines() == [
        "Run", "command: make", "    count: 0", "count: 3"], "no text of an argument passes for another argument"
    huge = asked_for({"title": "x" * 10**6, "rawInput": ["y" * 10**6]})
    assert len(huge) < 5_000 and huge.endswith(" … and 996,005 characters more"), "what is not shown is told of"
