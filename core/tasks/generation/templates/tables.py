"""Chores with tables and records: CSV, JSON, SQLite."""

from __future__ import annotations

import csv
import io
import json
import random
import sqlite3
from collections import defaultdict
from collections.abc import Sequence

from core.tasks.generation.templates.chore import CITIES, GOODS, PEOPLE, Chore, Template, lines, some


def _csv(header: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue().encode()


def _python(code: str) -> str:
    return f"python3 - <<'PYTHON'\n{code}\nPYTHON"


def sums(rng: random.Random) -> Chore:
    """Sums of a group, of the rows that count."""
    group, least = rng.choice(("city", "item")), rng.randint(5, 40)
    rows = [(rng.choice(CITIES), rng.choice(GOODS), rng.randint(1, 99)) for _ in range(rng.randint(60, 120))]
    at = ("city", "item").index(group)
    totals: dict[str, int] = defaultdict(int)
    for row in rows:
        totals[str(row[at])] += row[2] if row[2] >= least else 0
    expected = sorted((name, total) for name, total in totals.items() if total)
    return Chore(
        category="CSV and JSON", files={"sales.csv": _csv(("city", "item", "amount"), rows)}, expected=expected,
        outputs=(f"sales_by_{group}.csv",),
        text=f"From `sales.csv` take the rows whose amount is at least {least}, sum the amounts for each {group} and "
             f"write "
             f"`sales_by_{group}.csv` with the header `{group},total`, sorted by {group}.",
        solve=f"(echo {group},total; awk -F, 'NR > 1 && $3 >= {least} {{n[${at + 1}] += $3}} "
              f"END {{for (k in n) print k \",\" n[k]}}' sales.csv | LC_ALL=C sort) > sales_by_{group}.csv",
        final=f"rows = pathlib.Path('sales_by_{group}.csv').read_text().splitlines()\n"
              f"assert rows[0] == '{group},total'\nassert rows[1:] == [f'{{name}},{{total}}' for name, total in "
              f"expected]")


def to_json(rng: random.Random) -> Chore:
    """A table with quoted commas as records."""
    rows = [(n, f"{rng.choice(GOODS)}, {rng.choice(('small', 'large', 'spare'))}", rng.randint(1, 500) / 4)
            for n in rng.sample(range(100, 999), 15)]
    expected = [{"id": n, "name": name, "price": price} for n, name, price in sorted(rows)]
    return Chore(
        category="data transformation", files={"stock.csv": _csv(("id", "name", "price"), rows)}, expected=expected,
        outputs=("stock.json",),
        text="Convert `stock.csv` (some names contain commas, in quotes) to `stock.json`: a JSON array of objects "
             "with the "
             "keys id (a whole number), name (text) and price (a number), in ascending order of id.",
        solve=_python("import csv, json\nrows = [{'id': int(r['id']), 'name': r['name'], 'price': float(r['price'])} "
                      "for r in csv.DictReader(open('stock.csv'))]\n"
                      "json.dump(sorted(rows, key=lambda r: r['id']), open('stock.json', 'w'))"),
        final="found = json.loads(pathlib.Path('stock.json').read_text())\nassert found == expected\n"
              "assert all(type(one['id']) is int for one in found)")


def from_json_lines(rng: random.Random) -> Chore:
    """Records of which some are broken, as a table."""
    key = rng.choice(("user", "owner", "author"))
    good = [{key: rng.choice(PEOPLE), "bytes": rng.randint(1, 9999), "nested": {"ok": bool(rng.randint(0, 1))}}
            for _ in range(40)]
    rows = [json.dumps(one) for one in good]
    for at in rng.sample(range(40), 5):
        rows.insert(at, rows[at][:-rng.randint(3, 9)])
    expected = [[one[key], str(one["bytes"]), str(one["nested"]["ok"]).lower()] for one in good]  # type: ignore[index]
    return Chore(
        category="data transformation", files={"events.jsonl": lines(rows)}, outputs=("events.csv", "broken.txt"),
        expected=expected,
        text=f"`events.jsonl` should hold one JSON object a line, but some lines were cut off. Write `events.csv` "
             f"with the "
             f"header `{key},bytes,ok` and a row for each readable line in its order (ok is `nested.ok` as true or "
             f"false), "
             "and the number of unreadable lines into `broken.txt`.",
        solve=_python("import json\nrows, broken = [], 0\nfor line in open('events.jsonl'):\n    try:\n"
                      "        one = json.loads(line)\n    except ValueError:\n        broken += 1\n        continue\n"
                      f"    rows.append(f\"{{one['{key}']}},{{one['bytes']}},{{str(one['nested']['ok']).lower()}}\")\n"
                      f"open('events.csv', 'w').write('\\n'.join(['{key},bytes,ok', *rows]) + '\\n')\n"
                      "open('broken.txt', 'w').write(f'{broken}\\n')"),
        final=f"rows = list(csv.reader(pathlib.Path('events.csv').open()))\nassert rows[0] == ['{key}', 'bytes', "
              f"'ok']\n"
              "assert rows[1:] == expected\nassert int(pathlib.Path('broken.txt').read_text()) == 5")


def query(rng: random.Random) -> Chore:
    """A question to a database."""
    most = rng.randint(2, 4)
    rows = [(rng.choice(PEOPLE), rng.choice(GOODS), rng.randint(1, 50)) for _ in range(150)]
    totals: dict[str, int] = defaultdict(int)
    for person, _, amount in rows:
        totals[person] += amount
    expected = sorted(((-total, person) for person, total in totals.items()))[:most]
    return Chore(
        category="SQLite", files={"orders.db": _database(rows)}, outputs=("best.tsv",),
        expected=[[person, -total] for total, person in expected],
        text=f"The SQLite database `orders.db` has a table orders(person, item, amount). Find the {most} people with "
             f"the "
             "largest sum of amounts; write `best.tsv`, a line each: person, tab, sum; the largest first, and of equal "
             "sums the name that comes first in the alphabet. Do not change the database.",
        solve=_python("import sqlite3\nfound = sqlite3.connect('orders.db').execute('select person, sum(amount) as s "
                      "from "
                      f"orders group by person order by s desc, person limit {most}').fetchall()\n"
                      "open('best.tsv', 'w').write(''.join(f'{p}\\t{s}\\n' for p, s in found))"),
        final="rows = [line.split('\\t') for line in pathlib.Path('best.tsv').read_text().splitlines()]\n"
              "assert [[person, int(total)] for person, total in rows] == expected\n"
              "found = sqlite3.connect('orders.db').execute('select count(*) from orders').fetchone()\nassert found "
              "== (150,)")


def _database(rows: Sequence[Sequence[object]]) -> bytes:
    database = sqlite3.connect(":memory:")
    database.execute("create table orders (person text, item text, amount integer)")
    database.executemany("insert into orders values (?, ?, ?)", rows)
    database.commit()
    return database.serialize()


def into_database(rng: random.Random) -> Chore:
    """A table as a database with an index."""
    table = rng.choice(("trips", "rides", "flights"))
    rows = [(*rng.sample(CITIES, 2), rng.randint(10, 900)) for _ in range(60)]
    return Chore(
        category="SQLite", files={f"{table}.csv": _csv(("start", "goal", "km"), rows)}, outputs=(f"{table}.db",),
        expected=sorted([*row] for row in rows),
        text=f"Load `{table}.csv` into a new SQLite database `{table}.db`: a table {table} with the columns start, "
             f"goal "
             f"(text) and km (integer), without the header as a row, and an index named {table}_start on start.",
        solve=_python(f"import csv, sqlite3\ndb = sqlite3.connect('{table}.db')\n"
                      f"db.execute('create table {table} (start text, goal text, km integer)')\n"
                      f"db.execute('create index {table}_start on {table} (start)')\n"
                      f"rows = [(r['start'], r['goal'], int(r['km'])) for r in csv.DictReader(open('{table}.csv'))]\n"
                      f"db.executemany('insert into {table} values (?, ?, ?)', rows)\ndb.commit()"),
        final=f"db = sqlite3.connect('{table}.db')\n"
              f"found = [list(row) for row in db.execute('select start, goal, km from {table} order by start, goal, "
              f"km')]\n"
              f"assert found == expected\nindexes = db.execute(\"select name from sqlite_master where type = "
              f"'index'\")\n"
              f"assert ('{table}_start',) in indexes.fetchall()")


def joined(rng: random.Random) -> Chore:
    """Two tables that belong together, and what is missing in one."""
    people = rng.sample(PEOPLE, 9)
    known = {person: rng.choice(CITIES) for person in people[:7]}
    hours = [(person, rng.randint(1, 60)) for person in people]
    expected = sorted([person, known[person], str(n)] for person, n in hours if person in known)
    return Chore(
        category="CSV and JSON", expected=[expected, sorted(people[7:])], outputs=("staffed.csv", "unknown.txt"),
        files={"people.csv": _csv(("name", "city"), list(known.items())), "hours.csv": _csv(("name", "hours"), hours)},
        text="Join `people.csv` and `hours.csv` by name into `staffed.csv` (header `name,city,hours`, sorted by name). "
             "Names that have hours but no city go into `unknown.txt`, one a line and sorted, and not into the table.",
        solve=_python("import csv\ncity = {r['name']: r['city'] for r in csv.DictReader(open('people.csv'))}\n"
                      "rows = sorted((r['name'], r['hours']) for r in csv.DictReader(open('hours.csv')))\n"
                      "table = ['name,city,hours', *(f'{n},{city[n]},{h}' for n, h in rows if n in city)]\n"
                      "open('staffed.csv', 'w').write('\\n'.join(table) + '\\n')\n"
                      "open('unknown.txt', 'w').write(''.join(f'{n}\\n' for n, _ in rows if n not in city))"),
        final="rows = list(csv.reader(pathlib.Path('staffed.csv').open()))\n"
              "assert rows[0] == ['name', 'city', 'hours'] and rows[1:] == expected[0]\n"
              "assert pathlib.Path('unknown.txt').read_text().split() == expected[1]")


def environment_file(rng: random.Random) -> Chore:
    """Variables of a dotenv file as JSON."""
    values = {f"APP_{word.upper()}": str(rng.randint(1, 9999)) for word in some(rng, GOODS, 4, 6)}
    rows = [row for name, value in values.items() for row in (f"# about {name.lower()}", f'{name}="{value}"', "")]
    name = rng.choice((".env", "deploy.env", "settings.env"))
    return Chore(
        category="dotenv", files={name: lines(rows)}, outputs=("variables.json",), expected=values,
        text=f"Turn the variables of `{name}` into `variables.json`, one JSON object of names and values; values are "
             f"texts "
             "without the quotes, comments and empty lines are left out.",
        solve=_python(f"import json\nrows = [r.strip() for r in open('{name}') if '=' in r and not r.startswith('#')]\n"
                      "json.dump({k: v.strip('\"') for k, v in (r.split('=', 1) for r in rows)}, "
                      "open('variables.json', 'w'))"),
        final="assert json.loads(pathlib.Path('variables.json').read_text()) == expected")


TEMPLATES: tuple[Template, ...] = (sums, to_json, from_json_lines, query, into_database, joined, environment_file)
