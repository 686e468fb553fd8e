"""Keeps the stock of a shop."""

from shelf.stock import merge, page, parse, reorder, value

__all__ = ["merge", "page", "parse", "reorder", "value"]
