"""Prints the version of Qt for Python once the libraries of a window could be loaded; `tiphys doctor` asks."""

import PySide6
import PySide6.QtWidgets

if __name__ == "__main__":
    print(PySide6.__version__)  # noqa: T201
