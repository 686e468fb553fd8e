"""Numbers with their nouns, in English sentences of the command line."""


def counted(count: int, noun: str, of_several: str = "") -> str:
    """As "1 row", "2,000 rows"; `of_several` is the plural that no s makes."""
    return f"{count:,} {noun if count == 1 else of_several or noun + 's'}"
