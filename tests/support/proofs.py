"""How often a test tries what it draws by chance: some of it with every change, all of it by `make proofs`."""

import os

from support.tally import VARIABLE

WHOLE = bool(os.environ.get("TIPHYS_PROOFS") or os.environ.get(VARIABLE))
"""Whether all of it is asked for; what is counted for the documentation (`make foreign`) is tried whole too."""


def tries(number: int, share: int = 4) -> int:
    """`number`, or one of `share` parts of it."""
    return number if WHOLE else number // share
