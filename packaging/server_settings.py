"""Writes what is made of the declared settings of the server: the settings file of the package and the page of the
documentation. `--check` says whether both are up to date."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from core.server.settings_file import markdown, template  # noqa: E402

HEAD = """# Settings of the server

The server reads `/etc/tiphys/server.toml`, or the file that `tiphys serve --settings FILE` names: TOML, one
`name = value` a line. A name that is not in this table is refused (`unknown_setting`), as is a value of another type
(`bad_setting`): a setting that is misspelt never goes unnoticed. An option of the command line wins over the file.
`tiphys serve --print-settings` prints a file with every setting explained. A private server (`--private`, what the
desktop starts) reads no file unless it is named.

When sessions leave the server by themselves stands in the data folder, in `retention.toml`, which is read anew each
time and which private servers have too ([guide](guide.md#when-a-session-has-done-its-work)).

"""


def pages() -> dict[Path, str]:
    """What each file should hold."""
    return {ROOT / "docs/server-settings.md": HEAD + markdown(), ROOT / "packaging/server/server.toml": template()}


def main() -> int:
    """Write the files, or say which are stale."""
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" not in sys.argv:
        for path in stale:
            path.write_text(pages()[path], encoding="utf-8")
        return 0
    for path in stale:
        sys.stderr.write(f"{path.relative_to(ROOT)} is stale: run packaging/server_settings.py\n")
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
