"""The line that a training stage begins with on real data, where it may take hours."""

import subprocess
import sys
from contextlib import suppress

from descent.config import Params

PATIENCE = 60  # seconds, after which a stage begins without


def announce(params: Params, *words: str) -> None:
    """Have `stages.ahead` say what is left to train of these words, if data are real and this host trains them.

    Its failure ends no stage.

    It is a process of its own, so that what it has to know (how cells are tested, what stands in for data) is
    nothing that training depends on, and so that torch has not run where workers are forked.
    """
    real = not all("generate" in source for source in params.budget.data.values())
    if words and real and params.executor == "local":
        with suppress(OSError, subprocess.SubprocessError):
            command = [sys.executable, "-m", "stages.ahead", *words]
            # A session of its own: Ctrl-C is for the stage, which ends it.
            subprocess.run(
                command, stderr=subprocess.DEVNULL, timeout=PATIENCE, start_new_session=True, check=False
            )
