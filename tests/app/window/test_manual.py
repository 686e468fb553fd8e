"""Help › Manual opens the manual that belongs to the program, in the reader's language."""

from __future__ import annotations

import sys

import pytest
from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from support.window import shown_window

from app.kit import theme
from app.window import application


class Browser(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def open(self, url: QUrl) -> None:
        self.opened.append(url.toLocalFile())


@pytest.fixture
def packaged(tmp_path, monkeypatch):
    """A program of a package, whose own Python lies in PREFIX/lib/tiphys."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "usr" / "lib" / "tiphys"))
    monkeypatch.setattr(application, "RESOURCES", tmp_path / "nothing" / theme.RESOURCES.name)
    return tmp_path / "usr" / "share" / "doc" / "tiphys" / "manual"


def test_the_first_page_is_in_the_readers_language(packaged):
    assert application.manual_page() is None
    for page in (packaged / "index.html", packaged / "zh" / "index.html"):
        page.parent.mkdir(parents=True, exist_ok=True)
        page.touch()
    assert application.manual_page() == packaged / "index.html"
    assert application.manual_page(chinese=True) == packaged / "zh" / "index.html"


def test_the_menu_opens_it_or_says_how_to_make_it(qapp, tmp_path, packaged):
    browser, sentences = Browser(), []
    QDesktopServices.setUrlHandler("file", browser, "open")
    try:
        with shown_window(tmp_path / "home") as (_, place):
            place.notices.posted.connect(lambda notice: sentences.append(notice.sentence))
            place.actions["help.manual"].trigger()
            assert not browser.opened and "make site" in sentences[0]
            packaged.mkdir(parents=True)
            (packaged / "index.html").touch()
            place.actions["help.manual"].trigger()
            assert browser.opened == [str(packaged / "index.html")]
    finally:
        QDesktopServices.unsetUrlHandler("file")
