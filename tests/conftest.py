"""One thread a process: pytest-xdist already keeps the cores busy."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
