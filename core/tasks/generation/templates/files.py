"""Chores with files and folders: names, archives, digests, permissions."""

from __future__ import annotations

import gzip
import hashlib
import io
import random
import tarfile

from core.tasks.generation.templates.chore import CITIES, GOODS, PEOPLE, Chore, Template, lines, some


def renamed(rng: random.Random) -> Chore:
    """Names with spaces and capitals, made plain."""
    place = rng.choice(("scans", "photos", "papers"))
    names = [f"{rng.choice(('My', 'Old', 'Final'))} {word.title()} {n}.{rng.choice(('TXT', 'txt', 'Md'))}"
             for n, word in enumerate(some(rng, GOODS, 4, 7))]
    contents = {f"{place}/{name}": lines([f"content of {name}"]) for name in names}
    return Chore(
        category="file and directory management", files=contents, outputs=(),
        expected={name.lower().replace(" ", "_"): f"content of {name}\n" for name in names},
        text=f"Rename every file in `{place}`: capital letters become small letters, each space an underscore. The "
             "contents stay, and no file may be left under its old name.",
        solve=f"for f in {place}/*; do n=$(basename \"$f\" | tr 'A-Z ' 'a-z_'); [ \"$f\" = \"{place}/$n\" ] "
              f"|| mv \"$f\" \"{place}/$n\"; done",
        final=f"assert {{one.name: one.read_text() for one in pathlib.Path('{place}').iterdir()}} == expected")


def sorted_by_kind(rng: random.Random) -> Chore:
    """A heap of files into folders by their endings."""
    kinds = rng.sample(("csv", "txt", "json", "log", "md"), 3)
    names = [f"{word}.{kind}" for kind in kinds for word in some(rng, CITIES, 2, 4)]
    return Chore(
        category="file and directory management", files={f"heap/{n}": lines([n]) for n in names}, outputs=(),
        expected=sorted(f"by_kind/{name.rpartition('.')[2]}/{name}" for name in names),
        text="Move the files of `heap` into folders named by their endings: `heap/a.csv` goes to "
             "`by_kind/csv/a.csv`, and "
             "so on. In the end `heap` holds no file.",
        solve="for f in heap/*.*; do k=${f##*.}; mkdir -p by_kind/$k; mv \"$f\" by_kind/$k/; done",
        final="found = sorted(str(one) for one in pathlib.Path('by_kind').rglob('*') if one.is_file())\n"
              "assert found == expected\nheap = pathlib.Path('heap')\n"
              "assert not heap.exists() or not [one for one in heap.rglob('*') if one.is_file()]\n"
              "assert all(pathlib.Path(name).read_text().strip() == name.rpartition('/')[2] for name in expected)")


def packed(rng: random.Random) -> Chore:
    """Some files of a tree as an archive."""
    kind = rng.choice(("conf", "yaml", "ini"))
    names = [f"etc/{word}/{n}.{rng.choice((kind, kind, 'bak', 'tmp'))}" for word in some(rng, PEOPLE, 3, 4)
             for n in range(4)]
    names += [f"etc/first.{kind}", "etc/last.bak"]
    return Chore(
        category="backup and archiving", files={name: lines([f"# {name}"]) for name in names},
        outputs=("configs.tar.gz",), expected=sorted(name for name in names if name.endswith(kind)),
        text=f"Pack all files below `etc` that end in `.{kind}`, and no others, into the gzip-compressed tar "
             "`configs.tar.gz`; the paths in the archive begin with `etc/`.",
        solve=f"find etc -name '*.{kind}' | sort | tar -czf configs.tar.gz -T -",
        final="with tarfile.open('configs.tar.gz', 'r:gz') as tar:\n"
              "    found = {one.name: tar.extractfile(one).read().decode() for one in tar if one.isreg()}\n"
              "assert sorted(found) == expected\n"
              "assert all(text == f'# {name}\\n' for name, text in found.items())")


