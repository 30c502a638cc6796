"""Not in the paper: the language model against the baseline under shifts that training has not seen."""

from functools import partial

from descent.figures.parts import curves, shift_map

TASKS = ("lm",)
TITLE = "Robustness of the language model to shifts that training has not seen"
CAPTION = """
Ours, not the paper's. By how many points each arm predicts more (blue) or fewer (red) of the response tokens of
test texts than the baseline under each shift in use that is not the noise of training; cells of the headline
training level; the protocol's means, trimmed over data sets and depths, then over seeds. In italics where
Student's 95 % interval over seeds holds zero, each level by itself (one seed has none); what other test items
would change is not in it. Columns: the shift's levels in the order written under its name: the strength is the
one at which word embeddings err as under Gaussian noise of that level. Last row: the mean over the levels, then
over the shifts that tell (named below: those that do not, as they cost a model nothing or leave it nothing), with
its 95 % interval over seeds and test items where there are several seeds.
"""
PARAMETERS = shift_map.parameters("lm")
render = partial(shift_map.render, task="lm")
left_out = partial(shift_map.left_out, task="lm")
lacking = partial(curves.all_lost, task="lm")
