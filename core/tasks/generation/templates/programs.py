"""Chores with programs and their settings: scripts to write or to mend, INI files, versions."""

from __future__ import annotations

import random
from collections.abc import Callable

from core.tasks.generation.templates.chore import SERVICES, Chore, Template, lines, some

_RUN = ("def run(*words, text=''):\n    done = subprocess.run(words, input=text, capture_output=True, text=True, "
        "timeout=20)\n    assert done.returncode == 0, done.stderr[-200:]\n    return done.stdout.strip()\n")


def setting(rng: random.Random) -> Chore:
    """One setting of one section."""
    sections = some(rng, SERVICES, 3, 4)
    key, chosen, value = rng.choice(("port", "workers", "timeout")), rng.choice(sections), rng.randint(10_000, 60_000)
    rows = [row for name in sections for row in (f"[{name}]", f"{key} = {rng.randint(1, 99)}", f"owner = "
                                                                                               f"{name}-team", "")]
    at = rows.index(f"[{chosen}]") + 1
    expected = [*rows[:at], f"{key} = {value}", *rows[at + 1:]]
    return Chore(
        category="INI", files={"services.ini": lines(rows)}, outputs=(), expected=[row for row in expected if row],
        text=f"In `services.ini` set `{key}` of the section `{chosen}` to {value}. Every other line stays as it is.",
        solve=f"sed -i '/^\\[{chosen}\\]/,/^\\[/ s/^{key} = .*/{key} = {value}/' services.ini",
        final="rows = pathlib.Path('services.ini').read_text().splitlines()\n"
              "assert [' '.join(row.split()) for row in rows if row.strip()] == expected")


def version(rng: random.Random) -> Chore:
    """The next version, told in three places."""
    major, minor, patch = rng.randint(0, 4), rng.randint(1, 19), rng.randint(1, 19)
    part = rng.choice(("minor", "patch", "major"))
    new = {"major": (major + 1, 0, 0), "minor": (major, minor + 1, 0), "patch": (major, minor, patch + 1)}[part]
    old, text = f"{major}.{minor}.{patch}", ".".join(map(str, new))
    return Chore(
        category="semantic versions", outputs=(), expected=[text, old],
        files={"VERSION": lines([old]), "CHANGELOG.md": lines(["# Changes", "", f"## {old}", "", "- The first lamp."]),
               "setup.cfg": lines(["[metadata]", "name = lamp", f"version = {old}"])},
        text=f"Raise the {part} number of the version in `VERSION` by the rules of semantic versioning. Put it into "
             "`setup.cfg`, too, and a heading `## NEW` (with the new version) followed by an empty line, the line "
             "`- Release.` and an empty line above the newest heading of `CHANGELOG.md`.",
        solve=f"echo {text} > VERSION\nsed -i 's/^version = .*/version = {text}/' setup.cfg\n"
              f"sed -i 's/^## {old}$/## {text}\\n\\n- Release.\\n\\n## {old}/' CHANGELOG.md",
        final="assert pathlib.Path('VERSION').read_text().strip() == expected[0]\n"
              "assert pathlib.Path('setup.cfg').read_text().split()[-1] == expected[0]\n"
              "rows = [row for row in pathlib.Path('CHANGELOG.md').read_text().splitlines() if row]\n"
              "assert rows == ['# Changes', f'## {expected[0]}', '- Release.', f'## {expected[1]}', '- The first "
              "lamp.']")


