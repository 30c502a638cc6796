"""The line that a training stage begins with on real data, where it may take hours."""

import os
import subprocess
import sys
import tempfile
from contextlib import suppress

from descent.config import Params
from descent.errors import UserError

PATIENCE = 60  # seconds, after which a stage begins without
UNTESTABLE = 3  # the exit code that ends the stage


def announce(params: Params, *words: str) -> None:
    """Have `stages.ahead` say what is left to train of these words, if data are real.

    Its failure ends no stage, nor does one that is not ready in time; what evaluation would end with, after all
    has been trained, ends it at once.

    It is a process of its own, so that what it has to know (how cells are tested, what stands in for data) is
    nothing that training depends on, and so that torch has not run where workers are forked.

    Raises:
        UserError: cells that could not be tested on these data, e.g. since no strength of a shift has the energy
            that is asked for.
    """
    real = not all("generate" in source for source in params.budget.data.values())
    if words and real:
        # In a folder of its own, since where it is not ready in time it cannot remove what stands in for data.
        with suppress(OSError, subprocess.SubprocessError), tempfile.TemporaryDirectory() as place:
            command, own = [sys.executable, "-m", "stages.ahead", *words], os.environ | {"TMPDIR": place}
            # A session of its own: Ctrl-C is for the stage, which ends it.
            how = {"stderr": subprocess.PIPE, "timeout": PATIENCE, "start_new_session": True, "env": own}
            found = subprocess.run(command, check=False, **how)
            if found.returncode == UNTESTABLE:
                told = found.stderr.decode(errors="replace").strip()
                raise UserError(f"nothing was trained, since it could not be tested: {told}")
