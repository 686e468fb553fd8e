"""Chores with logs and other lines of text."""

from __future__ import annotations

import random
from collections import Counter

from core.tasks.generation.templates.chore import CITIES, PEOPLE, SERVICES, Chore, Template, lines


def status_codes(rng: random.Random) -> Chore:
    """How often each status of a web server's log occurs."""
    log = rng.choice(("access.log", "web/requests.log", "front.log"))
    rows = [f'10.0.{rng.randint(0, 9)}.{rng.randint(1, 250)} - - "GET /{rng.choice(GOODS_PATHS)} HTTP/1.1" '
            f"{rng.choice((200, 200, 200, 301, 404, 500, 503))} {rng.randint(90, 9000)}"
            for _ in range(rng.randint(80, 200))]
    counted = Counter(row.split('" ')[1].split()[0] for row in rows)
    out = rng.choice(("status.tsv", "codes.tsv", "by_status.tsv"))
    return Chore(
        category="log analysis", files={log: lines(rows)}, outputs=(out,), expected=sorted(counted.items()),
        text=f"Count how often each HTTP status occurs in the web server's log `{log}`. Write `{out}`: one line for "
             f"each "
             "status, the status, a tab, the count; smallest status first, no header.",
        solve=f"awk -F'\" ' '{{split($2, a, \" \"); n[a[1]]++}} END {{for (s in n) print s \"\\t\" n[s]}}' {log} "
              f"| sort > {out}",
        final=f"rows = [line.split('\\t') for line in pathlib.Path('{out}').read_text().splitlines()]\n"
              "assert [(code, int(count)) for code, count in rows] == [tuple(one) for one in expected]")


GOODS_PATHS = ("index", "cart", "items/7", "login", "help", "api/v2/list")


def busiest(rng: random.Random) -> Chore:
    """The addresses with most requests."""
    log, most = rng.choice(("clients.log", "edge.log", "proxy/traffic.log")), rng.randint(3, 5)
    weights = {f"192.168.{n}.{rng.randint(2, 250)}": 4 * n + 3 for n in range(1, 9)}
    rows = [f"{address} {rng.choice(('GET', 'POST', 'HEAD'))} {rng.randint(1, 999)}ms" for address, n in weights.items()
            for _ in range(n)]
    rng.shuffle(rows)
    top = sorted(weights, key=lambda one: -weights[one])[:most]
    return Chore(
        category="log analysis", files={log: lines(rows)}, outputs=("busiest.txt",), expected=top,
        text=f"Each line of `{log}` begins with a client's address. Find the {most} addresses with most lines and "
             f"write "
             "them into `busiest.txt`, one on each line, the busiest first, nothing else.",
        solve=f"cut -d' ' -f1 {log} | sort | uniq -c | sort -k1,1nr | head -n {most} | awk '{{print $2}}' > "
              f"busiest.txt",
        final="assert pathlib.Path('busiest.txt').read_text().split() == expected")


def errors_by_hour(rng: random.Random) -> Chore:
    """Errors of a service, hour by hour."""
    service, level = rng.choice(SERVICES), rng.choice(("ERROR", "WARN", "FATAL"))
    log, out = f"{service}.log", f"{level.lower()}_hours.csv"
    rows = [f"2025-03-{rng.randint(10, 12)}T{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:07Z "
            f"{rng.choice(('INFO', 'INFO', 'DEBUG', level, level))} {service}: request {n}" for n in range(160)]
    hours = Counter(row[11:13] for row in rows if row.split()[1] == level)
    return Chore(
        category="log analysis", files={log: lines(sorted(rows))}, outputs=(out,), expected=sorted(hours.items()),
        text=f"The service {service} writes `{log}`. Over all days together, count the lines of level {level} by the "
             f"hour "
             f"of their time stamp and write `{out}` with the header `hour,count`, hours of two digits, in ascending "
             "order, only hours that have any.",
        solve=f"(echo hour,count; awk '$2 == \"{level}\" {{print substr($1, 12, 2)}}' {log} | sort | uniq -c "
              f"| awk '{{print $2 \",\" $1}}') > {out}",
        final=f"rows = pathlib.Path('{out}').read_text().split()\nassert rows[0] == 'hour,count'\n"
              "assert rows[1:] == [f'{hour},{count}' for hour, count in expected]")


