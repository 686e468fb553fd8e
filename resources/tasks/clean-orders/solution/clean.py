"""Cleans orders.csv."""

import csv
import re

KNOWN = ("Lindqvist & Söhne", "Ma Trading", "O'Brien Ltd", "Señor Café", "Nakamura KK", "Weiß GmbH")
NAMES = {name.upper(): name for name in KNOWN}


def date(text):
    if found := re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", text):
        day, month, year = found.groups()
    elif found := re.fullmatch(r"(\d+)/(\d+)/(\d+)", text):
        month, day, year = found.groups()
    else:
        return text
    return f"{year}-{int(month):02}-{int(day):02}"


def price(text):
    digits = re.sub(r"[^0-9]", "", text)
    return f"{int(digits[:-2] or 0)}.{digits[-2:]}"


found = {}
with open("orders.csv", encoding="utf-8", newline="") as file:
    for row in csv.DictReader(file):
        if not row["date"] or not re.fullmatch(r"[1-9]\d*", row["quantity"]):
            continue
        customer = NAMES[re.sub(r"\s+", " ", row["customer"]).strip().upper()]
        found[row["order"].upper()] = (date(row["date"]), customer, row["quantity"], price(row["price"]))
with open("clean.csv", "w", encoding="utf-8", newline="") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["order", "date", "customer", "quantity", "price"])
    out.writerows((order, *rest) for order, rest in sorted(found.items()))
