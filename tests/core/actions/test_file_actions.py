"""The file family inside a sandbox, and file changes as facts."""

from __future__ import annotations

from support.sandboxes import Acting, Box, acting

from core.domain.events import FileChanged


def test_create_open_scroll_and_edit(place: Box) -> None:
    async def work(at: Acting) -> None:
        text = "".join(f"line {n}\n" for n in range(1, 251))
        made = await at.do("create_file", filename="d/f.txt", content=text)
        assert made.status == "finished" and "250 lines" in made.output.text
        shown = await at.do("open_file", path="d/f.txt", line_number=120, context_lines=3)
        assert shown.output.text.splitlines()[1:] == ["120|line 120", "121|line 121", "122|line 122"]
        assert (shown.data["total_lines"], shown.data["start_line"], shown.data["end_line"]) == (250, 120, 122)
        assert (await at.do("file_scroll_down")).data["start_line"] == 220
        assert (await at.do("file_scroll_up")).data["start_line"] == 120
        assert (await at.do("file_goto_line", line_number=9999)).data["start_line"] == 250
        assert (await at.do("get_file_info")).data["current_line"] == 250
        edited = await at.do("edit_file", start=2, end=3, content="new two")
        assert edited.data["removed_context"] == "2|line 2\n3|line 3" and edited.data["added_context"] == "2|new two"
        assert (await at.do("run_command", command="sed -n 1,3p d/f.txt")).output.text == "line 1\nnew two\nline 4"
        await at.do("edit_file", path="d/f.txt", start=1, end=0, content="first")
        await at.do("edit_file", path="d/f.txt", start=251, content="last")
        ends = await at.do("run_command", command="head -1 d/f.txt; tail -1 d/f.txt; wc -l < d/f.txt")
        assert ends.output.text.split() == ["first", "last", "251"]
        await at.do("edit_file", path="d/f.txt", start=1, end=-1, content="")
        assert (await at.do("run_command", command="wc -c < d/f.txt")).output.text.strip() == "0"

    acting(place, work)


def test_edits_keep_every_other_byte(place: Box) -> None:
    async def work(at: Acting) -> None:
        await at.do("run_command", command=r"printf 'a\r\nb\xff\r\nc' > raw")
        await at.do("edit_file", path="raw", start=1, end=1, content="A\r")
        seen = await at.do("run_command", command="od -An -tx1 raw")
        assert seen.output.text.split() == ["41", "0d", "0a", "62", "ff", "0d", "0a", "63"]

    acting(place, work)


def test_mistakes_are_typed_observations(place: Box) -> None:
    async def work(at: Acting) -> None:
        kinds = {}
        for name, arguments in {
            "file_scroll_down": {}, "search_file": {"search_term": "x"},
            "open_file": {"path": "nothing"}, "edit_file": {"path": "nothing", "content": "x"},
            "list_files": {"path": "nowhere"}, "search_dir": {"search_term": "x", "dir_path": "nowhere"},
        }.items():
            seen = await at.do(name, **arguments)
            assert seen.is_error and seen.error is not None
            kinds[name] = seen.error.kind
        assert kinds == {"file_scroll_down": "no_file_open", "search_file": "no_file_open", "open_file": "not_found",
                         "edit_file": "not_found", "list_files": "not_found", "search_dir": "not_found"}
        await at.do("create_file", filename="three", content="1\n2\n3\n")
        wrong = await at.do("edit_file", path="three", start=9, end=10, content="x")
        assert wrong.status == "refused" and wrong.error is not None and wrong.error.kind == "bad_range"
        await at.do("run_command", command="head -c 20 /dev/zero > binary; mkfifo pipe")
        assert (await at.do("open_file", path="binary")).error is not None
        assert (await at.do("open_file", path="pipe")).error is not None

    acting(place, work)


def test_searching_and_listing(place: Box) -> None:
    async def work(at: Acting) -> None:
        await at.do("run_command", command="mkdir -p 'a b:1' .git; echo 'x (needle) [y]' > 'a b:1/f:2.py'; "
                    "echo needle > .git/no; echo needle > -dash; touch .hidden")
        found = await at.do("search_dir", search_term="(needle) [")
        assert [(m["file_path"].rpartition("/")[2], m["line"]) for m in found.data["search_matches"]] == [("f:2.py", 1)]
        assert (await at.do("search_dir", search_term="needle")).data["num_files"] == 2
        assert (await at.do("search_file", search_term="needle", file_path="-dash")).data["num_matches"] == 1
        assert (await at.do("search_dir", search_term="absent")).data["num_matches"] == 0
        assert (await at.do("find_file", file_name="F:2")).data["num_files"] == 1
        listing = await at.do("list_files")
        assert (listing.data["list_directories"], listing.data["list_files"]) == (["a b:1"], ["-dash"])
        assert ".hidden" in (await at.do("list_files", show_hidden=True)).data["list_files"]
        await at.do("run_command", command="for i in $(seq 300); do echo many; done > many")
        many = await at.do("search_file", search_term="many", file_path="many")
        assert not many.is_error and len(many.data["search_matches"]) == 100 and "More than 100" in many.output.text

    acting(place, work)


def test_every_change_becomes_a_fact_with_both_contents(place: Box) -> None:
    async def work(at: Acting) -> None:
        await at.do("create_file", filename="f", content="1\n")
        await at.do("edit_file", path="f", start=1, end=1, content="2")
        await at.do("run_command", command="echo 3 >> f; echo made > g")
        await at.do("run_command", command="rm g; head -c 300000 /dev/zero > zeros")
        await at.do("run_command", command="true")

    sink = acting(place, work)
    changes = [(f.step, f.path.rpartition("/")[2], sink.blobs.get(f.before), sink.blobs.get(f.after), f.too_large)
            for f in sink.of(FileChanged)]
    assert sorted(changes, key=lambda t: t[:2]) == [
        (1, "f", None, b"1\n", False), (2, "f", b"1\n", b"2\n", False), (3, "f", b"2\n", b"2\n3\n", False),
        (3, "g", None, b"made\n", False), (4, "g", b"made\n", None, False), (4, "zeros", None, None, True)]


def test_files_that_were_there_have_a_content_before(place: Box) -> None:
    async def first(at: Acting) -> None:
        await at.do("create_file", filename="old", content="before\n")

    async def second(at: Acting) -> None:
        await at.do("run_command", command="echo after > old")

    acting(place, first)
    sink = acting(place, second)
    change = sink.of(FileChanged)[0]
    assert (sink.blobs[change.before], sink.blobs[change.after]) == (b"before\n", b"after\n")
