"""The difference model: rows rebuild both texts, marks are on the words, large and odd contents are bounded."""

from hypothesis import given
from hypothesis import strategies as st
from support.cost import assert_linear

from app.files.diff import Diff, compare, counts, folded, unified, word_marks
from app.files.diff_lines import Whitespace

LINES = st.lists(st.sampled_from(["a", "b", "import os", "训练", "", "x = 1", "x = 2"]), max_size=12)


@given(LINES, LINES)
def test_the_rows_hold_both_texts_whole_and_in_order(old: list[str], new: list[str]) -> None:
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    diff = compare(before.encode(), after.encode(), "a.py")
    assert [r.old.text for r in diff.rows if r.old] == old
    assert [r.new.text for r in diff.rows if r.new] == new
    assert (diff.added, diff.removed) == counts(before.encode(), after.encode())
    assert diff.added - diff.removed == sum(bool(r.new) for r in diff.rows) - sum(bool(r.old) for r in diff.rows)


def test_only_the_words_that_differ_are_marked() -> None:
    old, new = "split = load('test')", "split = load('train')"
    left, right = word_marks(old, new)
    assert [old[a : a + n] for a, n in left] == ["test"]
    assert [new[a : a + n] for a, n in right] == ["train"]
    assert word_marks("completely other", "x = 1") == ((), ())


def test_far_rows_fold_and_open_again_and_unified_puts_what_went_first() -> None:
    old = "\n".join(f"line {i}" for i in range(40))
    new = old.replace("line 20", "line twenty").replace("line 21", "line twenty-one")
    diff = compare(old.encode(), new.encode())
    shown = folded(diff.rows)
    assert [r.hidden for _, r in shown if r.kind == "gap"] == [17, 15]
    assert len(folded(diff.rows, open_gaps=[0])) == len(shown) + 16
    signs = ["-" if r.new is None else "+" for _, r in unified(shown) if r.kind == "change"]
    assert signs == ["-", "-", "+", "+"]


def test_colours_are_cut_at_the_lines() -> None:
    diff = compare(b"", b'x = """a\nb\nc"""\ny = 1  # why\n', "a.py")
    assert diff.new_spans[1] == ((0, 1, "string"),)
    assert any(name == "comment" and start == 7 for start, _, name in diff.new_spans[3])


def all_lines_changed(lines: int) -> Diff:
    return compare(b"\n".join(b"%d" % i for i in range(lines)), b"\n".join(b"%d." % i for i in range(lines)))


def test_binary_hidden_and_large_contents() -> None:
    assert compare(b"\0\1", b"text").binary
    assert counts(b"\0\1", b"text") is None
    assert "‹RLO›" in compare(b"", "a\u202eb".encode()).rows[0].new.text
    assert_linear(all_lines_changed, 10_000)
    diff = all_lines_changed(300_000)
    assert diff.added == diff.removed == 300_000
    assert compare(b"", b"x" * 10_000_000).rows[0].new.text == "x" * 2000 + "…"


def changes(old: str, new: str, space: Whitespace) -> tuple[int, int]:
    diff = compare(old.encode(), new.encode(), "a.py", space)
    return diff.added, diff.removed


def test_white_space_counts_as_far_as_the_reader_wants() -> None:
    exact, trailing, every = (Whitespace(spaces=s) for s in ("exact", "trailing", "all"))
    assert [changes("x = 1\n", "x = 1  \n", s) for s in (exact, trailing, every)] == [(1, 1), (0, 0), (0, 0)]
    assert [changes("\tx\n", "    x\n", s) for s in (exact, trailing, every)] == [(1, 1), (1, 1), (0, 0)]
    assert [changes("x\ny\n", "x\r\ny\r\n", s) for s in (exact, trailing, every)] == [(2, 2), (0, 0), (0, 0)]
    assert [changes("x\n", "x", s) for s in (exact, trailing, every)] == [(1, 1), (0, 0), (0, 0)]
    shown = compare(b"x\ny", b"x\r\ny\n").rows
    assert [r.new.text for r in shown] == ["x␍", "y"] and shown[1].old.text == "y‹no LF›"
    blank = Whitespace(blank_lines=True)
    assert changes("a\nb\n", "a\n\n\nb\n", exact) == (2, 0)
    assert changes("a\nb\n", "a\n\n\nb\n", blank) == (0, 0)
    assert changes("a\nb\n", "a\n\nc\n", blank) == (2, 1)
    left, right = word_marks("if x:  return", "if y: return", spaces=False)
    assert left == ((3, 1),) and right == ((3, 1),)
    rows = compare(b"a\nb\n", b"a\n\nb\n", "", blank).rows
    assert [(r.kind, bool(r.old), bool(r.new)) for r in rows] == [
        ("same", True, True), ("same", False, True), ("same", True, True)]
