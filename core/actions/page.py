"""A web page as lines of text with its links: tags fall away, nothing is executed."""

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

LINES = 50_000
LINKS = 2_000
_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figure", "footer", "form", "h1", "h2",
    "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "tbody", "td",
    "th", "thead", "title", "tr", "ul",
))
_SILENT = frozenset(("script", "style", "noscript", "template", "svg"))


class _Reader(HTMLParser):
    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self.url = url
        self.lines: list[str] = []
        self.links: list[tuple[str, str, int]] = []
        self._text: list[str] = []
        self._silent = 0
        self._link: tuple[str, list[str]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent += 1
        if tag in _BLOCKS:
            self.settle()
        href = dict(attrs).get("href")
        if tag == "a" and href and len(self.links) < LINKS:
            self._link = (href, [])

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        if tag in _BLOCKS:
            self.settle()
        if tag == "a" and self._link is not None:
            href, text = self._link
            self._link = None
            try:
                target = urljoin(self.url, href)
            except ValueError:
                return
            if target.startswith(("http://", "https://")):
                self.links.append((" ".join("".join(text).split())[:300], target[:2000], len(self.lines) + 1))

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._text.append(data)
            if self._link is not None:
                self._link[1].append(data)

    def settle(self) -> None:
        """End a line."""
        line = re.sub(r"\s+", " ", "".join(self._text)).strip()
        self._text.clear()
        if line and len(self.lines) < LINES:
            self.lines.append(line)


def read_page(html: str, url: str) -> tuple[list[str], list[tuple[str, str, int]]]:
    """The lines of a page, and its links as (text, address, line)."""
    reader = _Reader(url)
    reader.feed(html)
    reader.close()
    reader.settle()
    return reader.lines, reader.links
