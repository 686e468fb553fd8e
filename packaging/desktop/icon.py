"""Draws a picture as a PNG: icon.py DRAWING.svg SIZE OUT.png. Runs in the Python of the packages."""

import sys

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

drawing, size, out = sys.argv[1:]
application = QGuiApplication(["icon"])
image = QImage(int(size), int(size), QImage.Format.Format_ARGB32)
image.fill(Qt.GlobalColor.transparent)
painter = QPainter(image)
QSvgRenderer(drawing).render(painter)
painter.end()
if not image.save(out):
    raise SystemExit(f"{out} cannot be written.")