def mend_mean(rng: random.Random) -> Chore:
    """A program with a mistake."""
    what = rng.choice(("median", "mean", "range"))
    bodies = {"mean": ("return sum(values) / (len(values) - 1)", "return sum(values) / len(values)"),
              "range": ("return max(values) + min(values)", "return max(values) - min(values)"),
              "median": ("return sorted(values)[len(values) // 2 - 1]", "return sorted(values)[len(values) // 2]")}
    wrong, right = bodies[what]
    code = ["import sys", "", "", f"def {what}(values):", f"    {wrong}", "", "",
            "numbers = [float(word) for word in sys.stdin.read().split()]", f"print({what}(numbers))"]
    samples = [rng.sample(range(1, 200), 5) for _ in range(3)]
    answers: dict[str, Callable[[list[int]], float]] = {
        "mean": lambda v: sum(v) / 5, "range": lambda v: max(v) - min(v), "median": lambda v: sorted(v)[2]}
    return Chore(
        category="debugging Python", files={f"{what}.py": lines(code)}, outputs=(),
        expected=[[one, float(answers[what](one))] for one in samples],
        text=f"`{what}.py` reads an odd count of numbers from its standard input and should print their {what}, but it "
             "prints something else. Find the mistake and mend it in place; the program is used as before.",
        solve=f"sed -i 's|{wrong.replace('[', '.').replace(']', '.')}|{right}|' {what}.py",
        final=_RUN + f"for numbers, right in expected:\n    found = run('python3', '{what}.py', "
                     "text=' '.join(map(str, numbers)))\n    assert abs(float(found) - right) < 1e-9")


def counting_script(rng: random.Random) -> Chore:
    """A script to be written, tried on other files."""
    name, kind = rng.choice(("tally", "census", "inventory")), rng.choice(("txt", "log", "csv"))
    counts = [rng.randint(1, 30) for _ in range(3)]
    return Chore(
        category="shell scripting", outputs=(f"{name}.sh",), expected=sum(counts),
        files={f"samples/{n}.{kind}": lines(["row"] * count) for n, count in enumerate((2, 3))},
        text=f"Write a bash script `{name}.sh` that takes a folder as its only argument and prints one number: how "
             f"many "
             f"lines all files below that folder that end in `.{kind}` have together, at any depth, also where names "
             f"hold "
             "spaces. For `samples` it prints 5.",
        solve=f"cat > {name}.sh <<'BASH'\n#!/bin/bash\nfind \"$1\" -type f -name '*.{kind}' -exec cat {{}} + | wc "
              f"-l\nBASH",
        final=_RUN + f"assert run('bash', '{name}.sh', 'samples') == '5'\nwith tempfile.TemporaryDirectory() as "
                     f"place:\n"
              "    deep = pathlib.Path(place, 'a b', 'c')\n    deep.mkdir(parents=True)\n"
              f"    (deep / 'one two.{kind}').write_text('x\\n' * (expected - 4))\n"
              f"    pathlib.Path(place, 'top.{kind}').write_text('x\\n' * 4)\n"
              f"    (deep / 'other.bin').write_text('x\\n' * 9)\n    assert run('bash', '{name}.sh', place) == "
              f"str(expected)")


def converter(rng: random.Random) -> Chore:
    """A small program by its examples."""
    factor, offset = rng.choice(((1.8, 32), (0.45359237, 0), (2.54, 0), (3.6, 0)))
    name = {1.8: "fahrenheit", 0.45359237: "kilograms", 2.54: "centimetres", 3.6: "kmh"}[factor]
    samples = [rng.randint(-40, 400) for _ in range(4)]
    return Chore(
        category="Python programs", outputs=(f"{name}.py",),
        expected=[[n, round(n * factor + offset, 2)] for n in samples],
        files={"examples.txt": lines([f"{n} -> {n * factor + offset:.2f}" for n in (0, 1, 10, 100)])},
        text=f"Write a Python program `{name}.py` that takes one number as its argument and prints the number "
             f"converted as in "
             "`examples.txt`, with two digits after the point.",
        solve=f"cat > {name}.py <<'PYTHON'\nimport "
              f"sys\nprint(f'{{float(sys.argv[1]) * {factor} + {offset}:.2f}}')\nPYTHON",
        final=_RUN + f"for number, right in expected:\n    found = run('python3', '{name}.py', str(number))\n"
                     "    assert abs(float(found) - right) < 0.011 and len(found.partition('.')[2]) == 2")


TEMPLATES: tuple[Template, ...] = (setting, version, mend_mean, counting_script, converter)
