"""Which version of the program this is."""

import re
from functools import cache

_NUMBERS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){1,5}")


def named(program: str) -> str:
    """A program with the version that it is of, as both ends of a connection introduce themselves."""
    return f"{program} {version()}".strip()


def numbers(program: str) -> tuple[int, ...]:
    """The version at the end of such a name, to be compared; () where there is none."""
    text = program.rpartition(" ")[2]
    return tuple(map(int, text.split("."))) if _NUMBERS.fullmatch(text) else ()


@cache
def version() -> str:
    """The version of the installed program; "" where it runs from a folder that nobody installed."""
    from importlib import metadata  # 20 ms of every start, for what is asked when a server is met

    try:
        return metadata.version("tiphys")
    except metadata.PackageNotFoundError:
        return ""
