"""`python -m core.cli` is `tiphys`."""

import sys

from core.cli import main

sys.exit(main())
