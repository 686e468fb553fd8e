"""Keeps the stock of a shop."""

import csv
from decimal import ROUND_HALF_UP, Decimal


def parse(text):
    """Read lines of SKU, quantity and price."""
    items = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            sku, quantity, price = (field.strip() for field in next(csv.reader([line], skipinitialspace=True)))
            if not sku:
                raise ValueError("no SKU")
            items.append((sku.upper(), int(quantity), float(price.replace(",", "."))))
        except ValueError as error:
            raise ValueError(f"line {number}: {line}") from error
    return items


def merge(items):
    """Add up the quantities of one SKU."""
    found = {}
    for sku, quantity, price in items:
        found[sku] = (found.get(sku, (0, 0))[0] + quantity, price)
    return [(sku, quantity, price) for sku, (quantity, price) in found.items()]


def value(items):
    """The worth of all items."""
    total = sum((quantity * Decimal(str(price)) for _, quantity, price in items), Decimal(0))
    return float(total.quantize(Decimal("0.01"), ROUND_HALF_UP))


def reorder(items, least):
    """What has to be ordered again."""
    return [sku for quantity, sku in sorted((quantity, sku) for sku, quantity, _ in items if quantity < least)]


def page(items, number, size):
    """One page of a list."""
    return items[(number - 1) * size:number * size] if number > 0 else []
