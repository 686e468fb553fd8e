"""Hostile task folders: each thing of the host that a folder may ask for, in each way of asking for it.

A way writes into a folder and gives what its task.toml says instead of a harmless one, with the words by which a
refusal must name what is asked.
"""

from __future__ import annotations

import copy
import json
import os
import random
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SECRET = b"CANARY-of-a-private-file-7f3a"
VARIABLE, VALUE = "CANARY_OF_THE_SERVER", "CANARY-of-a-variable-51c0"
PLAIN: dict[str, Any] = {
    "id": "foreign", "title": "Foreign", "description": "Do it.", "workspace": "workspace",
    "hosts": [{"name": "main"}], "limits": {"steps": 3},
    "evaluator": {"script": "evaluate.py", "submission": ["out"], "references": "references"},
    "agent": {"model": {"kind": "scripted", "script": "script.toml"}},
    "proof": {"expect": 90.0},
}
TABLES = ((), ("hosts", 0), ("limits",), ("evaluator",), ("agent",), ("agent", "model"), ("proof",))
"""Every level of a task.toml."""

Change = tuple[tuple[str | int, ...], Any]
Way = Callable[[Path, "Traps"], tuple[list[Change], tuple[str, ...]]]


class Traps:
    """What nobody may touch: a private folder, a variable, a file that is made where code runs, an endpoint."""

    def __init__(self, folder: Path) -> None:
        self.private = folder / "private"
        self.private.mkdir(parents=True)
        self.secret = self.private / "secret"
        self.secret.write_bytes(SECRET)
        for name in ("config.json", "task.toml", "evaluate.py"):
            (self.private / name).write_bytes(SECRET)
        self.marker = folder / "code-ran-here"
        self.heard: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            with peer:
                peer.settimeout(2)
                data = b""
                try:
                    while b"\r\n\r\n" not in data and (piece := peer.recv(65536)):
                        data += piece
                    peer.sendall(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                except OSError:
                    pass
            self.heard.append(data)

    def sprung(self) -> list[str]:
        """The traps that somebody stepped into."""
        ran = [f"code ran on the host: {self.marker}"] if self.marker.exists() else []
        return ran + [f"the endpoint heard {data[:60]!r}" for data in self.heard]

    def close(self) -> None:
        self._socket.close()


def harmless(folder: Path, traps: Traps) -> None:
    """A whole task's files. Wherever its code runs on the host, it leaves the marker."""
    folder.mkdir(parents=True)
    for name in ("workspace/deep", "references"):
        (folder / name).mkdir(parents=True)
    (folder / "workspace/deep/data").write_text("data")
    (folder / "references/truth").write_text("truth")
    (folder / "evaluate.py").write_text(f"open({str(traps.marker)!r}, 'w')\nprint('{{\"total\": 1}}')\n")
    (folder / "script.toml").write_text(
        f"pace_s = 0.0\n[[turn]]\n[[turn.calls]]\ntool = 'run_command'\n[turn.calls.arguments]\n"
        f"command = {json.dumps(f'touch {traps.marker}')}\nsession_id = 'main'\nwait_for_completion = true\n"
        "[[turn]]\n[[turn.calls]]\ntool = 'finish'\n")


def write(folder: Path, changes: list[Change]) -> None:
    """The task.toml of a folder: a plain one with changes."""
    task = copy.deepcopy(PLAIN)
    for path, value in changes:
        at: Any = task
        for key in path[:-1]:
            at = at[key] if isinstance(at, list) else at.setdefault(key, {})
        at[path[-1]] = value
    (folder / "task.toml").write_text(toml(task), encoding="utf-8")


def toml(table: dict[str, Any], name: str = "") -> str:
    """A table as TOML text."""
    lines = [f"{key} = {_value(value)}" for key, value in table.items() if not _is_table(value)]
    for key, value in table.items():
        inner = f"{name}.{key}" if name else key
        if isinstance(value, dict):
            lines.append(f"[{inner}]\n{toml(value, inner)}")
        elif _is_table(value):
            lines += [f"[[{inner}]]\n{toml(one, inner)}" for one in value]
    return "\n".join(lines)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def _value(value: Any) -> str:
    return str(value) if isinstance(value, float) else json.dumps(value)


# ---- private files ----------------------------------------------------------------------------------

FIELDS: dict[str, list[Change]] = {
    "workspace": [(("workspace",), None)],
    "references": [(("evaluator", "references"), None)],
    "packages": [(("packages",), None)],
    "solution": [(("proof", "solution"), None)],
    "evaluator": [(("evaluator", "script"), None)],
    "script": [(("agent", "model", "script"), None)],
    "record": [(("agent", "model", "kind"), "replay"), (("agent", "model", "script"), None)],
    "description": [(("description",), None)],
}
"""The fields of a task that name a file or folder; None stands for the path."""


def _link(name: str, target: Callable[[Path, Traps], Path | str]) -> Callable[[Path, Traps], str]:
    def make(folder: Path, traps: Traps) -> str:
        (folder / name).symlink_to(target(folder, traps))
        return name
    return make


def _chain(folder: Path, traps: Traps) -> str:
    (folder / "one").symlink_to("two")
    (folder / "two").symlink_to(traps.private)
    return "one/secret"


def _special(make: Callable[[Path], None]) -> Callable[[Path, Traps], str]:
    def made(folder: Path, traps: Traps) -> str:
        make(folder / "special.md")
        return "special.md"
    return made


def _listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        there = Path.cwd()
        os.chdir(path.parent)  # the name of such a socket has at most 107 bytes
        try:
            one.bind(path.name)
        finally:
            os.chdir(there)


def _nested(make: Callable[[Path, Path], None]) -> Callable[[Path, Traps], str]:
    def made(folder: Path, traps: Traps) -> str:
        make(folder / "workspace/deep/within", traps.private)
        return "workspace"
    return made


PATHS: dict[str, Callable[[Path, Traps], str]] = {
    "absolute file": lambda f, t: str(t.secret),
    "absolute folder": lambda f, t: str(t.private),
    "steps up": lambda f, t: os.path.relpath(t.secret, f),
    "steps up from inside": lambda f, t: f"workspace/../{os.path.relpath(t.private, f)}",
    "steps up, doubled": lambda f, t: f".//workspace//..//{os.path.relpath(t.secret, f)}",
    "backslashes": lambda f, t: os.path.relpath(t.secret, f).replace("/", "\\"),
    "a drive": lambda f, t: "C:\\Users\\secret",
    "another computer": lambda f, t: "\\\\host\\share\\secret",
    "two slashes": lambda f, t: f"/{t.secret}",
    "home": lambda f, t: "~/secret",
    "proc": lambda f, t: f"/proc/self/root{t.secret}",
    "address": lambda f, t: f"file://{t.secret}",
    "link to a file": _link("in.md", lambda f, t: t.secret),
    "link to a folder": _link("in", lambda f, t: t.private),
    "link to a folder, then a file": lambda f, t: f"{_link('in', lambda f, t: t.private)(f, t)}/secret",
    "relative link": _link("in.md", lambda f, t: os.path.relpath(t.secret, f)),
    "link through proc": _link("in.md", lambda f, t: f"/proc/self/root{t.secret}"),
    "chain of links": _chain,
    "circle of links": _link("in.md", lambda f, t: "in.md"),
    "link to the task's own folder's parent": _link("in", lambda f, t: ".."),
    "pipe": _special(os.mkfifo),
    "socket": _special(_listening),
    "device": _link("in.md", lambda f, t: "/dev/zero"),
    "null byte": lambda f, t: f"{t.secret}\0.md",
    "very long": lambda f, t: "x/" * 4000,
    "nested link to a file": _nested(lambda at, private: at.symlink_to(private / "secret")),
    "nested link to a folder": _nested(lambda at, private: at.symlink_to(private)),
    "nested pipe": _nested(lambda at, _: os.mkfifo(at)),
    "nested socket": _nested(lambda at, _: _listening(at)),
    "nested device": _nested(lambda at, _: at.symlink_to("/dev/zero")),
    "other case": lambda f, t: "WORKSPACE/deep/data" if not (f / "WORKSPACE").exists() else str(t.secret),
}


def _path_way(field: str, form: str) -> Way:
    def way(folder: Path, traps: Traps) -> tuple[list[Change], tuple[str, ...]]:
        name = PATHS[form](folder, traps)
        if field == "description" and not name.endswith(".md"):
            name += "/x.md" if "folder" in form else "\0.md" if "\0" in name else ".md"
        return [(path, name if value is None else value) for path, value in FIELDS[field]], ()
    return way


# ---- everything else ---------------------------------------------------------------------------------


def _says(changes: list[Change], *words: str) -> Way:
    return lambda folder, traps: ([(path, _filled(value, traps)) for path, value in changes],
                                  tuple(_filled(word, traps) for word in words))


def _filled(value: Any, traps: Traps) -> Any:
    """The value with the traps' places in it."""
    if isinstance(value, str):
        return value.replace("{url}", traps.url).replace("{private}", str(traps.private))
    if isinstance(value, list):
        return [_filled(one, traps) for one in value]
    return {key: _filled(one, traps) for key, one in value.items()} if isinstance(value, dict) else value


def _local(*more: Change) -> list[Change]:
    return [(("agent", "sandbox"), "local"), *more]


def _model(**fields: Any) -> list[Change]:
    return [(("agent", "model"), {"kind": "openai", "name": "m", **fields})]


def _shadow(task: str) -> Way:
    return lambda folder, traps: (_local((("id",), task)), (task,))


def _toml_is_a_link(folder: Path, traps: Traps) -> tuple[list[Change], tuple[str, ...]]:
    (folder / "task.toml").symlink_to(traps.private / "task.toml")
    return [], ("task.toml",)


def _grant_in_the_folder(folder: Path, traps: Traps) -> tuple[list[Change], tuple[str, ...]]:
    for place in (folder / "allowed", folder / "tasks"):
        place.mkdir()
        (place / "task-.json").write_text('{"rights": [{"kind": "unconfined_agent"}], "at": "2026-01-01T00:00:00Z"}')
    return _local(), ("UNCONFINED",)


def _unconfined() -> Iterator[tuple[str, Way]]:
    yield "local sandbox", _says(_local(), "UNCONFINED", "evaluate.py")
    yield "local sandbox without evaluator", _says(_local((("evaluator",), {})), "UNCONFINED")
    for table in TABLES:
        yield (f"confirmed in {table}",
               _says(_local(((*table, "confirmed_unconfined"), True)), "confirmed_unconfined"))
    for word in ("Local", "LOCAL", "local ", "none", "host", "lo\u0441al"):
        yield f"sandbox {word!r}", _says([(("agent", "sandbox"), word)], "sandbox")
    yield "shadows the demonstration", _shadow("review-labels")
    yield "shadows a shipped task", _shadow("sum-numbers")
    yield "task.toml is a link", _toml_is_a_link
    yield "brings a grant", _grant_in_the_folder


def _variables() -> Iterator[tuple[str, Way]]:
    for name in (VARIABLE, "PATH", "HOME", "TIPHYS_HOME"):
        yield f"{name} to an address", _says(_model(key_env=name, base_url="{url}/v1"), name, "{url}/v1")
        yield f"{name} to the usual endpoint", _says(_model(key_env=name), name, "api.openai.com")
    for spelling in ("{url}/v1/", "{url}", "{url}/api.openai.com/v1", "{url}/v1/x@y"):
        yield f"variable to {spelling}", _says(_model(key_env=VARIABLE, base_url=spelling), VARIABLE, "127.0.0.1")
    for odd in ("http://api.openai.com@127.0.0.1:9/v1", "http://127.0.0.1:9\\@api.openai.com/v1", "{url}/v1?x=1",
                "{url}/v1#https://api.openai.com", "{url}/v1/../x", "{url}/%2e%2e/x", " {url}/v1", "{url}/v1\n",
                "ftp://127.0.0.1/v1", "//127.0.0.1/v1", "http://", "http://[::1/v1", "http://127.0.0.1:99999/v1",
                "file:///etc"):
        yield f"variable to {odd!r}", _says(_model(key_env=VARIABLE, base_url=odd), "endpoint")
    for odd in ("A B", "A=B", "", "A\0B", "Ä", "1A", "$HOME", "A" * 300):
        if odd:
            yield f"variable {odd!r:.40}", _says(_model(key_env=odd, base_url="{url}/v1"), "variable")


def _others() -> Iterator[tuple[str, Way]]:
    for spelling in ("{url}/v1", "http://169.254.169.254/latest", "http://localhost:2375", "http://[::1]:9/v1",
                     "http://2130706433/v1"):
        yield f"endpoint {spelling}", _says(_model(base_url=spelling), "is sent to")
    yield "the usual endpoint", _says(_model(), "api.openai.com")
    yield "a model of the host", _says([(("agent", "model"), {"kind": "local", "name": "{private}"})], "{private}")
    above = {"kind": "local", "name": "../../private"}
    yield "a model in a folder above", _says([(("agent", "model"), above)], "private")
    for image in ("their/image:1", "registry.evil:5000/x", "tiphys-sandbox:latest", "scratch"):
        yield f"image {image}", _says([(("hosts", 0, "image"), image)], image)
    yield "a build", _says([(("hosts", 0, "build"), "workspace"), (("hosts", 0, "bases"), ["their/base"])],
                           "built by workspace", "their/base")
    for path in ("{private}", "../../private", "~", "\\\\host\\share"):
        yield f"a build in {path}", _says([(("hosts", 0, "build"), path)], "is no path inside")
    for workdir in ("/", "/etc", "/usr", "/usr/bin", "/var/lib", "/proc/1", "/tests", "relative", "/app/../etc", "/a b",
                    "/run/tiphys", "/opt/tiphys"):
        yield f"works in {workdir}", _says([(("hosts", 0, "workdir"), workdir)], "hosts.workdir")
    yield "network", _says([(("hosts", 0, "network"), True)], "network", "main")
    two = [{"name": "a"}, {"name": "b", "network": True}]
    yield "network of a second host", _says([(("hosts",), two)], "network", "b")
    data = ("hosts", 0, "data")
    for source in ("{private}", "/", "/etc", "/var/run", "{private}/.."):
        yield f"data {source}", _says([(data, [{"source": source, "target": "/data"}])], source)
    for source in ("..", "../private", "", "~", "a/../../x", "C:\\x"):
        yield f"data {source!r}", _says([(data, [{"source": source, "target": "/data"}])], "")
    for target in ("/etc", "/", "data", "/data/../etc", "/usr/bin", "/run/tiphys", "/opt/tiphys/ptyd", "/workspace/x"):
        yield f"data at {target}", _says([(data, [{"source": "workspace", "target": target}])], "hosts.data.target")
    twice = [{"source": "workspace", "target": "/data"}, {"source": "workspace", "target": "/data"}]
    yield "data twice at one place", _says([(data, twice)], "hosts.data.target")
    for name in ("pypi.org", "*.org", "10.0.0.1:22", "localhost"):
        yield f"reach {name}", _says([(("hosts", 0, "reach"), [name])], name)
    for name in ("*", "http://x", "a b", "-x\n", "x:y", "", "x/24"):
        yield f"reach {name!r}", _says([(("hosts", 0, "reach"), [name])], "hosts.reach")
    yield "reach and network", _says([(("hosts", 0, "reach"), ["x"]), (("hosts", 0, "network"), True)], "reach")
    yield "a plain machine", _says([(("hosts", 0, "machine"), "gpu1")], "gpu1")
    for name, value in (("gpus", 1), ("machine", "m"), ("reach", ["x"]), ("data", twice[:1])):
        way = [(("hosts", 0, name), value), (("agent", "sandbox"), "local")]
        yield f"{name} without a container", _says(way, name)
    for name in ("../../../../x", "a/b", "/abs", "..", ".", "", "x\0y", "a b", "x" * 200, "-v", "C:\\x"):
        yield f"host {name!r:.30}", _says([(("hosts", 0, "name"), name)], "hosts.name")
    yield "one host twice", _says([(("hosts",), [{"name": "a"}, {"name": "A"}])], "hosts.name")
    yield "no host", _says([(("hosts",), [])], "hosts")
    yield "many hosts", _says([(("hosts",), [{"name": f"h{n}"} for n in range(500)])], "hosts")
    for table in TABLES:
        for name in ("gpu_ids", "mounts", "volumes", "privileged", "env", "cap_add", "Sandbox", "user", "devices"):
            yield f"{name} in {table}", _says([((*table, name), 8)], name)
    for path in (("hosts", 0, "cpus"), ("hosts", 0, "memory_mb"), ("hosts", 0, "pids"), ("hosts", 0, "disk_mb"),
                 ("limits", "steps"), ("limits", "wall_s"), ("limits", "cost_usd"), ("evaluator", "timeout_s"),
                 ("agent", "context_tokens"), ("agent", "output_chars"), ("agent", "model", "input_price")):
        for number in (-1, 2**63, 1e300, float("nan"), float("inf"), True, "8"):
            yield f"{path} = {number}", _says([(path, number)], str(path[-1]))


WAYS: dict[str, Way] = {
    **{f"{field}: {form}": _path_way(field, form) for field in FIELDS for form in PATHS
       if "nested" not in form or field in ("workspace", "references")},
    **dict(_unconfined()), **dict(_variables()), **dict(_others()),
}


def mixtures(seed: int, count: int) -> Iterator[tuple[str, ...]]:
    """Several ways in one folder, from a seed."""
    chance = random.Random(seed)
    names = sorted(WAYS)
    for _ in range(count):
        yield tuple(chance.sample(names, chance.choice((2, 2, 3))))
