"""make bench: what bf16 saves of a training step where a CPU computes; a GPU's precisions are in rate's rows.

A CPU with units of its own for it (AMX) multiplies several times as fast; another one rather loses.
"""

from descent import config
from tests.bench.rate import SIZE
from tests.bench.steps import PAIR, SIZES, arm, dust, stepper
from tests.bench.table import record
from tests.bench.timing import device, in_precision, ratio

WAYS = (False, "kernels")  # of training.compile


def main() -> None:
    """Print and record the ratios."""
    if device().type != "cpu":
        return
    values = config.load()
    both = [in_precision(values, "float32"), in_precision(values, "bf16")]
    print("One constrained step of DUST, in float32 / in bf16")
    for size in (*SIZES, SIZE):
        for how in WAYS:
            pair = [
                stepper(dust(size, 1, shared=False), arm(own, PAIR[0], size), size, own, 1, how) for own in both
            ]
            one, two, share = ratio(*pair)
            told = f"DUST, {size}{f', {how}' if how else ''}"
            print(f"  {told:<60}{1e3 * one:8.2f} ms / {1e3 * two:8.2f} ms = {share:.2f}", flush=True)
            record("step in float32 / in bf16", told, share, "", device(), "float32")


if __name__ == "__main__":
    main()
