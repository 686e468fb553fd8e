"""The one executable: the command line, or the part of the program that `--part` names."""

import sys

from core.program import run_frozen

run_frozen(sys.argv)
