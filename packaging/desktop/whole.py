"""Imports every module of the program with the Python of a package: what was trimmed away must not be missed.

    PYTHON -I -B packaging/desktop/whole.py [NAME…]       (names of what only training needs, and a package has not)
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from collections.abc import Collection


def missing(absent: Collection[str]) -> list[str]:
    """One line for each module that cannot be imported; those of `absent` may lack."""
    import app
    import core

    lines = []
    for package in (app, core):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.endswith("__main__"):
                continue
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as error:
                if (error.name or "").partition(".")[0] not in absent:
                    lines.append(f"{module.name}: {error}")
    return lines


def qt_lacks() -> list[str]:
    """What Qt cannot do any more without the data of ICU that packages leave out: nothing."""
    from PySide6.QtCore import QCollator, QLocale, QStringDecoder

    by_sound = QCollator(QLocale(QLocale.Language.Chinese, QLocale.Country.China))
    lines = [] if by_sound.compare("\u554a", "\u4e2d") < 0 else ["Qt does not order Chinese words by their sound."]
    return lines if QStringDecoder("GB18030").isValid() else [*lines, "Qt cannot read GB18030."]


if __name__ == "__main__":
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    found = [*missing(sys.argv[1:]), *qt_lacks()]
    sys.exit("\n".join(["The package lacks what the program loads:", *found]) if found else 0)
