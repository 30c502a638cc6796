"""A causal language model of the Llama family (section 5.3), read out at every token of every layer."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int64
from pydantic import model_validator
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import embedding, linear
from transformers import AttentionInterface, Cache, LlamaConfig, LlamaForCausalLM, PretrainedConfig
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from descent.errors import UserError
from descent.models.parts.inputs import LMInputs, Pretrained
from descent.models.parts.pretrained import PretrainedBackbone, checked, load
from descent.schema import Count, Positive, Schema, Share, TextBudget
from descent.training.noise import WEIGHTS, seeded

LABEL = "Causal LM"
TASK = "lm"
LLAMA = 5  # of the streams of initial weights
TABLE = "embed_tokens/weight"
# The library's own attention by another name: where it knows no mask of a name it makes none, and does not ask the
# device in every forward whether texts are packed.
MASKLESS = "causal_without_mask"
AttentionInterface.register(MASKLESS, sdpa_attention_forward)


class Settings(Schema):
    """Which of the tokenizers is the model's."""

    tokenizer: str


class Size(Schema):
    """A Llama with random weights."""

    width: Count
    heads: Count
    key_value_heads: Count
    feedforward: Count

    @model_validator(mode="after")
    def _whole_heads(self) -> "Size":
        if self.width % (2 * self.heads) or self.heads % self.key_value_heads:
            raise ValueError(
                f"width {self.width} must be an even multiple of heads {self.heads} (rotary positions turn pairs "
                f"of numbers), and heads one of key_value_heads {self.key_value_heads}"
            )
        return self


class Weights(Pretrained):
    """Where the model comes from: exactly one of random, path (a local folder), hub."""

    random: Size | None = None


class LoRA(Schema):
    """Low-rank adapters on all linear layers but the readout."""

    rank: Count
    scale: Positive
    dropout: Share


class Budget(TextBudget):
    """Beside what every model has, the weights; a pretrained model must have as many layers."""

    weights: Weights
    lora: LoRA | None  # null: every weight trains


class CausalLM(PretrainedBackbone):
    """One cell: the library's model, its final norm and head apart, as every layer is read out through them."""

    def __init__(self, whole: LlamaForCausalLM) -> None:
        tied = whole.lm_head.weight is whole.model.embed_tokens.weight
        norm = whole.model.norm
        head = whole.lm_head
        whole.model.norm = nn.Identity()  # X_L is read out as every other state: normalised by the readout
        whole.set_attn_implementation(MASKLESS)
        super().__init__(whole.model)
        self.layers, self.width = whole.config.num_hidden_layers, whole.config.hidden_size
        self.head_name = TABLE if tied else "lm_head"
        self.keep("norm", norm.weight)
        if not tied:
            self.keep("lm_head", head.weight)
        self._norm = (norm.to("meta"),)

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
        hidden = self.hidden_states(inputs_embeds=noisy.squeeze(0), use_cache=False)
        return [state[None] for state in hidden]

    def go_on(
        self, noisy: Float[Tensor, "1 batch tokens width"], cache: Cache
    ) -> Float[Tensor, "1 batch tokens width"]:
        """X_L of further tokens of the texts that the cache has seen; the cache then has seen these too.

        Several tokens go to an empty cache alone: without a mask they would not see what it holds.

        Raises:
            ValueError: they do not.
        """
        if noisy.shape[2] > 1 and cache.get_seq_length():
            raise ValueError(f"{noisy.shape[2]} tokens behind {cache.get_seq_length()}: give them one by one")
        found = self.call(inputs_embeds=noisy.squeeze(0), use_cache=True, past_key_values=cache)
        return found.last_hidden_state[None]

    def normalised(self, state: Float[Tensor, "*rest width"]) -> Float[Tensor, "*rest width"]:
        """The final norm, the first half of the readout of every layer."""
        return functional_call(self._norm[0], {"weight": self.norm.squeeze(0)}, (state,))

    def readout(self, state: Float[Tensor, "*rest width"]) -> Float[Tensor, "*rest vocabulary"]:
        """Logits, lm_head(norm(x)): as many numbers a token as there are words, see `losses` for training."""
        return linear(self.normalised(state), self.head)


def build(settings: Settings, budget: Budget, inputs: LMInputs, layers: int, seeds: Sequence[int]) -> CausalLM:
    """The model of one cell.

    Raises:
        UserError: the weights cannot be read, are of another architecture or depth, or know other tokens.
    """
    (seed,) = seeds
    with seeded(WEIGHTS, seed, LLAMA):  # random weights, and those of adapters
        if budget.weights.random is not None:
            whole = LlamaForCausalLM(_random(budget, inputs, layers))
        else:
            config = _checked(budget, inputs, layers)
            whole = load(LlamaForCausalLM, budget.weights, inputs.local_data, config, dtype=torch.float32)
        if budget.lora is not None:
            whole = adapted(whole, budget.lora)
    return CausalLM(whole.float())


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


def _random(budget: Budget, inputs: LMInputs, layers: int) -> LlamaConfig:
    size = budget.weights.random
    return LlamaConfig(
        vocab_size=inputs.vocabulary,
        hidden_size=size.width,
        intermediate_size=size.feedforward,
        num_hidden_layers=layers,
        num_attention_heads=size.heads,
        num_key_value_heads=size.key_value_heads,
        max_position_embeddings=inputs.max_tokens,
        bos_token_id=inputs.begin,
        eos_token_id=inputs.end,
        tie_word_embeddings=False,
        # The library's 0.02 is of a width of thousands: attention would stay even.
        initializer_range=size.width**-0.5,
    )


def _checked(budget: Budget, inputs: LMInputs, layers: int) -> PretrainedConfig:
    """The configuration of pretrained weights that know every token and end their texts with the same one."""
    config, where = checked(budget.weights, inputs.local_data, "llama", layers, "causal_lm")
    ends = config.eos_token_id
    ends = [ends] if isinstance(ends, int) else ends
    if inputs.vocabulary > config.vocab_size or (ends and inputs.end not in ends):
        raise UserError(
            f"the tokenizer has {inputs.vocabulary} tokens and ends a text with {inputs.end}, {where} knows "
            f"{config.vocab_size} and ends with {ends}: name the model's own tokenizer under the profile's "
            "lm.tokenizers"
        )
    if inputs.max_tokens > config.max_position_embeddings:
        raise UserError(
            f"{where} reads at most {config.max_position_embeddings} tokens, the profile's lm.max_tokens is "
            f"{inputs.max_tokens}: lower it in params.yaml"
        )
    return config
