"""The page of published runs laid beside each other, of which the README tells what follows."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from descent.config import Params
from descent.published import bounded_steps, every_run, judged_alone, otherwise, paper_size, priced, readings

PAGE = "RUNS.md"
HEAD = """# Runs beside each other

Written by `make evidence` from the tables in the folders beside this file; none of it is a verdict. A *gain* is
what constrained training has over plain training (*ERM*), or where it says so one model over another: of errors
the mean log-ratio in %, with its 95 % interval over seeds; negative numbers are losses, and a negative gain in
distribution is a price. But for the claims' own means, pairs of which a cell is lost are left out, and where too
few are left there is no number. What the words mean: [docs/words.md](../../docs/words.md); why each was run:
[PROTOCOL.md](PROTOCOL.md); what to doubt: [NOTES.md](NOTES.md)."""
EVERY = """What each published run trained, with the depths; a run that was announced to join no claim is judged
alone."""
OTHERWISE = """What the verdicts rest on, trained once more with another solver in the constrained arm and
all else alike, seeds too. *Counts*: what the verdict is made of. *Difference*: by seed. *Constraints hold*: on
validation data, of what counts / of what is solved otherwise."""
PRICE = """The last layer's loss of constrained video models over that of plain training, on validation data
with the noise of training, beside what a closed form says where all layers are one map that comes to rest at
the best estimate (from alpha, the cap, depth and plain training's loss; nothing is fitted): a model on a data
set in every published run, depth and study of alpha, margin and cap (each by itself: [price.csv](price.csv),
[as a picture](fig_price.png)). *Near it*: ln of the one within .02 + a tenth of ln of the other. Means are of
logarithms."""
ALONE = """Runs that were announced to join no claim, by the rules of one all the same: the number that it would be
judged by, and a verdict where every precondition is met. Lost cells, of both arms, count as if they had learned
nothing."""
SIZE = (
    """Frames of 160 x 160 pixels in patches of 16 x 16 and dictionaries of 1,024 atoms, as the paper has them."""
)
BOUNDED = """*Steps within bounds* follow each layer's dictionary (`step: current`), so that they stay steps of
descent whatever training makes of it. First what they gain over steps that training may lengthen, of one arm and
seed, in models that are alike but for steps, thresholds, rates and caps $R_0$ (of constrained UT the cap is half
of the gain, [notes](NOTES.md#the-cap-apart-from-the-length-of-steps-small-a8902bc2-small-44af8cba)); then what
constraints gain on top."""
READINGS = """Models of the claims on video with one thing read otherwise at a time, in both arms: constrained
against plain training of the same reading. *Over its first reading*: what an arm gains over itself as the study's
first reading has it, by seed."""


def page(folders: Sequence[Path], apart: Sequence[Path], said: Mapping[str, str], params: Params) -> str:
    """The whole page, without the chapters that nothing published speaks of.

    Args:
        folders: the published parts that are judged together.
        apart: those that are judged alone.
        said: tables of chapters that others have worked out (otherwise.tables, priced.table), by their titles.
    """
    both = [*folders, *apart]
    chapters = {
        "Every run": (EVERY, every_run.tables(folders, apart)),
        otherwise.TITLE: (OTHERWISE, said[otherwise.TITLE]),
        priced.TITLE: (PRICE, said[priced.TITLE]),
        "Runs judged alone": (ALONE, judged_alone.table(apart, params)),
        "Models of the paper's size": (SIZE, paper_size.table(both, params)),
        "Steps within bounds": (BOUNDED, bounded_steps.tables(both, params)),
        "Other readings of the paper": (READINGS, readings.table(both, params)),
    }
    told = [f"## {title}\n\n{head}\n\n{table}" for title, (head, table) in chapters.items() if table]
    return "\n\n".join([HEAD, *told]) + "\n"
