"""The Step panel: thought, actions and observations of the cursor's step; the eye opens its exact context."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QToolButton, QWidget

from app.kit import icons, theme, tokens
from app.kit.action_button import tip_of
from app.kit.boxes import row
from app.kit.empty import Empty, faces
from app.kit.long_text import LongText
from app.kit.safe_text import PlainLabel
from app.kit.tool_button import tool_button
from app.step.context import ContextModel
from app.step.eye_view import EyeView


class StepView(QWidget):
    """Shows the parts of one step, or of a summary or guidance that was opened."""

    action_chosen = Signal(int)
    """The heading of an action was chosen, counted from 1."""

    moved = Signal(int)
    """-1: the step before, +1: the next."""

    def __init__(self, context: ContextModel, eye_action: QAction, tokens_action: QAction,
                 parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = PlainLabel("", self, font=theme.bold_font(self.font()))
        self.about = PlainLabel("", self, elide=True, faint=True)
        self.before = tool_button(self, "chevron-up", self.tr("Previous step (Shift+J)"))
        self.after = tool_button(self, "chevron-down", self.tr("Next step (J)"))
        self.tokens_button = QToolButton(self)
        self.tokens_button.setDefaultAction(tokens_action)
        tokens_action.setIconText(self.tr("Tokens"))
        tokens_action.setToolTip(tip_of(tokens_action, self.tr("The answer as it was sampled, token by token")))
        self.tokens_button.hide()
        self.eye_button = QToolButton(self)
        self.eye_button.setDefaultAction(eye_action)
        eye_action.setIconText(self.tr("What it saw"))
        eye_action.setToolTip(tip_of(eye_action, self.tr("The exact context the model was given")))
        icons.beside_words(self.eye_button)
        self.eye_button.setToolButtonStyle(self.eye_button.toolButtonStyle().ToolButtonTextBesideIcon)
        self.text = LongText(self, name=self.tr("Thought, actions and observations"))
        self.text.edit.setAccessibleDescription(self.tr(
            "The heading of an action, by a click or by Tab and Enter, makes the judging keys judge that action alone"))
        self.text.edit.chosen.connect(self.action_chosen)
        self.token = PlainLabel("", self, elide=True)
        self.token.setContentsMargins(theme.px(tokens.SIDE), theme.GRID, theme.px(tokens.SIDE), theme.GRID)
        self.token.hide()
        self._no_token = ""
        self.text.edit.cursorPositionChanged.connect(self._show_token)
        self.eye = EyeView(context, self)
        self.pages = QStackedWidget(self)
        self.pages.addWidget(self.text)
        self.pages.addWidget(self.eye)
        self.empty = Empty(self.tr("The chosen step appears here: what the model thought, did and got back. "
                                   "At the live tail it is the newest step."), self)
        self._lay_out()
        self.before.clicked.connect(partial(self.moved.emit, -1))
        self.after.clicked.connect(partial(self.moved.emit, 1))
        eye_action.toggled.connect(self._show_page)
        self._show_page(False)

    def _lay_out(self) -> None:
        top = row(self.before, self.after, self.title, (self.about, 1), self.tokens_button, self.eye_button,
                  spacing=theme.GRID)
        top.insertSpacing(top.indexOf(self.about), 2 * theme.GRID)
        self.faces = faces(self, self.empty, top, (self.pages, 1), (self.token, 0))

    def show_head(self, title: str, about: str) -> None:
        """Name what is shown."""
        self.faces.show_content(True)
        self.title.setText(title)
        self.about.setText(about)

    def offer_tokens(self, has_tokens: bool, words: str) -> None:
        """Whether the answer's tokens can be looked at; `words` stand below the text while no token is chosen, ""
        where tokens are not shown."""
        self.tokens_button.setVisible(has_tokens)
        self._no_token = words
        self.token.setVisible(bool(words))
        self._show_token()

    def _show_token(self) -> None:
        """The token behind the text cursor, in words."""
        if self._no_token:
            self.token.setText(self.text.edit.words_at(self.text.edit.textCursor().position()) or self._no_token)

    @property
    def eye_is_open(self) -> bool:
        """Whether the context is shown instead of the step."""
        return self.pages.currentIndex() == 1

    def _show_page(self, eye: bool) -> None:
        """Only the page that is shown decides how small the panel may become."""
        for page, shown in ((self.text, not eye), (self.eye, eye)):
            policy = QSizePolicy.Policy.Expanding if shown else QSizePolicy.Policy.Ignored
            page.setSizePolicy(policy, policy)
        self.pages.setCurrentIndex(int(eye))
