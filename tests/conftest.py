"""One thread a process: pytest-xdist already keeps the cores busy. No test asks a hub."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["HF_HUB_OFFLINE"] = "1"  # else the libraries try for a minute
