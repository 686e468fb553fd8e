"""Pictures that a step saw, JSON that folds, long outputs: in the real Step panel, decoded by the real worker."""

from __future__ import annotations

import base64
import json
import struct
import zlib

import pytest
from PySide6.QtCore import QBuffer, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from support.logs import fill
from support.panels import workplace

from app.kit import theme, tokens
from app.step.panel import build
from app.step.parts import argument_parts
from app.step.picture_worker import decoded
from core.domain.errors import ReportableError
from core.domain.picture import LARGEST_PICTURE
from core.formats import registry
from core.formats.pictures import pictures_in
from core.workers.pictures import MOST_SIDE, DecodePicture


def png(width: int = 40, height: int = 20) -> bytes:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return bytes(buffer.data())


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def bomb(side: int) -> bytes:
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 6, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(bytes(100_000))) + chunk(b"IEND", b""))


def block(data: bytes, media: str = "image/png") -> dict[str, object]:
    return {"type": "image", "source": {"type": "base64", "media_type": media,
                                        "data": base64.b64encode(data).decode()}}


LINES = "\n".join(f"\x1b[31mline {n}\x1b[0m" for n in range(100))
TREE = json.dumps({"found": [{"name": f"n{n}", "at": [n, n]} for n in range(12)], "count": 12})


def answered(number: int, tool: str, content: object) -> list[dict[str, object]]:
    use = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": {"command": "make"}}
    return [{"type": "assistant", "message": {"id": f"m{number}", "role": "assistant", "content": [use]}},
            {"type": "user", "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": f"t{number}", "content": content}]}}]


@pytest.fixture
def panel(qtbot, tmp_path):
    asked = [{"type": "text", "text": "Why does it fall?"}, block(png())]
    log = [{"type": "user", "message": {"role": "user", "content": asked}},
           *answered(1, "Read", [block(png(3000, 1500)), block(bomb(60_000)), block(b"<svg/>", "image/svg+xml"),
                                 block(png()[:50])]),
           *answered(2, "Bash", LINES), *answered(3, "mcp__x__list", TREE)]
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps({**line, "sessionId": "r1", "uuid": f"u{n}", "parentUuid": None,
                                        "timestamp": f"2026-03-01T10:0{n}:00Z"}) + "\n" for n, line in enumerate(log)))
    [session] = list(registry.read(path))
    with workplace(tmp_path / "home") as (place, replica):
        replica._writer.do_blocking(lambda conn: fill(conn, session.session, session.bodies, {
            name: session.blobs[name] for name in session.blobs}))
        view = build(place, None)
        qtbot.addWidget(view)
        view.resize(700, 500)
        view.show()
        place.cursor.move(session.session, 1)
        yield place, view.text


