"""Numbers on the command line: finite and within bounds, whichever option they are given to."""

from __future__ import annotations

import math
from typing import Any

import click

MOST = 1 << 53
"""Beyond it neither JSON's readers nor the log's columns hold every whole number."""


class Number(click.FloatRange):
    """A finite number, within bounds where the option has them: click takes NaN for one that is within any."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"'{value}' is not a number.", param, ctx)
        return number


class Whole(click.IntRange):
    """A whole number, within bounds of the option's own or those of what can be stored."""

    def __init__(self, least: int = -MOST, most: int = MOST) -> None:
        super().__init__(least, most)
