"""Keeps the stock of a shop."""


def parse(text):
    """Read lines of SKU, quantity and price."""
    items = []
    for number, line in enumerate(text.splitlines()):
        if not line or line.startswith("#"):
            continue
        try:
            sku, quantity, price = line.split(",")
            items.append((sku, int(quantity), float(price)))
        except ValueError:
            raise ValueError(f"line {number}: {line}")
    return items


def merge(items, found={}):
    """Add up the quantities of one SKU."""
    for sku, quantity, price in items:
        if sku in found:
            found[sku] = (found[sku][0] + quantity, found[sku][1])
        else:
            found[sku] = (quantity, price)
    return [(sku, quantity, price) for sku, (quantity, price) in found.items()]


def value(items):
    """The worth of all items."""
    return round(sum(quantity * price for _, quantity, price in items), 2)


def reorder(items, least):
    """What has to be ordered again."""
    few = [(quantity, sku) for sku, quantity, _ in items if quantity <= least]
    return [sku for quantity, sku in sorted(few, reverse=True)]


def page(items, number, size):
    """One page of a list."""
    return items[number * size:(number + 1) * size]
