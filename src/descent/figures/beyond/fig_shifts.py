"""Not in the paper: by how much each arm is better than the baseline under shifts that training has not seen."""

from functools import partial

from descent.figures.parts import curves, remarks, shift_map

TITLE = "Robustness to shifts that training has not seen"
CAPTION = """
Ours, not the paper's. 100 ln(RMSE of the baseline / RMSE of the arm), so about the percent by which the arm's
error is smaller (blue) or larger (red), on held-out test clips under each shift in use that is not the noise of
training; cells of the headline training level; the protocol's means, trimmed over data sets and depths, then over
seeds. In italics where Student's 95 % interval over seeds holds zero, each level by itself (one seed has none);
what other test items would change is not in it. Columns: the shift's levels in the order written under its name.
Where these are called gamma, the strength is the one at which the input as it is errs as under Gaussian noise of
that level. Last row: the mean over the levels, then over the shifts that tell (named below: those that do not, as
they cost a model nothing or leave it nothing), with its 95 % interval over seeds and test items where there are
several seeds. Empty: the shift has fewer levels, or does not fit the model's inputs. Colours are full from 1.5
times the gain below which nine of ten lie. Models of patches see them as sequences: of each, at its place, frames
are dropped or repeated by themselves.
"""
PARAMETERS = shift_map.parameters("video")
render = partial(shift_map.render, task="video")
left_out = partial(shift_map.left_out, task="video")
remarks_on = remarks.of_video
lacking = partial(curves.all_lost, task="video")