def unpacked(rng: random.Random) -> Chore:
    """One file out of an archive, and what all of it holds."""
    names = [f"release/{word}/{n}.txt" for word in some(rng, GOODS, 3, 4) for n in range(3)]
    wanted, data = rng.choice(names), io.BytesIO()
    with gzip.GzipFile(fileobj=data, mode="wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for name in names:
            info = tarfile.TarInfo(name)
            content = lines([f"{name} {rng.randint(1, 10 ** 6)}"])
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
            expected = content.decode() if name == wanted else locals().get("expected", "")
    return Chore(
        category="backup and archiving", files={"release.tar.gz": data.getvalue()}, expected=[expected, sorted(names)],
        outputs=("extracted.txt", "contents.txt"),
        text=f"From `release.tar.gz` take the file `{wanted}` and store it as `extracted.txt`. Write the sorted "
             f"paths of "
             "all files in the archive into `contents.txt`, one a line.",
        solve=f"tar -xzOf release.tar.gz {wanted} > extracted.txt\ntar -tzf release.tar.gz | LC_ALL=C sort > "
              f"contents.txt",
        final="assert pathlib.Path('extracted.txt').read_text() == expected[0]\n"
              "assert pathlib.Path('contents.txt').read_text().splitlines() == expected[1]")


def digests(rng: random.Random) -> Chore:
    """Files that were changed since their digests were taken."""
    kind = rng.choice(("sha256", "sha1", "md5"))
    names = [f"data/{word}.bin" for word in some(rng, CITIES, 6, 9)]
    contents = {name: rng.randbytes(200) for name in names}
    sums = lines([f"{hashlib.new(kind, contents[name]).hexdigest()}  {name}" for name in names])
    changed = sorted(rng.sample(names, 2))
    for name in changed:
        contents[name] += b"\0"
    return Chore(
        category="checksums", files={**contents, f"data.{kind}": sums}, outputs=("changed.txt", f"new.{kind}"),
        expected=[changed, sorted([hashlib.new(kind, data).hexdigest(), name] for name, data in contents.items())],
        text=f"`data.{kind}` holds the {kind} digests that the files in `data` once had. List the files that no "
             f"longer have "
             f"them in `changed.txt` (one path a line, sorted), and write the digests that all files have now into "
             f"`new.{kind}`, in the same form as `data.{kind}`.",
        solve=f"{kind}sum -c data.{kind} 2>/dev/null | grep FAILED | cut -d: -f1 | LC_ALL=C sort > changed.txt\n"
              f"{kind}sum data/* > new.{kind}",
        final="assert pathlib.Path('changed.txt').read_text().splitlines() == expected[0]\n"
              f"rows = [line.split(maxsplit=1) for line in pathlib.Path('new.{kind}').read_text().splitlines()]\n"
              "assert sorted([digest, name.lstrip('*')] for digest, name in rows) == expected[1]")


def largest(rng: random.Random) -> Chore:
    """The largest files of a tree."""
    most = rng.randint(3, 5)
    sizes = rng.sample(range(100, 9000), 14)
    files = {f"disk/{rng.choice(PEOPLE)}/{n}.dat": b"x" * size for n, size in enumerate(sizes)}
    top = sorted(files, key=lambda name: -len(files[name]))[:most]
    return Chore(
        category="disk usage", files=files, outputs=("largest.txt",), expected=[f"{len(files[n])} {n}" for n in top],
        text=f"Find the {most} largest files below `disk` by their length in bytes. Write `largest.txt`: length, a "
             f"space, "
             "path (beginning with `disk/`), the largest first.",
        solve=f"find disk -type f -printf '%s %p\\n' | sort -k1,1nr | head -n {most} > largest.txt",
        final="assert pathlib.Path('largest.txt').read_text().splitlines() == expected")


def executable(rng: random.Random) -> Chore:
    """Scripts that cannot be started, and a file that should not be."""
    names = [f"bin/{word}" for word in some(rng, GOODS, 5, 8)]
    scripts = rng.sample(names, 3)
    contents = {name: b"#!/bin/sh\necho ok\n" if name in scripts else lines([f"notes about {name}"]) for name in names}
    return Chore(
        category="permissions", files=contents, outputs=("runnable.txt",), expected=[sorted(scripts), sorted(names)],
        text="Some files in `bin` are scripts (their first line begins with `#!`), but none may be executed. Make "
             "exactly "
             "the scripts executable for their owner, and list their paths, sorted, one a line, in `runnable.txt`.",
        solve="chmod u-x bin/*\ngrep -l '^#!' bin/* | LC_ALL=C sort > runnable.txt\n"
              "while read -r f; do chmod u+x \"$f\"; done < runnable.txt",
        final="assert pathlib.Path('runnable.txt').read_text().split() == expected[0]\n"
              "assert [name for name in expected[1] if os.access(name, os.X_OK)] == expected[0]")


def compared(rng: random.Random) -> Chore:
    """What differs between two trees."""
    words = some(rng, CITIES, 8, 9)
    old = {f"{word}.txt": lines([word, "1"]) for word in words[:-2]}
    new = {name: data for name, data in old.items() if name not in {f"{words[0]}.txt"}}
    new |= {f"{words[1]}.txt": lines([words[1], "2"]), **{f"{word}.txt": lines([word]) for word in words[-2:]}}
    expected = sorted([f"removed {words[0]}.txt", f"changed {words[1]}.txt", *(f"added {w}.txt" for w in words[-2:])])
    return Chore(
        category="diff and patch", outputs=("differences.txt",), expected=expected,
        files={f"old/{n}": d for n, d in old.items()} | {f"new/{n}": d for n, d in new.items()},
        text="Compare the folders `old` and `new` by the names and contents of their files. Write `differences.txt` "
             "with a "
             "line `added NAME`, `removed NAME` or `changed NAME` for each file that differs, lines sorted.",
        solve="for f in $(ls old new | grep txt | sort -u); do if [ ! -e old/$f ]; then echo added $f; "
              "elif [ ! -e new/$f ]; then echo removed $f; elif ! cmp -s old/$f new/$f; then echo changed $f; fi; done "
              "| LC_ALL=C sort > differences.txt",
        final="assert pathlib.Path('differences.txt').read_text().splitlines() == expected")


TEMPLATES: tuple[Template, ...] = (renamed, sorted_by_kind, packed, unpacked, digests, largest, executable, compared)
