"""`python -m app` starts the desktop."""

import sys

from app.window.entry import main

if __name__ == "__main__":
    sys.exit(main())
