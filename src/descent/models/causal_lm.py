"""A causal language model of the Llama family (METHOD 3.6), read out at every token of every layer."""

from collections.abc import Sequence
from pathlib import Path

import torch
from jaxtyping import Float, Int64
from safetensors import SafetensorError
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import embedding, linear
from transformers import AutoConfig, Cache, LlamaConfig, LlamaForCausalLM, PretrainedConfig
from transformers.utils import logging

from descent.cells import Cell
from descent.config import Params
from descent.errors import UserError
from descent.io.downloads import local
from descent.tasks.lm.data import Instructions
from descent.tasks.lm.schema import LanguageModelBudget, LlamaWeights, LoRA
from descent.training.noise import WEIGHTS, seeded

LLAMA = 5  # of the streams of initial weights
TABLE, HEAD, NORM = "model/embed_tokens/weight", "lm_head/weight", "model/norm"
WHERE = "profiles.<profile>.lm"

logging.set_verbosity_error()
logging.disable_progress_bar()


class CausalLM(nn.Module):
    """One cell: the library's model under our contract, trained parameters with a cells axis of length one.

    The library's module keeps its structure alone; the tensors live here and are lent to it at each call. What
    does not train is a buffer outside the state: of a model with adapters, checkpoints and the store hold the
    adapters.
    """

    def __init__(self, whole: LlamaForCausalLM) -> None:
        super().__init__()
        self.layers, self.width = whole.config.num_hidden_layers, whole.config.hidden_size
        tied = {HEAD} if whole.lm_head.weight is whole.model.embed_tokens.weight else set()
        self.head_name = TABLE if tied else HEAD
        for dotted, value in whole.named_parameters():  # names a tied weight once
            name = dotted.replace(".", "/")
            if value.requires_grad:
                self.register_parameter(name, nn.Parameter(value.detach()[None]))
            else:
                self.register_buffer(name, value.detach()[None], persistent=False)
        for dotted, value in whole.named_buffers():
            self.register_buffer(dotted.replace(".", "/"), value[None], persistent=False)
        norm = whole.model.norm
        whole.model.norm = nn.Identity()  # X_L is read out as every other state: normalised by the readout
        self._parts = (whole.model.to("meta"), norm.to("meta"))  # in a tuple: their parameters are not ours

    def train(self, mode: bool = True) -> "CausalLM":
        """Dropout on or off, in the library's module too."""
        self._parts[0].train(mode)
        return super().train(mode)

    @property
    def table(self) -> Float[Tensor, "1 vocabulary width"]:
        """The word embeddings."""
        return getattr(self, TABLE)

    @property
    def head(self) -> Float[Tensor, "vocabulary width"]:
        """The last linear layer, which all layers share; the word embeddings themselves where they are tied."""
        return getattr(self, self.head_name).squeeze(0)

    def embed(self, ids: Int64[Tensor, "batch tokens"]) -> Float[Tensor, "1 batch tokens width"]:
        """The clean word embeddings."""
        return embedding(ids, self.table.squeeze(0))[None]

    def states(self, noisy: Float[Tensor, "1 batch tokens width"]) -> list[Float[Tensor, "1 batch tokens width"]]:
        """X_0 ... X_L at every token, before the final norm; X_0 are the (noisy) word embeddings.

        No mask is needed: texts begin at the first token, and no token sees the padding behind it.
        """
        output = self._call(noisy, use_cache=False, output_hidden_states=True)
        return [state[None] for state in output.hidden_states]

    def go_on(
        self, noisy: Float[Tensor, "1 batch tokens width"], cache: Cache
    ) -> Float[Tensor, "1 batch tokens width"]:
        """X_L of further tokens of the texts that the cache has seen; the cache then has seen these too."""
        return self._call(noisy, use_cache=True, past_key_values=cache).last_hidden_state[None]

    def normalised(self, state: Float[Tensor, "*rest width"]) -> Float[Tensor, "*rest width"]:
        """The final norm, the first half of the readout of every layer."""
        weight = {"weight": getattr(self, f"{NORM}/weight").squeeze(0)}
        return functional_call(self._parts[1], weight, (state,))

    def readout(self, state: Float[Tensor, "*rest width"]) -> Float[Tensor, "*rest vocabulary"]:
        """Logits, lm_head(norm(x)): as many numbers a token as there are words, see `token_losses` for
        training."""
        return linear(self.normalised(state), self.head)

    def _call(self, noisy: Tensor, **asked: object) -> object:
        tensors = [*self.named_parameters(recurse=False), *self.named_buffers(recurse=False)]
        lent = {
            name.removeprefix("model/").replace("/", "."): value.squeeze(0)
            for name, value in tensors
            if name != HEAD and not name.startswith(NORM)
        }
        inputs = {"inputs_embeds": noisy.squeeze(0), "return_dict": True, **asked}
        return functional_call(self._parts[0], lent, kwargs=inputs)