def test_pictures_are_drawn_and_hostile_ones_are_refused_in_words(qtbot, panel):
    _, text = panel
    assert text.text.startswith("Sent by a person\nimage/png")
    qtbot.waitUntil(lambda: len(text._pictures) == 5)
    drawn = [p.image.size().toTuple() for p in text.edit.pictures]
    assert drawn == [(40, 20), (MOST_SIDE, MOST_SIDE // 2)]
    assert text.edit.pictures[1].width < text.edit.viewport().width(), "bounded to the width"
    for words in ("too large to be shown", "of a kind that is not shown here", "file is damaged"):
        assert words in text.text
    shown = text.edit.grab().toImage()
    assert any(shown.pixelColor(x, y).name() == "#ff0000" for x in range(8, 60, 4) for y in range(0, 200, 4))


def test_of_a_long_output_the_first_lines_stand_there_and_enter_shows_the_rest(panel):
    place, text = panel
    place.cursor.to_step(2)
    blocks = text.edit.document()
    shown = lambda: sum(blocks.findBlockByNumber(n).isVisible() for n in range(blocks.blockCount()))  # noqa: E731
    few = shown()
    assert "76 lines more (Enter)" in text.text and few < 40 and "\x1b" not in text.text
    assert text.edit.grounds, "an output lies on a ground of its own"
    QTest.keyClick(text.edit, Qt.Key.Key_Return)
    assert shown() > few + 70 and text.edit.next_rest() is None


def test_an_action_has_its_icon_in_the_margin_and_an_output_lies_in_a_frame(panel):
    """Letters touch neither the frame nor the panel's edge; icons stand beside the headings, as in the list."""
    place, text = panel
    place.cursor.to_step(2)
    edit = text.edit
    named = [(edit.document().findBlockByNumber(line).text().split()[0], icon) for line, icon, _ in edit.signs]
    assert named == [("Bash", "terminal"), ("Observation", "corner-down-right")]
    room = edit._room(*edit.grounds[-1])
    letters = edit.blockBoundingGeometry(edit.document().findBlockByNumber(edit.grounds[-1][0])).left()
    letters += edit.contentOffset().x() + edit.document().documentMargin()
    assert 0 < room.left() < letters - 4 and room.right() < edit.viewport().width()
    shown, middle = edit.grab().toImage(), round(room.center().y())
    outside = edit.viewport().x() - edit.frameWidth()
    grounds = [shown.pixelColor(x, middle).name() for x in (4, edit.viewport().x() + round(room.left()) + 3)]
    assert outside + letters == tokens.GROUP and outside + room.left() == tokens.READING
    assert edit.contentOffset().y() <= tokens.READING, "no empty strip above the first label"
    assert grounds == [theme.colour(name).name() for name in ("base", "window")]


def test_what_is_looked_for_is_not_folded_away(panel):
    import re

    place, text = panel
    place.cursor.to_step(2)
    assert text.mark(re.compile("line 90")) == 1
    assert text.edit.next_rest() is None


def test_json_is_a_tree_that_folds(panel):
    place, text = panel
    place.cursor.to_step(3)
    folds = text.edit.folds
    outer = next(fold for fold in folds.folds.values() if text.edit.document().findBlockByNumber(
        fold.head).text().strip() == '"found": [')
    assert outer.is_folded and not text.edit.document().findBlockByNumber(outer.first).isVisible()
    cursor = text.edit.textCursor()
    cursor.setPosition(text.edit.document().findBlockByNumber(outer.head).position())
    text.edit.setTextCursor(cursor)
    QTest.keyClick(text.edit, Qt.Key.Key_Return)
    assert text.edit.document().findBlockByNumber(outer.first).isVisible()
    QTest.keyClick(text.edit, Qt.Key.Key_Return)
    assert not text.edit.document().findBlockByNumber(outer.first).isVisible()


@pytest.mark.parametrize(("data", "code"), [
    (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "picture_kind"), (b"RIFF0000WAVE", "picture_kind"),
    (b"", "picture_kind"),
    (bomb(60_000), "picture_too_large"), (b"\x89PNG\r\n\x1a\n" + bytes(LARGEST_PICTURE), "picture_too_large"),
    (b"\x89PNG\r\n\x1a\n" + bytes(40), "picture_unreadable"), (b"GIF89a" + bytes(30), "picture_unreadable"),
    (b"\xff\xd8\xff" + bytes(100), "picture_unreadable"), (bomb(300)[:-30], "picture_unreadable")])
def test_what_is_no_picture_is_refused_before_it_costs_anything(data, code):
    with pytest.raises(ReportableError) as refused:
        decoded(DecodePicture(data=data))
    assert refused.value.code == code


ADDRESS = "data:image/png;base64," + base64.b64encode(png()).decode()


@pytest.mark.parametrize("content", [
    [block(png())], [{"type": "image_url", "image_url": {"url": ADDRESS}}],
    [{"type": "input_image", "image_url": ADDRESS}],
    [{"type": "image", "image": ADDRESS}], [{"inlineData": {"mimeType": "image/png", "data": ADDRESS.split(",")[1]}}],
    {"type": "image", "image_urls": [ADDRESS], "content": []}, [{"type": "image", "data": ADDRESS.split(",")[1]}],
    [{"functionResponse": {"response": {"output": [{"type": "image", "data": ADDRESS.split(",")[1]}]}}}]])
def test_pictures_are_found_in_the_blocks_of_every_api(content):
    [found] = pictures_in(content)
    stored = {}
    picture = found.stored(lambda data: stored.setdefault("a" * 64, data) and "a" * 64)
    assert (picture.blob, stored["a" * 64]) == ("a" * 64, base64.b64decode(ADDRESS.split(",")[1]))


def test_an_address_is_named_and_never_loaded():
    [found] = pictures_in([{"type": "image", "source": {"media_type": "image/png", "path": "https://example.org/a.png"}}])
    picture = found.stored(lambda data: pytest.fail("nothing is to be stored"))
    assert (picture.blob, picture.place) == ("", "https://example.org/a.png")
    assert pictures_in([{"type": "image", "source": {"data": "A" * (2 * LARGEST_PICTURE)}}])[0].stored(len).blob == ""


def test_a_text_among_the_arguments_lies_in_a_frame_and_a_word_does_not():
    parts = argument_parts({"path": "a.py", "content": "one\ntwo\n", "edits": [{"old": "x" * 200}]})
    framed = [part.text for part in parts if part.style == "block"]
    assert framed[0] == "one\ntwo\n" and "xxx" in framed[1] and len(framed) == 2
