"""Languages: our catalogue and Qt's own, installed before the first widget is made."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QObject, QTranslator

from app.kit.theme import RESOURCES
from core.domain.bounds import INT32, clamp

LANGUAGES = ("en", "zh_CN")
translate = QCoreApplication.translate
"""The text in the reader's language; lupdate knows it by this name."""


def QT_TRANSLATE_NOOP(context: str, text: str) -> str:
    """Mark a text of a table for translation; lupdate knows this name, and Qt's own has no useful type."""
    return text


def plural(count: int) -> int:
    """A number for `tr(…, n)`, which takes 32 bits and raises for more: what is beyond is said as the most there is."""
    return clamp(count, INT32, -INT32)


def choose(wanted: str) -> str:
    """The language to use: a known name, or the best for the system."""
    if wanted in LANGUAGES:
        return wanted
    return "zh_CN" if QLocale.system().language() == QLocale.Language.Chinese else "en"


def install(app: QCoreApplication, language: str) -> None:
    """Install both catalogues and make numbers and dates follow the language. English has one too, for plurals."""
    chosen = choose(language)
    QLocale.setDefault(QLocale(chosen))
    ours = _catalogue(app, f"tiphys_{chosen}", str(RESOURCES / "i18n"))
    theirs = _catalogue(app, f"qtbase_{chosen}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    for translator in (theirs, ours):
        app.installTranslator(translator)


def _catalogue(parent: QObject, name: str, folder: str) -> QTranslator:
    made = QTranslator(parent)
    made.load(name, folder)
    return made
