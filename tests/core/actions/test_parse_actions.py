"""The parse family: documents become text inside the sandbox, hostile ones an observation."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import pytest
from support.sandboxes import Acting, Box, acting

from core.actions.documents import latex

WORD = ('<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
        "<w:p><w:r><w:t>First </w:t></w:r><w:r><w:t>paragraph</w:t></w:r></w:p>"
        "<w:p><w:r><w:t>Second &lt;b&gt;</w:t></w:r></w:p></w:body></w:document>")
SLIDE = ('<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
         'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:p><a:r><a:t>Slide {n}</a:t></a:r></a:p>'
         "</p:sld>")
PDF = (b"%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
       b"3 0 obj<</Type/Page/Parent 2 0 R>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n")


def archive(**parts: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, text in parts.items():
            made.writestr(name.replace("__", "/") + ".xml", text)
    return out.getvalue()


def with_file(place: Box, name: str, data: bytes, work: Callable[[Acting], object]) -> None:
    async def life(at: Acting) -> None:
        host = at.runner._hosts["main"]
        await host.write_file(f"{host.workspace}/{name}", data)
        await work(at)  # type: ignore[misc]

    acting(place, life)


def test_word_and_presentations(place: Box) -> None:
    async def work(at: Acting) -> None:
        seen = await at.do("parse_docx", file_path="d.docx")
        assert seen.output.text == "First paragraph\nSecond <b>"
        saved = await at.do("parse_docx", file_path="d.docx", save_path="out/d.txt")
        assert saved.data["parse_type"] == "docx" and saved.status == "finished"
        assert "Second <b>" in (await at.do("open_file", path="out/d.txt")).output.text
        again = await at.do("parse_docx", file_path="d.docx", save_path="out/d.txt")
        assert again.error is not None and again.error.kind == "exists"
        host = at.runner._hosts["main"]
        slides = archive(**{f"ppt__slides__slide{n}": SLIDE.format(n=n) for n in (10, 2, 1)})
        await host.write_file(f"{host.workspace}/p.pptx", slides)
        text = (await at.do("parse_pptx", file_path="p.pptx")).output.text
        assert [line for line in text.splitlines() if line.startswith("Slide")] == ["Slide 1", "Slide 2", "Slide 10"]

    with_file(place, "d.docx", archive(word__document=WORD), work)


BOMB = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>'


@pytest.mark.parametrize(("data", "words"), [
    (b"no zip", "not a readable document"), (archive(word__document="<broken"), "not a readable document"),
    (archive(word__document=BOMB), "entities"),
    (archive(word__document=" " * (40 << 20)), "larger than"),
])
def test_hostile_documents_are_an_observation(place: Box, data: bytes, words: str) -> None:
    async def work(at: Acting) -> None:
        seen = await at.do("parse_docx", file_path="bad.docx")
        assert seen.status == "failed" and seen.error is not None and seen.error.kind == "unreadable"
        assert words in seen.error.message

    with_file(place, "bad.docx", data, work)


def test_latex(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("tex") / "a.tex"
    path.write_text(r"""\documentclass{article}\usepackage{x}
\begin{document}\section{Intro} Some \textbf{bold \emph{text}} % remark
\cite{a} 5\% of it.\begin{itemize}\item one\end{itemize}\end{document} rest""")
    text = latex(str(path))
    assert "# Intro" in text and "bold text" in text and "5% of it." in text and "- one" in text
    assert not [w for w in ("remark", "cite", "rest", "usepackage", "\\") if w in text]


def test_pdf_by_a_tool_of_the_sandbox_or_an_honest_failure(place: Box) -> None:
    async def work(at: Acting) -> None:
        seen = await at.do("parse_pdf", file_path="d.pdf")
        if seen.is_error:
            assert seen.error is not None and seen.error.kind == "missing_tool" and "pdftotext" in seen.error.message
        gone = await at.do("parse_pdf", file_path="gone.pdf")
        assert gone.error is not None and gone.error.kind == "not_found"

    with_file(place, "d.pdf", PDF, work)