def addresses(rng: random.Random) -> Chore:
    """Mail addresses out of prose."""
    domain = rng.choice(("example.org", "lab.test", "mail.invalid"))
    people = rng.sample(PEOPLE, 7)
    words = ["please", "ask", "before", "noon", "about", "the", "invoice", "or", "write", "again"]
    text = [" ".join([*rng.choices(words, k=6), f"{rng.choice(people)}@{domain}", *rng.choices(words, k=3)])
            for _ in range(25)]
    found = sorted({word for row in text for word in row.split() if "@" in word})
    return Chore(
        category="text processing", files={"letters/inbox.txt": lines(text)}, outputs=("addresses.txt",),
        expected=found,
        text="Collect every mail address that occurs in `letters/inbox.txt` into `addresses.txt`: each once, one a "
             "line, "
             "sorted alphabetically.",
        solve="grep -oE '[a-z]+@[a-z.]+' letters/inbox.txt | sort -u > addresses.txt",
        final="assert pathlib.Path('addresses.txt').read_text().splitlines() == expected")


def first_seen(rng: random.Random) -> Chore:
    """Repeated lines, of which the first stays."""
    rows = rng.choices([f"{city} {n}" for city in CITIES for n in range(4)], k=90)
    return Chore(
        category="text processing", files={"visits.txt": lines(rows)}, outputs=("visits_once.txt",),
        expected=list(dict.fromkeys(rows)),
        text="`visits.txt` has many repeated lines. Write `visits_once.txt` in which every line stands once, in the "
             "order "
             "in which each first appeared; leave `visits.txt` as it is.",
        solve="awk '!seen[$0]++' visits.txt > visits_once.txt",
        final="assert pathlib.Path('visits_once.txt').read_text().splitlines() == expected\n"
              "assert len(pathlib.Path('visits.txt').read_text().splitlines()) == 90")


def latin(rng: random.Random) -> Chore:
    """A file in an old encoding."""
    name, old = rng.choice(("guests", "streets", "menu")), rng.choice(("iso-8859-1", "cp1252", "utf-16-le"))
    rows = [f"{rng.choice(('Zoë', 'Jörg', 'Señor Núñez', 'Øystein', 'Façade', 'Crème brûlée'))} {n}" for n in range(30)]
    return Chore(
        category="text encoding", files={f"{name}.txt": "\n".join(rows).encode(old) + "\n".encode(old)},
        outputs=(f"{name}.utf8.txt",), expected=rows,
        text=f"`{name}.txt` came from an old machine and is encoded as {old}. Make a copy in UTF-8 without a byte "
             f"order "
             f"mark, `{name}.utf8.txt`, with the same lines.",
        solve=f"python3 -c \"import pathlib as p; t = p.Path('{name}.txt').read_bytes().decode('{old}'); "
              f"p.Path('{name}.utf8.txt').write_bytes(t.encode())\"",
        final=f"assert pathlib.Path('{name}.utf8.txt').read_bytes().decode('utf-8').splitlines() == expected")


def word_counts(rng: random.Random) -> Chore:
    """The most frequent words of a text."""
    words, most = ["river", "stone", "cloud", "amber", "quiet", "signal", "harbour", "lantern"], rng.randint(3, 6)
    rng.shuffle(words)
    text = [word if rng.random() < 0.5 else word.capitalize() for n, word in enumerate(words) for _ in range(3 + 2 * n)]
    rng.shuffle(text)
    rows = [" ".join(text[n:n + 9]) + rng.choice((".", "!", ",")) for n in range(0, len(text), 9)]
    top = [f"{word} {3 + 2 * n}" for n, word in reversed(list(enumerate(words)))][:most]
    return Chore(
        category="text processing", files={"story.txt": lines(rows)}, outputs=("words.txt",), expected=top,
        text=f"Which {most} words are most frequent in `story.txt`? Ignore case and punctuation. Write `words.txt`: "
             f"the "
             "word in small letters, a space, its count; most frequent first.",
        solve=f"tr -cs 'A-Za-z' '\\n' < story.txt | tr A-Z a-z | grep . | sort | uniq -c | sort -k1,1nr | head -n "
              f"{most} "
              "| awk '{print $2, $1}' > words.txt",
        final="assert pathlib.Path('words.txt').read_text().splitlines() == expected")


TEMPLATES: tuple[Template, ...] = (status_codes, busiest, errors_by_hour, addresses, first_seen, latin, word_counts)
