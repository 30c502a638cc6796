"""Not in the paper: accuracy on texts against the baseline's under shifts that training has not seen."""

from functools import partial

from descent.figures.parts import curves, shift_map

TASKS = ("text",)
TITLE = "Robustness of text classifiers to shifts that training has not seen"
CAPTION = """
Ours, not the paper's. By how many points the accuracy of each arm is higher (blue) or lower (red) than the
baseline's on test texts under each shift in use that is not the noise of training; cells of the headline training
level; the protocol's means, trimmed over data sets and depths, then over seeds. In italics where Student's 95 %
interval over seeds holds zero, each level by itself (one seed has none); what other test items would change is
not in it. Columns: the shift's levels in the order written under its name. Where these are called gamma,
embeddings are shifted, by the strength at which they err as under Gaussian noise of that level; else they are
shares of a text's words. Last row: the mean over the levels, then over the shifts that tell (named below: those
that do not, as they cost a model nothing or leave it nothing), with its 95 % interval over seeds and test items
where there are several seeds. A model that knows no order of words is not moved by swapping them.
"""
PARAMETERS = shift_map.parameters("text")
render = partial(shift_map.render, task="text")
left_out = partial(shift_map.left_out, task="text")
lacking = partial(curves.all_lost, task="text")
