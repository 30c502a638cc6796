"""One thin entry per kind of stage: parse the identity, load params.yaml, call the library, save."""

import os
import sys

# The code of the working folder, never an installed copy: `dvc exp run --temp` runs in a folder of its own.
sys.path.insert(0, "src")
# Read when torch loads: threads that wait for each other sleep. Spinning, they take the core from whoever they
# wait for as soon as anything else runs on the machine, and a step takes forty times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
