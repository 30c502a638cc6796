"""Modules of the transformers library as our models: where their weights come from, and one as a single cell."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import Tensor, nn
from torch.func import functional_call
from transformers import AutoConfig, PretrainedConfig, PreTrainedModel
from transformers.utils import logging

from descent.errors import UserError
from descent.io.failures import reason
from descent.io.places import local
from descent.models.parts.inputs import Pretrained

BODY = 4  # of the streams of initial weights

logging.set_verbosity_error()  # it warns of the pretraining heads that are left behind
logging.disable_progress_bar()


class PretrainedBackbone(nn.Module):
    """One cell: a library's module under our contract, trained parameters with a cells axis of length one.

    The library's module keeps its structure alone; its tensors live here and are lent to it at each call. What
    does not train is a buffer outside the state: of a model with adapters, checkpoints and the store hold the
    adapters.
    """

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        for name, value in body.named_parameters():
            self.keep(name, value)
        for name, value in body.named_buffers():
            self.register_buffer(name.replace(".", "/"), value[None], persistent=False)
        self._lent = [*self._parameters, *self._buffers]  # what a subclass keeps beside it is its own
        self._body = (body.to("meta"),)  # in a tuple, so that its empty parameters are not counted as ours

    def keep(self, name: str, value: Tensor) -> None:
        """Hold a tensor of the library's: a parameter where it trains, else a buffer."""
        own = value.detach()[None]
        if value.requires_grad:
            self.register_parameter(name.replace(".", "/"), nn.Parameter(own))
        else:
            self.register_buffer(name.replace(".", "/"), own, persistent=False)

    def train(self, mode: bool = True) -> "PretrainedBackbone":
        """Dropout on or off, in the library's module too."""
        self._body[0].train(mode)
        return super().train(mode)

    def call(self, **inputs: Any) -> Any:
        """The library's own answer to these inputs, without a cells axis."""
        lent = {name.replace("/", "."): getattr(self, name).squeeze(0) for name in self._lent}
        return functional_call(self._body[0], lent, kwargs=inputs | {"return_dict": True})

    def hidden_states(self, **inputs: Any) -> tuple[Any, ...]:
        """X_0 ... X_L as the library gives them: what enters the first layer comes first."""
        return self.call(**inputs, output_hidden_states=True).hidden_states


def place(source: Pretrained, local_data: str) -> tuple[Path | str, str | None]:
    """What the library loads from, a folder or a hub id, and the revision.

    Raises:
        UserError: there is no such folder; the library would ask the hub for a model of that name.
    """
    if source.hub is not None:
        return source.hub.id, source.hub.revision
    found = local(local_data, source.path)
    if not found.is_dir():
        raise UserError(
            f"there is no folder {found}: put config.json and model.safetensors there, or say where your copies "
            "are: `dvc exp run -S local_data=<folder>`"
        )
    return found, None


def _safely(where: Path | str) -> dict[str, bool]:
    """What is said to the library wherever it loads: it runs no code of a model's folder, and of a folder of one's
    own nothing is asked of the hub."""
    return {"trust_remote_code": False, "local_files_only": isinstance(where, Path)}


def configuration(source: Pretrained, local_data: str) -> PretrainedConfig:
    """The configuration of a pretrained model.

    Raises:
        UserError: it cannot be read.
    """
    where, revision = place(source, local_data)
    with _readable(where):
        return AutoConfig.from_pretrained(where, revision=revision, **_safely(where))


def checked(
    source: Pretrained, local_data: str, kind: str, layers: int, model: str
) -> tuple[PretrainedConfig, Path | str]:
    """The configuration of a pretrained model, and where it stands.

    Args:
        kind: its architecture, as the library names it.

    Raises:
        UserError: it cannot be read, or is of another architecture or depth than those of the profile's budget of
            `model`.
    """
    config, (where, _) = configuration(source, local_data), place(source, local_data)
    if config.model_type != kind:
        raise UserError(
            f"{where} is a {config.model_type!r}, not a {kind!r}: name another source under the profile's "
            f"models.{model}.weights in params.yaml"
        )
    if config.num_hidden_layers != layers:
        raise UserError(
            f"{where} has {config.num_hidden_layers} layers, the profile's models.{model}.layers says {layers}: "
            "make them agree in params.yaml"
        )
    return config, where


def load(
    kind: type[PreTrainedModel], source: Pretrained, local_data: str, config: PretrainedConfig, **options: Any
) -> PreTrainedModel:
    """A pretrained model of this configuration, all of its weights found (a head that is tied need not be).

    Raises:
        UserError: the weights cannot be read, some are missing, or some are no numbers.
    """
    where, revision = place(source, local_data)
    with _readable(where):
        body, told = kind.from_pretrained(
            where,
            revision=revision,
            config=config,
            output_loading_info=True,
            use_safetensors=True,  # pickled weights can hold code
            **_safely(where),
            **options,
        )
    tied = getattr(config, "tie_word_embeddings", False)  # of images there are no words to tie
    missing = set(told["missing_keys"]) - ({"lm_head.weight"} if tied else set())
    if missing:
        raise UserError(f"{where} has no weights for {min(missing)}: it is of another model")
    for name, value in body.named_parameters():
        if not value.isfinite().all():
            raise UserError(f"{where}: {name} holds NaN or infinity: the file is damaged, get it again")
    return body


@contextmanager
def _readable(where: Path | str) -> Iterator[None]:
    """What the library raises becomes one message."""
    try:
        yield
    except Exception as error:  # of a wrong config.json the library raises whatever it stumbles over
        if isinstance(where, Path):
            raise UserError(
                f"{where} cannot be loaded: it should be a folder with config.json and model.safetensors, as the "
                f"Hugging Face hub has them ({reason(error)})"
            ) from None
        raise UserError(
            f"the model {where!r} cannot be loaded from the Hugging Face hub ({reason(error)}). Without a "
            "network, or a licence accepted for a gated model, put its files (config.json, model.safetensors) "
            "into a folder under local_data and name it with `path` in place of `hub` in params.yaml"
        ) from None
