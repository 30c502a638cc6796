"""SOAP: Adam in the eigenbasis of each matrix's gradients (Vyas et al. 2024, arXiv 2409.11321, algorithm 3)."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from descent.errors import UserError

EVERY = 10  # steps between two turns of the bases, the paper's own
MATRICES = 4  # axes of a stack of matrices
LARGEST = 1024  # numbers in a side; a longer one keeps its own basis


def made(
    parameters: Iterable[nn.Parameter], lr: float, betas: tuple[float, float], weight_decay: float
) -> torch.optim.Optimizer:
    """SOAP for a stack.

    Raises:
        UserError: a model of which most weights are in no matrix of a cell and layer, for which it would be Adam,
            or a weight decay.
    """
    parameters = [*parameters]
    turned = sum(one.numel() for one in parameters if one.dim() == MATRICES)
    if 2 * turned < sum(one.numel() for one in parameters):
        raise UserError("optimizer: soap is for models of a matrix a layer, as UT and DUST; set adam")
    if weight_decay:
        raise UserError("optimizer: soap has no weight_decay: set 0, or take adamw")
    return SOAP(parameters, lr, betas)


class SOAP(torch.optim.Optimizer):
    """Steps for a stack: a parameter of four axes, cells, layers, rows and columns, is a matrix a cell and layer.

    With G the gradient, and L and R the running means of G G^T and G^T G, whose eigenvectors are Q_L and Q_R:

    M <- beta_1 M + (1 - beta_1) G
    V <- beta_2 V + (1 - beta_2) (Q_L^T G Q_R)^2
    W <- W - lr Q_L [Q_L^T M Q_R / (sqrt(V) + eps)] Q_R^T

    M and V are corrected for their start at zero, as Adam's. The eigenvectors start as the identity, so that the
    first steps are Adam's (the authors' start as those of the first gradient, with which no step is made), and
    follow by one step of orthogonal iteration, Q <- qr(L Q), in EVERY. All other parameters, such as biases, keep
    their own basis: their steps are Adam's.

    Written here, since libraries take a tensor for one matrix: they would turn all cells and layers of a stack by
    one basis, and no cell may meet another.

    Args:
        parameters: with a leading cells axis.
        lr: the learning rate.
        betas: beta_1 and beta_2; the second is that of L and R too.
    """

    period = EVERY  # steps after which it does the same again: a GPU cannot replay one of them for all

    def __init__(
        self, parameters: Iterable[nn.Parameter], lr: float, betas: tuple[float, float], eps: float = 1e-8
    ) -> None:
        super().__init__(parameters, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self) -> None:
        """One step of every parameter that has a gradient."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    direction = _direction(parameter.grad, self.state[parameter], group["betas"], group["eps"])
                    parameter.sub_(group["lr"] * direction)


def _direction(gradient: Tensor, state: dict, betas: tuple[float, float], eps: float) -> Tensor:
    """What a step goes along, of the gradient's shape; `state` is brought forward by it."""
    if not state:
        # exp_avg is Adam's name for it: the loop stops a lost cell by it.
        state.update(step=0, exp_avg=torch.zeros_like(gradient), square=torch.zeros_like(gradient))
        for side, axis in (("left", -2), ("right", -1)):
            if gradient.dim() == MATRICES and (size := gradient.shape[axis]) <= LARGEST:
                basis = torch.eye(size).to(gradient).expand(*gradient.shape[:2], size, size).clone()
                state.update({side: basis, f"{side}_mean": torch.zeros_like(basis)})
    first, second = betas
    state["step"] += 1
    state["exp_avg"].lerp_(gradient, 1 - first)
    state["square"].lerp_(_turned(gradient, state).square(), 1 - second)
    mean = _turned(state["exp_avg"], state) / (1 - first ** state["step"])
    scale = (state["square"] / (1 - second ** state["step"])).sqrt() + eps
    direction = _turned(mean / scale, state, back=True)
    for side in ("left", "right"):
        if side in state:
            matrix = gradient if side == "left" else gradient.mT
            average = state[f"{side}_mean"].lerp_(matrix @ matrix.mT, 1 - second)
            if state["step"] % EVERY == 0:
                state[side] = torch.linalg.qr(average @ state[side])[0]
    return direction


def _turned(matrix: Tensor, state: dict, back: bool = False) -> Tensor:
    """Q_L^T matrix Q_R, or back: Q_L matrix Q_R^T."""
    if "left" in state:
        matrix = (state["left"] if back else state["left"].mT) @ matrix
    if "right" in state:
        matrix = matrix @ (state["right"].mT if back else state["right"])
    return matrix
