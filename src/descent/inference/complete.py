"""A prompt of the user's own, completed by a trained language model."""

import torch

from descent import paths
from descent.cells import Cell
from descent.config import Params
from descent.errors import UserError
from descent.models.causal_lm import CausalLM
from descent.tasks.lm import data
from descent.tasks.lm.completions import complete
from descent.tasks.lm.prompts import prompt


def completion(params: Params, cell: Cell, net: CausalLM, instruction: str) -> str:
    """What the model finds likeliest after an instruction, in the words around it of training, without noise.

    Raises:
        UserError: nothing is asked, or more than leaves room for a response.
    """
    if not instruction.strip():
        raise UserError('there is nothing to complete: make complete PROMPT="Name three colours."')
    learned = data.load(paths.prepared_folder(params, "lm", cell.dataset, cell.model))
    speaker = learned.speaker()
    (ids,) = speaker.encode([prompt(params.budget.lm.prompt, instruction)])
    ids = ids if learned.begin is None else [learned.begin, *ids]
    if len(ids) >= learned.max_tokens:
        raise UserError(
            f"the prompt has {len(ids)} tokens, and the model reads {learned.max_tokens} with its response: "
            "ask in fewer words"
        )
    device = next(net.parameters()).device
    silent = torch.zeros(1, learned.max_tokens, net.width, device=device)
    most = params.lm.completions.max_tokens
    (answer,) = complete(net, [ids], silent, learned.end, most, learned.max_tokens)
    return speaker.decode(answer).strip()
