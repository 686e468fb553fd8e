"""Prints the man page of the command line, from the commands themselves: man_page.py VERSION."""

from __future__ import annotations

import re
import sys

import click

from core.cli.root import COMMANDS, root


def page(version: str) -> str:
    """The page in man's own language."""
    context = click.Context(root, info_name="tiphys")
    lines = [f'.TH TIPHYS 1 "" "tiphys {version}" "User Commands"', ".SH NAME",
             r"tiphys \- watch, steer and review long-running language-model agents", ".SH SYNOPSIS",
             r".B tiphys", r"[OPTIONS] [COMMAND [ARGUMENTS]]", ".SH DESCRIPTION", _text(root.help or ""),
             ".SH OPTIONS", *_options(root, context), ".SH COMMANDS"]
    for name in COMMANDS:
        command = root.get_command(context, name)
        if command is not None:
            lines += _command(name, command, context)
    lines += [".SH ENVIRONMENT", ".TP", ".B TIPHYS_HOME", "Where all state lives.", ".SH FILES", ".TP",
              r".I ~/.local/share/tiphys", "Sessions, settings and logs, unless TIPHYS_HOME says otherwise.",
              ".SH EXIT STATUS", "0: done. 1: an expected failure. 2: bad input. The sentence on standard error ends "
              "with a stable code in brackets."]
    return "\n".join(lines) + "\n"


def _command(name: str, command: click.Command, above: click.Context) -> list[str]:
    context = click.Context(command, info_name=name, parent=above)
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f'.SS "tiphys {name} {_text(usage)}"', _text(command.help or "")]
    lines += _options(command, context)
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            if (found := command.get_command(context, inner)) is not None:
                lines += _command(f"{name} {inner}", found, above)
    return lines


def _options(command: click.Command, context: click.Context) -> list[str]:
    records = [record for parameter in command.get_params(context)
               if (record := parameter.get_help_record(context)) is not None]
    return [line for names, about in records for line in (".TP", rf"\fB{_text(names)}\fR", _text(about))]


def _text(text: str) -> str:
    paragraphs = [re.sub(r"\s+", " ", part).strip() for part in text.replace("\b", "").split("\n\n")]
    escaped = [part.replace("\\", r"\e").replace("-", r"\-").replace('"', r"\(dq") for part in paragraphs]
    return "\n.PP\n".join(rf"\&{part}" if part.startswith((".", "'")) else part for part in escaped)


if __name__ == "__main__":
    sys.stdout.write(page(sys.argv[1]))
