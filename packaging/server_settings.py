"""Writes what is made of the declared settings of the server: the settings file of the package and the pages of the
documentation, in Chinese by packaging/settings.zh.txt. `--check` says whether all are up to date."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from core.server.settings_file import SERVER_SETTINGS, ServerSetting, markdown, row, template  # noqa: E402

HEAD = """# Settings of the server

The server reads `/etc/tiphys/server.toml`, or the file that `tiphys serve --settings FILE` names: TOML, one
`name = value` a line. A name that is not in this table is refused (`unknown_setting`), as is a value of another type
(`bad_setting`): a setting that is misspelt never goes unnoticed. An option of the command line wins over the file.
`tiphys serve --print-settings` prints a file with every setting explained. A private server (`--private`, what the
desktop starts) reads no file unless it is named.

When sessions leave the server by themselves stands in the data folder, in `retention.toml`, which is read anew each
time and which private servers have too ([guide](guide.md#when-a-session-has-done-its-work)).

"""


HEAD_ZH = """# 服务器的设置

服务器读取 `/etc/tiphys/server.toml`，或 `tiphys serve --settings FILE` 所指的文件：TOML，每行一个 `name = value`。
不在此表中的名称会被拒绝（`unknown_setting`），类型不符的值也会被拒绝（`bad_setting`）：写错的设置绝不会无声无息地被忽略。
命令行选项优先于文件。`tiphys serve --print-settings` 打印一个带有全部设置及说明的文件（英文）。
私有服务器（`--private`，由桌面程序启动）不读任何文件，除非指明。

会话何时自行离开服务器，写在数据文件夹的 `retention.toml` 中；它每次都会重新读取，私有服务器也有
（[指南](guide.zh.md#会话完成之后)）。

"""
COLUMNS_ZH = ["| 设置 | 默认值 | 含义 | 例如 | `tiphys serve` 的选项 |", "|---|---|---|---|---|"]


def pages() -> dict[Path, str]:
    """What each file should hold."""
    return {ROOT / "docs/server-settings.md": HEAD + markdown(), ROOT / "packaging/server/server.toml": template(),
            ROOT / "docs/server-settings.zh.md": HEAD_ZH + in_chinese()}


def in_chinese() -> str:
    """The table in Chinese. Raises SystemExit where a setting has no Chinese words, or words have no setting."""
    lines = (ROOT / "packaging/settings.zh.txt").read_text(encoding="utf-8").splitlines()
    words = {key: text for key, _, text in (line.partition(": ") for line in lines if line)}
    if odd := sorted(words.keys() ^ {one.key for one in SERVER_SETTINGS}):
        raise SystemExit(f"packaging/settings.zh.txt does not fit the declared settings: {', '.join(odd)}")
    rows = (row(one, f"{words[one.key]}（{kind_in_chinese(one)}）") for one in SERVER_SETTINGS)
    return "\n".join([*COLUMNS_ZH, *rows]) + "\n"


def kind_in_chinese(one: ServerSetting) -> str:
    """What a value must be, in Chinese words."""
    if one.choices:
        return "、".join(f"`{choice}`" for choice in one.choices) + " 之一"
    words = {str: "文本", bool: "true 或 false", int: "整数", float: "数", tuple: "文本列表"}
    bounds = f"，{one.low:g} 到 {one.high:g}" if one.high != one.low else ""
    return words[type(one.default)] + bounds


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