def build(params: Params, data: Instructions, cells: Sequence[Cell]) -> CausalLM:
    """The model of one cell.

    Raises:
        UserError: the weights cannot be read, are of another architecture or depth, or know other tokens.
    """
    (cell,) = cells
    budget = params.budget.lm
    with seeded(WEIGHTS, cell.seed, LLAMA):  # random weights, and those of adapters
        if budget.weights.random is not None:
            whole = LlamaForCausalLM(random_configuration(budget, data))
        else:
            whole = _pretrained(budget, params.local_data, data)
        if budget.lora is not None:
            whole = adapted(whole, budget.lora)
    return CausalLM(whole.float())


def random_configuration(budget: LanguageModelBudget, data: Instructions) -> LlamaConfig:
    """The library's configuration of a model of the asked size for these tokens."""
    size = budget.weights.random
    return LlamaConfig(
        vocab_size=data.vocabulary,
        hidden_size=size.width,
        intermediate_size=size.feedforward,
        num_hidden_layers=budget.layers,
        num_attention_heads=size.heads,
        num_key_value_heads=size.key_value_heads,
        max_position_embeddings=data.max_tokens,
        bos_token_id=data.begin,
        eos_token_id=data.end,
        tie_word_embeddings=False,
        initializer_range=size.width
        ** -0.5,  # the library's 0.02 is of a width of thousands: attention would stay even
    )


def adapted(whole: LlamaForCausalLM, lora: LoRA) -> LlamaForCausalLM:
    """The model with low-rank adapters on all linear layers but the head; nothing else of it trains."""
    from peft import LoraConfig, inject_adapter_in_model  # slow to import, and only adapters need it

    wanted = LoraConfig(
        r=lora.rank,
        lora_alpha=lora.scale,
        lora_dropout=lora.dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    return inject_adapter_in_model(wanted, whole)


def _pretrained(budget: LanguageModelBudget, local_data: str, data: Instructions) -> LlamaForCausalLM:
    place, revision = _place(budget.weights, local_data)
    config = _configuration(place, revision)
    if config.model_type != "llama":
        raise UserError(
            f"{place} is a {config.model_type!r}, not a 'llama': name a model of the Llama architecture under "
            f"{WHERE}.weights in params.yaml"
        )
    if config.num_hidden_layers != budget.layers:
        raise UserError(
            f"{place} has {config.num_hidden_layers} layers, {WHERE}.layers says {budget.layers}: "
            f"make them agree in "
            "params.yaml"
        )
    _check_tokens(config, data, str(place))
    if data.max_tokens > config.max_position_embeddings:
        raise UserError(
            f"{place} reads at most {config.max_position_embeddings} tokens, {WHERE}.max_tokens is "
            f"{data.max_tokens}: lower it in params.yaml"
        )
    try:
        whole, told = LlamaForCausalLM.from_pretrained(
            place, revision=revision, config=config, dtype=torch.float32, output_loading_info=True
        )
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise UserError(_unreadable(place, error)) from None
    missing = sorted(
        set(told["missing_keys"]) - {"lm_head.weight"} if config.tie_word_embeddings else told["missing_keys"]
    )
    if missing:
        raise UserError(f"{place} has no weights for {missing[0]}: it is of another model")
    return whole


def _configuration(place: Path | str, revision: str | None) -> PretrainedConfig:
    try:
        return AutoConfig.from_pretrained(place, revision=revision)
    except (OSError, ValueError) as error:
        raise UserError(_unreadable(place, error)) from None


def _check_tokens(config: PretrainedConfig, data: Instructions, place: str) -> None:
    """The model must know every token, and end its texts with the same one."""
    ends = config.eos_token_id
    ends = [ends] if isinstance(ends, int) else ends
    if data.vocabulary > config.vocab_size or (ends and data.end not in ends):
        raise UserError(
            f"the tokenizer has {data.vocabulary} tokens and ends a text with {data.end}, {place} knows "
            f"{config.vocab_size} and ends with {ends}: name the model's own tokenizer under {WHERE}.tokenizer"
        )


def _place(source: LlamaWeights, local_data: str) -> tuple[Path | str, str | None]:
    """What the library loads from, a folder or a hub id, and the revision."""
    if source.hub is not None:
        return source.hub.id, source.hub.revision
    return local(local_data, source.path), None


def _unreadable(place: Path | str, error: Exception) -> str:
    reason = str(error).strip().splitlines()[0]
    if isinstance(place, Path):
        wanted = "config.json and model.safetensors, as the Hugging Face hub has them"
        return f"{place} cannot be loaded: it should be a folder with {wanted} ({reason})"
    return (
        f"the model {place!r} cannot be loaded from the Hugging Face hub ({reason}). Without a "
        f"network, or a licence "
        "accepted for a gated model, put its files (config.json, model.safetensors) into a folder "
        "under local_data "
        f"and name it with `path` in place of `hub` under {WHERE}.weights in params.yaml"
    )
