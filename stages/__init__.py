"""One thin entry per kind of stage: parse the identity, load params.yaml, call the library, save."""

import sys

# The code of the working folder, never an installed copy: `dvc exp run --temp` runs in a folder of its own.
sys.path.insert(0, "src")
