"""How far an import is, in the status bar: the file, how much of all bytes, and a button that cancels."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.kit.i18n import plural, translate
from app.kit.progress_row import ProgressRow
from app.kit.safe_text import one_line, set_tooltip

_CHARACTERS = 40


class ImportBar(ProgressRow):
    """Hidden while nothing is imported."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(translate("ImportBar", "How far the import is"),
                         translate("ImportBar", "Cancel the import"), parent)
        self.setObjectName("import_bar")

    def begin(self, files: int) -> None:
        """An import begins; how far it is, is not known yet."""
        self.text.setText(self.tr("Opening %Ln file(s)…", None, plural(files)))
        set_tooltip(self.text, "")
        self.bar.setRange(0, 0)
        self.cancel.setEnabled(True)

    def tell(self, file: str, number: int, of: int, done: float) -> None:
        """The file `number` of `of` is being read; `done` is the part of all bytes, from 0 to 1."""
        name = one_line(file, _CHARACTERS)
        if of > 1:
            name = self.tr("{name} ({number} of {of})").format(name=name, number=number, of=of)
        self.text.setText(name)
        set_tooltip(self.text, file)
        self.show_share(done)

    def end(self) -> None:
        """Nothing is imported any more."""
        self.hide()
