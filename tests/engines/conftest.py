"""What `make engines` runs: it needs packages of other engines in a folder of their own."""

import os

collect_ignore_glob = [] if os.environ.get("TIPHYS_ENGINES") else ["test_*.py"]
